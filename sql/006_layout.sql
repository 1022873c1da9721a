-- Column lists that encoded rows were written with, by fingerprint: a row waiting in Redis or in a WAL stays readable
-- after ALTER TABLE. columns is the comma-separated list 'name type, ...' that the fingerprint is the CRC-32 of.
CREATE TABLE IF NOT EXISTS gameq_layout (
  table_name  VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  fingerprint INT UNSIGNED NOT NULL,
  columns     MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL,
  PRIMARY KEY (table_name, fingerprint)
) ENGINE=InnoDB;
