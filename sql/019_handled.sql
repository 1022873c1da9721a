-- Whose rows count of a message that was handled with rows: those of the handler that was flushed first. The flush adds a row in the
-- transaction that writes the handler's rows; a handler with another token is refused. Purged past gameq_tombstone's horizon.
-- id is the message's, encoded, or the SHA-256 of a long one (see HandledRow); version is the message's, occurrence that of a recurring
-- one (ms since 1970, else 0), token that of the handler's claim, gq_version that of its commit.
CREATE TABLE IF NOT EXISTS gameq_handled (
  topic      VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id         VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  occurrence BIGINT UNSIGNED NOT NULL,
  token      VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  gq_version BIGINT UNSIGNED NOT NULL,
  handled_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (topic, id, version, occurrence),
  INDEX gameq_handled_handled_at (handled_at)
) ENGINE=InnoDB;
