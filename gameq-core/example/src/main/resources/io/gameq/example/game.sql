CREATE TABLE player (player_id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(32) NOT NULL, gold BIGINT NOT NULL);
CREATE TABLE item (player_id BIGINT NOT NULL, slot INT NOT NULL, item_id INT NOT NULL, count INT NOT NULL, PRIMARY KEY (player_id, slot));
CREATE TABLE mail (player_id BIGINT NOT NULL, mail_id BIGINT NOT NULL, sender VARCHAR(32) NOT NULL, text VARCHAR(500) NOT NULL,
  sent_at TIMESTAMP(3) NOT NULL, PRIMARY KEY (player_id, mail_id));
CREATE TABLE guild (guild_id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(32) NOT NULL, treasury BIGINT NOT NULL);
CREATE TABLE guild_member (guild_id BIGINT NOT NULL, player_id BIGINT NOT NULL, given BIGINT NOT NULL, PRIMARY KEY (guild_id, player_id));
