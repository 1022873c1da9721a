-- The tables of the demo's own game. gameq adds gq_version to each.
CREATE TABLE player (
  id         BIGINT NOT NULL PRIMARY KEY,
  name       VARCHAR(40) NOT NULL UNIQUE,
  level      SMALLINT UNSIGNED NOT NULL,
  experience BIGINT UNSIGNED NOT NULL,
  gold       BIGINT NOT NULL,
  x          DOUBLE NOT NULL,
  y          DOUBLE NOT NULL,
  last_login DATETIME(6) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- What a player carries: a slot of a player holds one stack.
CREATE TABLE item (
  player_id  BIGINT NOT NULL,
  slot       SMALLINT NOT NULL,
  item_id    INT NOT NULL,
  count      INT UNSIGNED NOT NULL,
  quality    ENUM('common', 'rare', 'epic') NOT NULL,
  attributes JSON NULL,
  PRIMARY KEY (player_id, slot),
  FOREIGN KEY (player_id) REFERENCES player (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE quest_progress (
  player_id BIGINT NOT NULL,
  quest_id  INT NOT NULL,
  stage     TINYINT UNSIGNED NOT NULL,
  flags     VARBINARY(16) NOT NULL,
  done_at   TIMESTAMP(3) NULL,
  PRIMARY KEY (player_id, quest_id),
  FOREIGN KEY (player_id) REFERENCES player (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- A pet keeps its id when it changes hands: this is what a move is for.
CREATE TABLE pet (
  id        BIGINT NOT NULL PRIMARY KEY,
  player_id BIGINT NOT NULL,
  name      VARCHAR(40) NOT NULL,
  loyalty   DECIMAL(5,2) NOT NULL,
  INDEX (player_id),
  FOREIGN KEY (player_id) REFERENCES player (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
