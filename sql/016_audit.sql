-- What operators did, and who looked at values of rows. No values of rows in it.
CREATE TABLE IF NOT EXISTS gameq_audit (
  id      BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  done_at DATETIME(3) NOT NULL COMMENT 'UTC',
  who     VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  via     VARCHAR(64)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'command line or console, and from where',
  action  VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  target  VARCHAR(600)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  detail  VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (id),
  INDEX gameq_audit_done_at (done_at)
) ENGINE=InnoDB;
