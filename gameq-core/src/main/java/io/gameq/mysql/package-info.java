/**
 * The MySQL side: catalogue, sessions, reads and the guarded statements; only {@code mysql}
 * packages touch JDBC. Internal.
 *
 * <pre>
 * gameq_setting      namespace, slots, schema, tombstones_purged_before
 * gameq_owner        owner -&gt; epoch, nonce, node, opening | open; while opening also the
 *                    session before it                                 the durable session
 * gameq_tombstone    table, key -&gt; version of the delete
 * gameq_dead_letter  rows that MySQL refuses
 * gameq_table        table -&gt; owner kind, owner column
 * gameq_redis_term   one row: which Redis primary counts, and its number
 * gameq_layout       table, fingerprint -&gt; column list of encoded rows
 * &lt;managed table&gt;    gq_version BIGINT UNSIGNED NOT NULL DEFAULT 0
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.mysql;
