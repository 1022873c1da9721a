-- Handovers of rows that a flush could not settle yet, since the other owner was opened again before its half was flushed: what one
-- owner's session knows of the move of a row in a version. Removed once the row is written.
CREATE TABLE IF NOT EXISTS gameq_handover (
  table_name VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  row_key    VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner      VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  received   BOOLEAN NOT NULL,
  epoch      BIGINT UNSIGNED NOT NULL,
  nonce      CHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  noted_at   DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (table_name, row_key, owner, version),
  INDEX gameq_handover_noted_at (noted_at)
) ENGINE=InnoDB;
-- A row that is refused because another owner has it must not take the place of one that this owner was refused.
ALTER TABLE gameq_dead_letter
  DROP INDEX gameq_dead_letter_row,
  ADD UNIQUE INDEX gameq_dead_letter_row (table_name, row_key, owner);
