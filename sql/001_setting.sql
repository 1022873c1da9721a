-- What every node and writer of this database must agree on: namespace, slots, schema (the number of the last file applied).
CREATE TABLE IF NOT EXISTS gameq_setting (
  name  VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  value VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB;
