-- The users of gameq in MySQL and MariaDB, with the least rights that work, on one database. Run it as an administrator after
-- 'schema migrate', and again when a table is added. It changes no password of a user that is there:
--   ALTER USER '${user}_node'@'%' IDENTIFIED BY '...';    in MySQL with RETAIN CURRENT PASSWORD, later DISCARD OLD PASSWORD
-- To have them use TLS alone: ALTER USER '${user}_node'@'%' REQUIRE SSL;

CREATE USER IF NOT EXISTS '${user}_node'@'%' IDENTIFIED BY '${NODE_PASSWORD}';
CREATE USER IF NOT EXISTS '${user}_writer'@'%' IDENTIFIED BY '${WRITER_PASSWORD}';
CREATE USER IF NOT EXISTS '${user}_recovery'@'%' IDENTIFIED BY '${RECOVERY_PASSWORD}';
CREATE USER IF NOT EXISTS '${user}_migration'@'%' IDENTIFIED BY '${MIGRATION_PASSWORD}';

-- 'schema check' and 'schema migrate', which looks for triggers. '_' and '%' would stand for other characters in the name.
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, TRIGGER ON `${pattern}`.* TO '${user}_migration'@'%';

-- Your tables: nodes read them, writers and recovery write them.
GRANT SELECT ON `${database}`.`${table}` TO '${user}_node'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.`${table}` TO '${user}_writer'@'%', '${user}_recovery'@'%';

-- Whose rows they are, which Redis counts, the columns of encoded rows, the namespace, ids of new rows.
GRANT SELECT, INSERT, UPDATE ON `${database}`.gameq_owner TO '${user}_node'@'%', '${user}_recovery'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.gameq_owner TO '${user}_writer'@'%';
GRANT SELECT, INSERT, UPDATE ON `${database}`.gameq_redis_term TO '${user}_node'@'%', '${user}_writer'@'%', '${user}_recovery'@'%';
GRANT SELECT, INSERT ON `${database}`.gameq_layout TO '${user}_node'@'%', '${user}_writer'@'%', '${user}_recovery'@'%';
GRANT SELECT, INSERT ON `${database}`.gameq_setting TO '${user}_node'@'%', '${user}_recovery'@'%';
GRANT SELECT, INSERT, UPDATE ON `${database}`.gameq_setting TO '${user}_writer'@'%';
GRANT SELECT, INSERT, UPDATE ON `${database}`.gameq_id TO '${user}_node'@'%';
GRANT SELECT ON `${database}`.gameq_table TO '${user}_node'@'%', '${user}_writer'@'%', '${user}_recovery'@'%';
GRANT SELECT ON `${database}`.gameq_dropped_column TO '${user}_node'@'%', '${user}_recovery'@'%';
GRANT SELECT, INSERT, DELETE ON `${database}`.gameq_dropped_column TO '${user}_writer'@'%';

-- Nodes that were started and not closed in order: whose WALs may be needed.
GRANT SELECT, INSERT, DELETE ON `${database}`.gameq_node TO '${user}_node'@'%';
GRANT SELECT, DELETE ON `${database}`.gameq_node TO '${user}_writer'@'%';

-- What topics there are, and which are paused or limited: nodes and operators change it.
GRANT SELECT, INSERT, UPDATE ON `${database}`.gameq_topic TO '${user}_node'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.gameq_topic TO '${user}_writer'@'%';

-- What was deleted, set aside, handed over, given up, handled.
GRANT SELECT ON `${database}`.gameq_tombstone TO '${user}_node'@'%';
GRANT SELECT ON `${database}`.gameq_dead_letter TO '${user}_node'@'%';
GRANT SELECT ON `${database}`.gameq_discard TO '${user}_node'@'%';
GRANT SELECT ON `${database}`.gameq_handled TO '${user}_node'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.gameq_tombstone TO '${user}_writer'@'%', '${user}_recovery'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.gameq_dead_letter TO '${user}_writer'@'%', '${user}_recovery'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.gameq_handover TO '${user}_writer'@'%', '${user}_recovery'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.gameq_discard TO '${user}_writer'@'%';
GRANT SELECT ON `${database}`.gameq_discard TO '${user}_recovery'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.gameq_handled TO '${user}_writer'@'%';
GRANT SELECT, INSERT, UPDATE ON `${database}`.gameq_handled TO '${user}_recovery'@'%';

-- What operators paused, and what they did: to the second is only added. The user of migrations removes what is old.
GRANT SELECT, INSERT, UPDATE, DELETE ON `${database}`.gameq_pause TO '${user}_writer'@'%';
GRANT SELECT, INSERT ON `${database}`.gameq_audit TO '${user}_writer'@'%', '${user}_recovery'@'%';

-- More, which is not needed everywhere:
--   GRANT PROCESS ON *.* TO '${user}_node'@'%';                  a login that meets a lock names the transactions that are open
--   GRANT CONNECTION_ADMIN ON *.* TO '${user}_writer'@'%';       ends a statement that waits in a trigger, which runs as its definer;
--     without it the writer gives up after 20 s. In MariaDB: CONNECTION ADMIN
