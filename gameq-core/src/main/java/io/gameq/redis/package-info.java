/**
 * Connections to Redis and the names of all keys. Only this package and {@link
 * io.gameq.redis.script} touch the Redis client. Internal.
 *
 * <pre>
 * key                               type    holds
 * {ns:slot}:own:&lt;owner&gt;             STRING  session that may write; expires after close
 * {ns:slot}:dirty:&lt;owner&gt;:&lt;session&gt; HASH    row key -&gt; encoded latest row
 * {ns:slot}:claimed:&lt;owner&gt;         HASH    the dirty hash that a writer took
 * {ns:slot}:due                     ZSET    owner:session -&gt; when due, ms of Redis TIME
 * {ns:slot}:ready                   LIST    owner:session, due now
 * {ns:slot}:inflight:&lt;writer&gt;       LIST    owner:session, claimed by that writer
 * {ns:slot}:lease                   ZSET    owner -&gt; deadline of its claim, ms of Redis TIME
 * {ns:slot}:claim                   HASH    owner -&gt; token, session, attempts, lapses, refused
 *                                           since, writer
 * {ns:slot}:closing                 SET     owners closed while rows were dirty or claimed
 * {ns:slot}:healing                 SET     owners whose session Redis had forgotten and knows
 *                                           again: rows that it adopted may be missing until its
 *                                           node has put them back
 * {ns:slot}:stale                   SET     dirty keys of sessions that lost ownership
 * {ns:slot}:journal                 HASH    WAL id -&gt; sequence of the newest commit held
 * ns:node:&lt;node process&gt;            STRING  name of a node that is alive; expires
 * ns:nodes                          STRING  since when such signs came without a break, ms of Redis
 *                                           TIME; expires
 *                                           with a break
 * ns:durable:&lt;node process&gt;         channel of lines 'owner session version [!row version]...
 *                                           [+row version]...': in MySQL up to that version, but
 *                                           for dead letters (!) and rows that wait on (+)
 * </pre>
 *
 * <pre>
 * RedisConfig -&gt; RedisConnector     opens a RedisConnection, once: none is rebuilt behind its
 *                                      user's back
 *                  Sentinels        which primary the newest failover names
 *                  RedisServerCheck is it one that gameq can run on; EvictionWatch: is it still
 *                  RedisReply       why Redis did not do what was asked; ReplyTimeout: how long it
 *                                   may take
 *                PrimaryConnector   the same to the primary that counts by the term in MySQL; moves
 *                                   the term on
 * ControlConnection                 one connection for scripts of many threads, opened again when
 *                                   it broke
 * DurableNotices                    listens to what acks publish
 * SlotKeys, SessionKeys             names of keys, as bytes
 * RedisClock                        Redis TIME as seen from here
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.redis;
