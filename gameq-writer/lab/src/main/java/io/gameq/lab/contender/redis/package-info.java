/**
 * Contenders that speak to Redis past gameq.
 *
 * <pre>
 * RedisSource      seed, raw-redis, plain-client
 *   SeedContender  the queue that gameq began as          seed-claim.lua
 *   RawRedis       the limit: groups of commits, as bytes, through one socket (RedisAddress)
 *   PlainClient    the same commands by the client library
 *     GroupThread  counts actions, sends groups
 *     CommitBytes  what gameq sends of actions (SentCommands); RowEncoding: their rows
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.contender.redis;
