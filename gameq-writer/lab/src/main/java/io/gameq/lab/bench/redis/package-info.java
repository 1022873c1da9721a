/**
 * The Redis side of a benchmark: what the server alone can do, and what it holds.
 *
 * <pre>
 * RawRedis      the limit: the commands of commits, as bytes, through one socket
 *   RawCommits  those of a workload, RawCommit by RawCommit
 *   RowEncoding the bytes of a row, as a commit sends them
 * LettuceRedis  the same commands by the client library, a MULTI for each commit
 * RedisAddress  where that socket goes
 * RedisMemory   used_memory, and the end of a namespace
 * ServerFacts   version and settings, for the result
 * Backlog       what waits to be flushed          backlog.lua, dirty.lua
 * ClaimProbe    how long one call of claim.lua takes
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package io.gameq.lab.bench.redis;
