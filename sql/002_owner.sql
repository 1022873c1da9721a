-- The durable session of every owner: who may write its rows. Redis holds a cache of it.
-- owner is the encoded owner id (see OwnerId); a session is its epoch and its nonce, compared for equality.
CREATE TABLE IF NOT EXISTS gameq_owner (
  owner     VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  epoch     BIGINT UNSIGNED NOT NULL,
  nonce     CHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  node      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state     ENUM('opening', 'open') NOT NULL,
  opened_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (owner)
) ENGINE=InnoDB;
