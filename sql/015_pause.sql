-- What operators paused, until they resume it. Writers read it once a second.
CREATE TABLE IF NOT EXISTS gameq_pause (
  scope     ENUM('all', 'slot', 'table', 'writer') NOT NULL,
  name      VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'slot number, table or writer; empty for all',
  reason    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  paused_by VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  paused_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (scope, name)
) ENGINE=InnoDB;
