-- Rows that MySQL refuses, set aside in the flush's own transaction with the error: one for each row, the newest that was refused.
-- image is the encoded row (see RowCodec); error_code 0 is an error of gameq's own.
CREATE TABLE IF NOT EXISTS gameq_dead_letter (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  owner      VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  table_name VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  row_key    VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  image      LONGBLOB NOT NULL,
  error_code INT NOT NULL,
  error_text VARCHAR(1024) CHARACTER SET utf8mb4 NOT NULL,
  attempts   INT NOT NULL,
  refused_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (id),
  UNIQUE INDEX gameq_dead_letter_row (table_name, row_key),
  INDEX gameq_dead_letter_owner (owner)
) ENGINE=InnoDB;
