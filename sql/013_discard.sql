-- Changes that an operator gave up ('dead discard', 'stale discard'), so that nothing writes them again. Purged past
-- gameq_tombstone's horizon.
-- session '' gives up every change of the row by its owner up to the version (dead), else only those of that session (stale).
CREATE TABLE IF NOT EXISTS gameq_discard (
  table_name   VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  row_key      VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  session      VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner        VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version      BIGINT UNSIGNED NOT NULL,
  discarded_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (table_name, row_key, owner, session),
  INDEX gameq_discard_owner (owner, session, version),
  INDEX gameq_discard_discarded_at (discarded_at)
) ENGINE=InnoDB;
