-- The managed tables. A row of table_name belongs to the owner 'owner_kind:value of owner_column'.
CREATE TABLE IF NOT EXISTS gameq_table (
  table_name   VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  owner_kind   VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner_column VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (table_name)
) ENGINE=InnoDB;
