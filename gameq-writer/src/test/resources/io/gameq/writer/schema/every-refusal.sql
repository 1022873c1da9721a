-- A game with everything that stands against a table.
CREATE TABLE heroes (id INT NOT NULL PRIMARY KEY, name VARCHAR(30) NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
-- no primary key, but a UNIQUE key
CREATE TABLE hero_bag (hero_id INT NOT NULL, slot TINYINT NOT NULL, item INT NOT NULL, UNIQUE KEY place (hero_id, slot),
  FOREIGN KEY (hero_id) REFERENCES heroes (id) ON DELETE CASCADE) ENGINE=InnoDB;
-- another engine, and no key at all
CREATE TABLE hero_visit (hero_id INT NOT NULL, at_time DATETIME NOT NULL) ENGINE=MyISAM;
-- a key that is compared without capitals
CREATE TABLE hero_title (hero_id INT NOT NULL, title VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL
  DEFAULT 'none' COMMENT 'name of it', PRIMARY KEY (hero_id, title), FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
-- a key over a part of a text, which is compared without capitals as well
CREATE TABLE hero_scroll (hero_id INT NOT NULL, line VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL,
  PRIMARY KEY (hero_id, line(10)), FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
-- an owner that may be NULL, and a foreign key that sets it so
CREATE TABLE hero_pet (id INT NOT NULL PRIMARY KEY, hero_id INT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id)
  ON DELETE SET NULL) ENGINE=InnoDB;
-- a character set whose bytes gameq cannot count
CREATE TABLE hero_note (id INT NOT NULL PRIMARY KEY, hero_id INT NOT NULL, note VARCHAR(50) CHARACTER SET sjis,
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
-- gq_version is something else
CREATE TABLE hero_old (hero_id INT NOT NULL PRIMARY KEY, gq_version INT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id))
  ENGINE=InnoDB;
INSERT INTO heroes VALUES (1, 'Ann');
INSERT INTO hero_old VALUES (1, NULL);
-- keys that foreign keys tie together, compared without capitals
CREATE TABLE clans (tag VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE clan_chest (clan_tag VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, slot INT NOT NULL,
  PRIMARY KEY (clan_tag, slot), FOREIGN KEY (clan_tag) REFERENCES clans (tag)) ENGINE=InnoDB;
CREATE TABLE clan_log (id INT NOT NULL PRIMARY KEY, clan_tag VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
  FOREIGN KEY (clan_tag) REFERENCES clans (tag) ON DELETE CASCADE) ENGINE=InnoDB;
INSERT INTO clans VALUES ('ash');
INSERT INTO clan_log VALUES (1, 'ash');
-- a trigger that names no columns
CREATE TABLE hero_log (hero_id INT NOT NULL PRIMARY KEY, FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
CREATE TRIGGER hero_made AFTER INSERT ON heroes FOR EACH ROW INSERT INTO hero_log VALUES (NEW.id);
-- what no statement mends, and what is nobody's
CREATE TABLE hero_place (hero_id INT NOT NULL PRIMARY KEY, spot POINT NOT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id))
  ENGINE=InnoDB;
CREATE VIEW hero_names AS SELECT name FROM heroes;
CREATE TABLE weather (day DATE NOT NULL PRIMARY KEY, kind INT NOT NULL) ENGINE=InnoDB;
CREATE TABLE duel (id INT NOT NULL PRIMARY KEY, judged_by INT NOT NULL, FOREIGN KEY (judged_by) REFERENCES heroes (id))
  ENGINE=InnoDB;
