-- A game with everything that stands against a table.
CREATE TABLE heroes (id INT NOT NULL PRIMARY KEY, name VARCHAR(30) NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO heroes VALUES (1, 'Ann');
-- no primary key, but a UNIQUE key
CREATE TABLE hero_bag (hero_id INT NOT NULL, slot TINYINT NOT NULL, item INT NOT NULL, UNIQUE KEY place (hero_id, slot),
  FOREIGN KEY (hero_id) REFERENCES heroes (id) ON DELETE CASCADE) ENGINE=InnoDB;
-- another engine, and no key at all
CREATE TABLE hero_visit (hero_id INT NOT NULL, at_time DATETIME NOT NULL) ENGINE=MyISAM;
INSERT INTO hero_visit VALUES (1, '2020-01-01 10:00:00'), (1, '2020-01-01 10:00:00');
-- MyISAM numbers the second column of a key
CREATE TABLE hero_deed (hero_id INT NOT NULL, number INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (hero_id, number)) ENGINE=MyISAM;
INSERT INTO hero_deed (hero_id) VALUES (1), (1), (2);
-- a key that is compared without capitals
CREATE TABLE hero_title (hero_id INT NOT NULL, title VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL
  DEFAULT 'none' COMMENT 'name of it', PRIMARY KEY (hero_id, title), FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
-- a key over a part of a text, which is compared without capitals as well
CREATE TABLE hero_scroll (hero_id INT NOT NULL, line VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL,
  PRIMARY KEY (hero_id, line(10)), FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
-- an owner that may be NULL, and a foreign key that sets it so
CREATE TABLE hero_pet (id INT NOT NULL PRIMARY KEY, hero_id INT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id)
  ON DELETE SET NULL) ENGINE=InnoDB;
INSERT INTO hero_pet VALUES (1, 1);
-- the same, and there are such rows
CREATE TABLE hero_stray (id INT NOT NULL PRIMARY KEY, hero_id INT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id)
  ON DELETE SET NULL) ENGINE=InnoDB;
INSERT INTO hero_stray VALUES (1, 1), (2, NULL);
-- a character set whose bytes gameq cannot count
CREATE TABLE hero_note (id INT NOT NULL PRIMARY KEY, hero_id INT NOT NULL, note VARCHAR(50) CHARACTER SET sjis,
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
INSERT INTO hero_note VALUES (1, 1, _utf8mb4'あ');
-- numbers that MySQL rounds
CREATE TABLE hero_speed (hero_id INT NOT NULL PRIMARY KEY, walk FLOAT(7,2) NOT NULL DEFAULT 1.5, run DOUBLE(9,3) UNSIGNED NULL,
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
INSERT INTO hero_speed VALUES (1, 2.25, 3.125);
-- gq_version is a number of another kind, or something else
CREATE TABLE hero_old (hero_id INT NOT NULL PRIMARY KEY, gq_version INT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id))
  ENGINE=InnoDB;
INSERT INTO hero_old VALUES (1, NULL);
CREATE TABLE hero_older (hero_id INT NOT NULL PRIMARY KEY, gq_version INT NOT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id))
  ENGINE=InnoDB;
INSERT INTO hero_older VALUES (1, -7);
CREATE TABLE hero_book (hero_id INT NOT NULL PRIMARY KEY, GQ_Version VARCHAR(9) NOT NULL, gq_version_before INT NULL,
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
INSERT INTO hero_book VALUES (1, '1st', 3);
CREATE TABLE hero_sum (hero_id INT NOT NULL PRIMARY KEY, a INT NOT NULL, gq_version BIGINT AS (a + 1) STORED,
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
INSERT INTO hero_sum (hero_id, a) VALUES (1, 2);
-- partitioned: a UNIQUE key can become the primary key, a new column cannot
CREATE TABLE hero_trail (hero_id INT NOT NULL, day INT NOT NULL, step INT NOT NULL, UNIQUE KEY once (hero_id, day))
  ENGINE=InnoDB PARTITION BY HASH (hero_id) PARTITIONS 2;
CREATE TABLE hero_track (hero_id INT NOT NULL, day INT NOT NULL) ENGINE=InnoDB PARTITION BY HASH (hero_id) PARTITIONS 2;
-- keys that foreign keys tie together, compared without capitals
CREATE TABLE clans (tag VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE clan_chest (clan_tag VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, slot INT NOT NULL,
  PRIMARY KEY (clan_tag, slot), FOREIGN KEY (clan_tag) REFERENCES clans (tag)) ENGINE=InnoDB;
CREATE TABLE clan_log (id INT NOT NULL PRIMARY KEY, clan_tag VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
  FOREIGN KEY (clan_tag) REFERENCES clans (tag) ON DELETE CASCADE) ENGINE=InnoDB;
INSERT INTO clans VALUES ('ash');
INSERT INTO clan_log VALUES (1, 'ash');
-- names that have to be quoted, and one that is another one's in capitals
CREATE TABLE `hero's "Order" ``by``` (`Hero_ID` INT NULL, `key` VARCHAR(20) CHARACTER SET latin1 NOT NULL COMMENT 'it''s, ``so``',
  `SELECT` INT AS (`Hero_ID` + 1) VIRTUAL, PRIMARY KEY (`key`), FOREIGN KEY (`Hero_ID`) REFERENCES heroes (ID)) ENGINE=InnoDB;
-- a trigger that names no columns
CREATE TABLE hero_log (hero_id INT NOT NULL PRIMARY KEY, FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
CREATE TRIGGER hero_made AFTER INSERT ON heroes FOR EACH ROW INSERT INTO hero_log VALUES (NEW.id);
-- what no statement mends
CREATE TABLE hero_place (hero_id INT NOT NULL PRIMARY KEY, spot POINT NOT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id))
  ENGINE=InnoDB;
CREATE TABLE hero_rumour (hero_id INT NOT NULL, line TEXT NOT NULL, PRIMARY KEY (hero_id, line(10)),
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
CREATE TABLE hero_spot (hero_id INT NOT NULL, x DOUBLE NOT NULL, PRIMARY KEY (hero_id, x),
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
CREATE TABLE hero_flag (hero_id INT NOT NULL, flag BIT(3) NOT NULL, PRIMARY KEY (hero_id, flag),
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
CREATE TABLE hero_hash (hero_id INT NOT NULL, hash BINARY(255) NOT NULL, salt BINARY(9) NOT NULL, PRIMARY KEY (hero_id, hash, salt),
  FOREIGN KEY (hero_id) REFERENCES heroes (id)) ENGINE=InnoDB;
CREATE TABLE birthday (day DATE NOT NULL PRIMARY KEY, mine INT AS (DAY(day)) STORED, KEY (mine)) ENGINE=InnoDB;
-- what is nobody's
CREATE VIEW hero_names AS SELECT name FROM heroes;
CREATE TABLE weather (day DATE NOT NULL PRIMARY KEY, kind INT NOT NULL) ENGINE=InnoDB;
CREATE TABLE duel (id INT NOT NULL PRIMARY KEY, judged_by INT NOT NULL, FOREIGN KEY (judged_by) REFERENCES heroes (id))
  ENGINE=InnoDB;
