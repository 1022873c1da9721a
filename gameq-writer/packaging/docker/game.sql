-- The game's own tables, for compose.yaml: put yours here, and name them in gameq.yaml.
CREATE TABLE item (
  player_id BIGINT NOT NULL,
  slot INT NOT NULL,
  item_id INT NOT NULL,
  count INT NOT NULL,
  PRIMARY KEY (player_id, slot)
) ENGINE=InnoDB;
