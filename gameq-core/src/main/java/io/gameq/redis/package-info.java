/**
 * Connections to Redis and the names of all keys. Only this package, {@link io.gameq.redis.script}
 * and {@code io.gameq.redis.topic} touch the Redis client. Internal.
 *
 * <pre>
 * key                       type    holds
 * {ns:slot}:own:O           STRING  session that may write; expires some time after close
 * {ns:slot}:dirty:O:S       HASH    encoded latest rows by row key
 * {ns:slot}:claimed:O       HASH    the dirty hash that a writer took
 * {ns:slot}:due             ZSET    when O:S is due, ms of Redis TIME; 0 or less when it is urgent
 * {ns:slot}:ready           LIST    O:S, due now
 * {ns:slot}:inflight:WRITER LIST    O:S, claimed by that writer
 * {ns:slot}:lease           ZSET    deadlines of claims by O, ms of Redis TIME
 * {ns:slot}:claim           HASH    by O: token, session, attempts, lapses, refused since, writer
 * {ns:slot}:urgent          SET     owners that became urgent while they were claimed
 * {ns:slot}:closing         SET     owners closed while rows were dirty or claimed
 * {ns:slot}:healing         SET     owners whose session Redis had forgotten and knows again: rows
 *                                   it adopted may be missing until its node has put them back
 * {ns:slot}:stale           SET     dirty keys of sessions that lost ownership
 * {ns:slot}:inboxes:O       HASH    sessions of the inboxes in which rows wait that were sent to O
 * {ns:slot}:sent:PROCESS    HASH    by 'O S row': versions and senders of such rows, of which
 *                                   sessions of a node are to be told; expires
 * {ns:slot}:unheld:O        HASH    by row: the same of rows that were flushed while Redis knew
 *                                   nobody who has O; expires after 2 minutes
 * {ns:slot}:journal         HASH    by WAL id the journal mark: up to which sequence Redis holds
 *                                   the slot's rows and messages; WAL! -> what was refused lately;
 *                                   WAL@ -> when its process was first seen to be gone, s
 * {ns:slot}:t:TOPIC:...             messages of a topic, which io.gameq.redis.topic draws, with
 *                                   ns:topics and channels ns:t:TOPIC
 * ns:node:PROCESS           STRING  name of a node that is alive; expires without a sign of life
 * ns:name:NODE              STRING  'PROCESS host' that has the name of a node; expires likewise
 * ns:nodes                  STRING  since when such signs came without a break, ms of Redis TIME;
 *                                   expires with a break
 * ns:process:PROCESS        HASH    what a node or writer says of itself, for operators alone; kept
 *                                   for 7 days since it did last, unless it ended in order
 * ns:processes              ZSET    at most 10,000 PROCESS, by when it did last, ms of Redis TIME
 * ns:clock                  STRING  the latest time at which one did, ms; the clock may go back
 * ns:database               STRING  which database it belongs to, by MySQL: RedisIdentity
 * ns:protocol               STRING  in which formats rows may wait here, once that was raised
 * ns:backlog                HASH    the latest look at what waits, for nodes and writers; expires
 * ns:fleet                  HASH    the latest look at the processes, for writers; expires
 * ns:durable:PROCESS        channel 'O S version [!row version]... [+row version]...' lines: in
 *                                   MySQL up to that version, but for rows set aside as dead
 *                                   letters (!) and rows that wait on (+)
 * ns:session:PROCESS        channel 'lost O S': another session owns now; 'held O S': somebody
 *                                   takes the owner for open there; 'asked O S': and asks for it to
 *                                   be closed; 'sent SLOT': rows were sent to owners in it
 * </pre>
 *
 * <p>O is an encoded owner, or an inbox: {@code O!PROCESS}, what one node sends to an owner. S is a
 * session, PROCESS the first 8 hex digits of a node's nonces, or 8 that a writer has made up when
 * it started.
 *
 * <pre>
 * RedisConfig, RedisConnector     opens a RedisConnection: none is rebuilt behind its user's back
 *                  RedisLogin       who logs in; FreshCredentials: read for each connection
 *                  Sentinels        which primary the newest failover names
 *                  RedisServerCheck can gameq run on it; EvictionWatch: can it still
 *                  RedisReply       why Redis did not do what was asked; ReplyTimeout: how long
 *                PrimaryConnector   the same to the primary that counts by the term in MySQL
 * ControlConnection                 one for scripts of many threads, opened again when it broke
 * ChannelListener                   listens to what acks publish
 * SlotKeys                          names of keys, as bytes; SessionKeys: those of a session
 * RedisClock                        Redis TIME as seen from here
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.redis;
