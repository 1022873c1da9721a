/**
 * What recovery asks of Redis and writes to it; the only package here that knows the client.
 *
 * <pre>
 * RecoveryRedis   a connection, refused by a primary that was demoted; which nodes are alive
 * LookupScript    lookup.lua: what Redis holds of rows
 * ReplayScript    replay.lua: puts lost rows back
 * Takeover        a session of recovery's own, for conflicts that are to be applied
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.redis;
