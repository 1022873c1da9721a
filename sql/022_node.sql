-- Game nodes that were started and not closed in order: whose WALs may be needed. Redis knows more of each, until it is emptied.
CREATE TABLE IF NOT EXISTS gameq_node (
  process       CHAR(8)       CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL COMMENT 'of this start of it',
  name          VARCHAR(255)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  host          VARCHAR(255)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  pid           BIGINT        NOT NULL,
  wal_directory VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  started_at    DATETIME(3)   NOT NULL COMMENT 'UTC',
  PRIMARY KEY (process)
) ENGINE=InnoDB;
