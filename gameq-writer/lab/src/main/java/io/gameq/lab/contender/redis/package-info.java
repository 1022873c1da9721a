/**
 * Contenders that speak to Redis past gameq.
 *
 * <pre>
 * RedisSource      seed, raw-redis, plain-client
 *   SeedContender  the queue that gameq began as          seed-claim.lua
 *   RawRedis       the limit: the commands of commits, as bytes, through one socket (RedisAddress)
 *   PlainClient    the same commands by the client library, a MULTI for each commit
 *     CommitBytes  what Redis is sent of an action, a RawCommit; RowEncoding: its rows
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.contender.redis;
