/**
 * The Redis side of the protocol; the only package of gameq-core that touches the Redis client.
 * Internal.
 *
 * <pre>
 * {ns:slot}:own:&lt;owner&gt;             STRING  session that may write; expires some time after close
 * {ns:slot}:dirty:&lt;owner&gt;:&lt;session&gt; HASH    row key -&gt; encoded latest row
 * {ns:slot}:claimed:&lt;owner&gt;         HASH    the dirty hash that a writer took
 * {ns:slot}:due                     ZSET    owner:session -&gt; when due, ms of Redis TIME
 * {ns:slot}:ready                   LIST    owner:session, due now
 * {ns:slot}:inflight:&lt;writer&gt;       LIST    owner:session, claimed by that writer
 * {ns:slot}:lease                   ZSET    owner -&gt; deadline of its claim, ms of Redis TIME
 * {ns:slot}:claim                   HASH    owner -&gt; token, session, attempts, lapses, refused since, writer
 * {ns:slot}:closing                 SET     owners closed while rows were dirty or claimed
 * {ns:slot}:healing                 SET     owners whose session Redis had forgotten and knows again: rows that it adopted may be
 *                                           missing until its node has put them back
 * {ns:slot}:stale                   SET     dirty keys of sessions that lost ownership
 * {ns:slot}:journal                 HASH    WAL id -&gt; sequence of the newest commit held
 * ns:node:&lt;node process&gt;            STRING  name of a node that is alive; expires without a sign of life
 * ns:durable:&lt;node process&gt;         channel 'owner session version [!row version]... [+row version]...' lines: in MySQL up to
 *                                           that version, but for rows set aside as dead letters (!) and rows that wait on (+)
 * </pre>
 *
 * <p>The sender, which carries commits:
 *
 * <pre>
 * submit -&gt; Admission, Away   is there room; is Redis there, and if not: fail or journal
 *   CommitSender              version, WAL, group, send, answer (Settlement)
 *     Baton                   who does that: the connection's event loop, or a thread that may wait
 *     CommitGroup             many commits in one MULTI, written at once (BytesArgs)
 *     SenderLink              a new connection when one broke; old ones are silenced
 *       PrimaryConnector      to the primary that counts by the term in MySQL; moves the term on
 *       Sentinels             which primary all Sentinels' newest failover names
 *     Healing                 on it, before anything new: read sessions in MySQL, re-assert,
 *       Owed, Replay          send from the WAL what Redis lost, say so (healed.lua), then send what has no answer yet
 * HealedConnection            what open goes through: the server that this node has healed on
 * </pre>
 *
 * <p>Each Lua script is a resource file whose first lines say what it takes and returns, with one
 * small class beside it.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.redis;
