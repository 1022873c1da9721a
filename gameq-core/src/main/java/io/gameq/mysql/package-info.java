/**
 * The MySQL side: catalogue, sessions, reads and the guarded statements; only {@code mysql}
 * packages touch JDBC. Internal.
 *
 * <pre>
 * gameq_setting      namespace, slots, schema, protocol, tombstones_purged_before
 * gameq_owner        owner -&gt; epoch, nonce, node, opening | open; while opening also the
 *                    session before it                                 the durable session
 * gameq_tombstone    table, key -&gt; version of the delete
 * gameq_dead_letter  rows that MySQL refuses
 * gameq_handover     table, key, owner, version -&gt; the session that knows of a move that waits
 * gameq_discard      table, key, session -> up to which version changes were given up
 * gameq_handled      message, version, occurrence -&gt; token of the handler whose rows count
 * gameq_table        table -&gt; owner kind, owner column
 * gameq_id           table.column -&gt; below which number ids of new rows are taken
 * gameq_redis_term   one row: which Redis primary counts, and its number
 * gameq_layout       table, fingerprint -&gt; column list of encoded rows
 * &lt;managed table&gt;    gq_version BIGINT UNSIGNED NOT NULL DEFAULT 0
 * </pre>
 *
 * <h2>Whose row it is</h2>
 *
 * <p>A row whose primary key names its owner can have no other. Any other row changes hands by a
 * move alone, and MySQL decides that, in the transaction that writes it ({@link
 * io.gameq.mysql.flush.GuardedWrites}), whoever flushes, replays or retries:
 *
 * <ol>
 *   <li>A put or delete that tells of no handover writes where MySQL has no row, or one of the same
 *       owner. Otherwise it is refused, and the row stays. Puts are checked by the upsert itself:
 *       it fails on a row of another owner, which costs nothing where there is none; deletes by a
 *       look that locks the rows.
 *   <li>A move is one version of the row on both sides, and each side's image tells of it: the
 *       other owner, and its session that took part. So does every later image of the row, until it
 *       is durable; a session that adopts rows learns it from them. Of the handovers of an image
 *       those above the version that MySQL holds are unsettled.
 *   <li>An image with unsettled handovers writes when MySQL has no row, one of its owner, or one of
 *       an owner that it received the row from since; <em>and</em> a session that counts of every
 *       other owner in them knows of them. A session knows when it is the one that took part; when
 *       its own half is in the same flush; or when it came with its half before, was held back, for
 *       whatever row, and left a note of that in gameq_handover. Sessions are compared under the
 *       lock that each open takes.
 *   <li>Otherwise the image waits, with all of its owner, since the other half may settle it: given
 *       back and flushed again. When that has not helped for long, it waits on without its owner's
 *       other rows while the other half may still come: it is in Redis, or Redis forgot the session
 *       that has it and nobody has put back yet what it had. Else, or an hour after its commit, it
 *       is set aside as a dead letter, {@link io.gameq.topic.DeadLetter#NOT_OWNER}, and the row
 *       stays where it is. An owner that is held back notes what it knows of all its rows, also of
 *       those that could be written: of two owners with two trades each may be held back for a row
 *       that the other one could write.
 * </ol>
 *
 * <p>Why this gives nobody a row behind his back: a row goes from one owner to another only when
 * the session of each that counts is known to have its half, and each opens later than this
 * transaction or has it by adoption; and an owner's half lies in what its session adopted, or the
 * session made it. A session that opened without it, because Redis had lost the trade, has made
 * neither flush nor note of it, and is not the one named: the row stays with the owner whom MySQL
 * has. Why nothing waits for ever: of a chain of owners the one that MySQL has holds a half too,
 * and where both owners of a half were opened again, the second to be flushed finds the note of the
 * first.
 *
 * <p>What is not known here: a row that only Redis holds. Of two owners that put one key which
 * MySQL does not hold, the first to be flushed has it; a delete of such a row by another owner
 * hides it. And a put of a row that was received in a commit which Redis then refused for want of
 * room counts as received, if it was on its way before the answer came.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql;
