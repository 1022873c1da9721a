-- Versions of deleted rows, so that a late or replayed write does not bring a row back. Purged only past a horizon.
-- row_key is the encoded primary key (see RowKey).
CREATE TABLE IF NOT EXISTS gameq_tombstone (
  table_name VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  row_key    VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner      VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  deleted_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (table_name, row_key),
  INDEX gameq_tombstone_owner (owner, version),
  INDEX gameq_tombstone_deleted_at (deleted_at)
) ENGINE=InnoDB;
