-- Which Redis primary counts, in one row (id 1). number rises with every primary that takes over; what goes by way of a former one
-- can neither open owners nor flush. run_id and repl_id are of INFO, address and sentinel_epoch (config-epoch, -1 without Sentinel)
-- of who found it.
CREATE TABLE IF NOT EXISTS gameq_redis_term (
  id             TINYINT NOT NULL,
  number         BIGINT UNSIGNED NOT NULL,
  run_id         VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  repl_id        VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  address        VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  sentinel_epoch BIGINT NOT NULL,
  former_run_id  VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  former_repl_id VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  began_at       DATETIME(3) NOT NULL COMMENT 'UTC',
  seen_at        DATETIME(3) NOT NULL COMMENT 'UTC, the last sign of life of this primary that a node had',
  PRIMARY KEY (id)
) ENGINE=InnoDB;
