-- gameq's own tables. A published file is never changed: what comes later gets the next number.

-- What every node and writer of this database must agree on: namespace, slots, schema (the number of the last file applied).
CREATE TABLE IF NOT EXISTS gameq_setting (
  name  VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  value VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB;

-- Which database this is. WALs name it, so that those of a clone are not replayed into it; a clone gets another by 'schema new-identity'.
INSERT IGNORE INTO gameq_setting (name, value) VALUES ('database', REPLACE(UUID(), '-', ''));

-- The durable session of every owner: who may write its rows. Redis holds a cache of it.
-- owner is the encoded owner id (see OwnerId); a session is its epoch and its nonce, compared for equality.
-- before_epoch and before_nonce are the last session that was open, while another opens: an open that fails before it has taken
-- over in Redis ends no session. NULL once the newest is open.
-- adopted_version is the highest version among the rows that the newest open session took over from Redis: it has all of its
-- owner's commits up to there. adoptions says this of the last sessions, newest first, as 'epoch:version epoch:version ...': the
-- epoch of the open session before it, whose rows it took, and the highest version among them, 0 for none.
-- Writers purge a row that nothing needs, past gameq_tombstone's horizon: owners_purged_epoch in gameq_setting is the highest epoch that
-- they purged, and an owner that has no row begins above it.
CREATE TABLE IF NOT EXISTS gameq_owner (
  owner           VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  epoch           BIGINT UNSIGNED NOT NULL,
  nonce           CHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  node            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state           ENUM('opening', 'open') NOT NULL,
  opened_at       DATETIME(3) NOT NULL COMMENT 'UTC',
  before_epoch    BIGINT UNSIGNED NULL,
  before_nonce    CHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  adopted_version BIGINT UNSIGNED NOT NULL DEFAULT 0,
  adoptions       VARCHAR(350) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  PRIMARY KEY (owner),
  INDEX gameq_owner_opened_at (opened_at)
) ENGINE=InnoDB;

-- Versions of deleted rows, so that a late or replayed write does not bring a row back. Purged only past a horizon.
-- row_key is the encoded primary key (see RowKey).
CREATE TABLE IF NOT EXISTS gameq_tombstone (
  table_name VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  row_key    VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner      VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  deleted_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (table_name, row_key),
  INDEX gameq_tombstone_owner (owner, version),
  INDEX gameq_tombstone_deleted_at (deleted_at)
) ENGINE=InnoDB;

-- Rows that MySQL refuses, set aside in the flush's own transaction with the error: the newest of each row and owner.
-- image is the encoded row (see RowCodec); error_code 0 is an error of gameq's own.
CREATE TABLE IF NOT EXISTS gameq_dead_letter (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  owner      VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  table_name VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  row_key    VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  image      LONGBLOB NOT NULL,
  error_code INT NOT NULL,
  error_text VARCHAR(1024) CHARACTER SET utf8mb4 NOT NULL,
  attempts   INT NOT NULL,
  refused_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (id),
  UNIQUE INDEX gameq_dead_letter_row (table_name, row_key, owner),
  INDEX gameq_dead_letter_owner (owner)
) ENGINE=InnoDB;

-- The managed tables. A row of table_name belongs to the owner 'owner_kind:value of owner_column'.
CREATE TABLE IF NOT EXISTS gameq_table (
  table_name   VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  owner_kind   VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner_column VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (table_name)
) ENGINE=InnoDB;

-- Column lists that encoded rows were written with, by fingerprint: a row waiting in Redis or in a WAL stays readable
-- after ALTER TABLE. columns is the comma-separated list 'name type, ...' that the fingerprint is the CRC-32 of.
CREATE TABLE IF NOT EXISTS gameq_layout (
  table_name  VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  fingerprint INT UNSIGNED NOT NULL,
  columns     MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL,
  PRIMARY KEY (table_name, fingerprint)
) ENGINE=InnoDB;

-- Columns that are dropped on purpose: rows with a value for one of them are written without it. Of others such rows wait.
CREATE TABLE IF NOT EXISTS gameq_dropped_column (
  table_name   VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  column_name  VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL,
  announced_at DATETIME(3) NOT NULL,
  PRIMARY KEY (table_name, column_name)
) ENGINE=InnoDB;

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

-- Handovers of rows that a flush could not settle yet, since the other owner was opened again before its half was flushed: what one
-- owner's session knows of the move of a row in a version. Removed once the row is written.
CREATE TABLE IF NOT EXISTS gameq_handover (
  table_name VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  row_key    VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner      VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  received   BOOLEAN NOT NULL,
  epoch      BIGINT UNSIGNED NOT NULL,
  nonce      CHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  noted_at   DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (table_name, row_key, owner, version),
  INDEX gameq_handover_noted_at (noted_at)
) ENGINE=InnoDB;

-- Changes that an operator gave up ('dead discard', 'stale discard'), so that nothing writes them again. Purged past
-- gameq_tombstone's horizon.
-- session '' gives up every change of the row by its owner up to the version (dead), else only those of that session (stale).
CREATE TABLE IF NOT EXISTS gameq_discard (
  table_name   VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  row_key      VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  session      VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner        VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version      BIGINT UNSIGNED NOT NULL,
  discarded_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (table_name, row_key, owner, session),
  INDEX gameq_discard_owner (owner, session, version),
  INDEX gameq_discard_discarded_at (discarded_at)
) ENGINE=InnoDB;

-- Whose rows count of a message that was handled with rows: those of the handler that was flushed first. The flush adds a row in the
-- transaction that writes the handler's rows; a handler with another token is refused. Purged past gameq_tombstone's horizon.
-- id is the message's, encoded, or the SHA-256 of a long one (see HandledRow); version is the message's, occurrence that of a recurring
-- one (ms since 1970, else 0), token that of the handler's claim, gq_version that of its commit.
CREATE TABLE IF NOT EXISTS gameq_handled (
  topic      VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id         VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  occurrence BIGINT UNSIGNED NOT NULL,
  token      VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  gq_version BIGINT UNSIGNED NOT NULL,
  handled_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (topic, id, version, occurrence),
  INDEX gameq_handled_handled_at (handled_at)
) ENGINE=InnoDB;

-- What operators paused, until they resume it. Writers read it once a second.
CREATE TABLE IF NOT EXISTS gameq_pause (
  scope     ENUM('all', 'slot', 'table', 'writer') NOT NULL,
  name      VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'slot number, table or writer; empty for all',
  reason    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  paused_by VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  paused_at DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (scope, name)
) ENGINE=InnoDB;

-- What operators did, and who looked at values of rows. No values of rows in it.
CREATE TABLE IF NOT EXISTS gameq_audit (
  id      BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  done_at DATETIME(3) NOT NULL COMMENT 'UTC',
  who     VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  via     VARCHAR(64)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'command line or console, and from where',
  action  VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  target  VARCHAR(600)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  detail  VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (id),
  INDEX gameq_audit_done_at (done_at)
) ENGINE=InnoDB;

-- Ids for new rows that nodes took, in ranges: name is table.column, and everything below next is taken.
CREATE TABLE IF NOT EXISTS gameq_id (
  name VARCHAR(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  next BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB;

-- What a topic is, and whether operators or games paused it or gave it a rate. Redis holds a copy, in ns:topics.
CREATE TABLE IF NOT EXISTS gameq_topic (
  topic    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  revision BIGINT UNSIGNED NOT NULL COMMENT 'rises with each change: microseconds since 1970, or the next number',
  state    TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON: definition, pause, rate',
  PRIMARY KEY (topic)
) ENGINE=InnoDB;

-- Game nodes that were started and not closed in order: whose WALs may be needed. Redis knows more of each, until it is emptied.
CREATE TABLE IF NOT EXISTS gameq_node (
  process       CHAR(8)       CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL COMMENT 'of this start of it',
  name          VARCHAR(255)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  host          VARCHAR(255)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  pid           BIGINT        NOT NULL,
  wal_directory VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  started_at    DATETIME(3)   NOT NULL COMMENT 'UTC',
  PRIMARY KEY (process)
) ENGINE=InnoDB;
