/**
 * What recovery asks of Redis and writes to it; the only package here that knows the client.
 *
 * <pre>
 * RecoveryRedis   a connection, refused by a primary that was demoted; which nodes are alive
 * OwnersInRedis   which session owns; a session of recovery's own, for conflicts to be applied
 * </pre>
 *
 * <p>Its scripts are in {@link io.gameq.redis.script}: {@link io.gameq.redis.script.LookupScript}
 * says what Redis holds of rows, {@link io.gameq.redis.script.ReplayScript} puts lost ones back.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.redis;
