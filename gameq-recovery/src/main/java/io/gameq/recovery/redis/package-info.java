/**
 * Recovery's connection to Redis, refused by a primary that was demoted; which nodes are alive and
 * have an owner open, and a session of recovery's own, for conflicts to be applied.
 */
@org.jspecify.annotations.NullMarked
package io.gameq.recovery.redis;
