-- What a topic is, and whether operators or games paused it or gave it a rate. Redis holds a copy, in ns:topics.
CREATE TABLE IF NOT EXISTS gameq_topic (
  topic    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  revision BIGINT UNSIGNED NOT NULL COMMENT 'rises with each change: microseconds since 1970, or the next number',
  state    TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON: definition, pause, rate',
  PRIMARY KEY (topic)
) ENGINE=InnoDB;
