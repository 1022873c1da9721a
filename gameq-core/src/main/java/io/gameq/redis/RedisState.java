package io.gameq.redis;

/**
 * What a Redis server says of its memory and role. Immutable.
 *
 * @param version of Redis, or of the server that calls itself compatible
 * @param usedBytes of memory
 * @param mostBytes that it may use (maxmemory); 0 without a limit
 * @param policy what it does at that limit (maxmemory-policy)
 * @param replicas that are connected
 */
public record RedisState(
    String version, long usedBytes, long mostBytes, String policy, long replicas) {
  /** Whether rows that are nowhere else may be dropped. */
  public boolean mayEvict() {
    return !policy.equals(RedisServerCheck.NO_EVICTION);
  }

  /** Used memory as a share of the limit, 0 to 1; 0 without a limit. */
  public double fullness() {
    return mostBytes == 0 ? 0 : (double) usedBytes / mostBytes;
  }
}
