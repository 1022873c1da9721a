-- Ids for new rows that nodes took, in ranges: name is table.column, and everything below next is taken.
CREATE TABLE IF NOT EXISTS gameq_id (
  name VARCHAR(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  next BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB;
