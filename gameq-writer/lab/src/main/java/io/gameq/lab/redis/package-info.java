/**
 * A harness' own look at Redis, past all contenders.
 *
 * <pre>
 * RedisMemory   used_memory, and the end of a namespace
 * ServerFacts   version and settings, for the result
 * RedisUsers    logins with the least rights
 * BacklogProbe  what waits to be flushed          backlog.lua, dirty.lua
 * ClaimProbe    how long one call of claim.lua takes
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.redis;
