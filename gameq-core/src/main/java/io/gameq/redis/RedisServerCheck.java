package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.RepeatedWarnings;
import java.lang.module.ModuleDescriptor.Version;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Refuses a Redis that gameq cannot run on. Stateless. */
public final class RedisServerCheck {
  static final String NO_EVICTION = "noeviction";

  private static final String POLICY = "maxmemory_policy";
  private static final String VALKEY_VERSION = "valkey_version";

  private RedisServerCheck() {}

  /**
   * A server that gameq can run on.
   *
   * @param runId new at every start; empty when it is hidden, like the others
   * @param replId names its history of writes
   * @param formerReplId names the history that it went on from when it was promoted
   */
  public record Server(String runId, String replId, String formerReplId) {}

  /**
   * Checks version, eviction policy and role.
   *
   * @return the ids that the server gives itself
   * @throws GameQueueException naming what is wrong and the remedy; RedisUnavailableException of a
   *     replica, which may be promoted yet
   */
  public static Server check(RedisConnection redis) {
    Map<String, String> info = fields(redis, "default");
    boolean valkey = info.containsKey(VALKEY_VERSION);
    String version = info.getOrDefault("redis_version", "0");
    if (!valkey && Version.parse(version).compareTo(Version.parse("6.2")) < 0) {
      throw new GameQueueException(
          "Redis " + version + " is too old: gameq needs 6.2 or newer, or Valkey");
    }
    String policy = info.getOrDefault(POLICY, "unknown");
    if (!policy.equals(NO_EVICTION)) {
      throw new GameQueueException(mayEvict(policy));
    }
    if (info.getOrDefault("redis_mode", "").equals("cluster")) {
      throw new GameQueueException(
          "this Redis belongs to a Redis Cluster, which gameq does not support: give the address of"
              + " a primary without cluster-enabled, or a redis-sentinel:// URI");
    }
    if (!info.getOrDefault("role", "master").equals("master")) {
      throw new RedisUnavailableException(
          "this Redis is a replica: give the address of the primary, or a redis-sentinel:// URI");
    }
    return new Server(
        info.getOrDefault("run_id", ""),
        info.getOrDefault("master_replid", ""),
        info.getOrDefault("master_replid2", ""));
  }

  private static Map<String, String> fields(RedisConnection redis, String section) {
    return RedisReply.await(() -> redis.sync().info(section))
        .lines()
        .filter(line -> line.contains(":"))
        .collect(
            Collectors.toMap(
                line -> line.substring(0, line.indexOf(':')),
                line -> line.substring(line.indexOf(':') + 1).trim(),
                (a, b) -> a));
  }

  private static String name(Map<String, String> info) {
    return info.containsKey(VALKEY_VERSION)
        ? "Valkey " + info.get(VALKEY_VERSION)
        : "Redis " + info.getOrDefault("redis_version", "0");
  }

  /** Throws {@link io.gameq.RedisUnavailableException} when Redis does not answer. */
  public static RedisState state(RedisConnection redis) {
    Map<String, String> info = fields(redis, "default");
    return new RedisState(
        name(info),
        Long.parseLong(info.getOrDefault("used_memory", "0")),
        Long.parseLong(info.getOrDefault("maxmemory", "0")),
        info.getOrDefault(POLICY, "unknown"),
        Long.parseLong(info.getOrDefault("connected_slaves", "0")));
  }

  /**
   * Whether what is written outlives an end of the process: by its append-only file, that is, a
   * snapshot is minutes old. Throws {@link io.gameq.RedisUnavailableException} when Redis does not
   * answer.
   */
  public static boolean appends(RedisConnection redis) {
    return fields(redis, "persistence")
        .getOrDefault("aof_enabled", "1") // a server that does not say
        .equals("1");
  }

  /** Throws {@link io.gameq.RedisUnavailableException} when Redis does not answer. */
  public static String evictionPolicy(RedisConnection redis) {
    return fields(redis, "memory").getOrDefault(POLICY, "unknown");
  }

  static String mayEvict(String policy) {
    return ("Redis has maxmemory-policy %s, which would drop unflushed rows: run CONFIG SET"
            + " maxmemory-policy noeviction, and set it in redis.conf")
        .formatted(policy);
  }

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
      return !policy.equals(NO_EVICTION);
    }

    /** Used memory as a share of the limit, 0 to 1; 0 without a limit. */
    public double fullness() {
      return mostBytes == 0 ? 0 : (double) usedBytes / mostBytes;
    }
  }

  /**
   * Notices a Redis whose eviction policy is changed while gameq runs: it could drop rows that
   * wait. Used by one thread.
   */
  public static final class EvictionWatch {
    private static final Logger LOG = LoggerFactory.getLogger(EvictionWatch.class);

    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long COMPLAIN_EVERY_SECONDS = 60;

    private final RepeatedWarnings complaints = new RepeatedWarnings(COMPLAIN_EVERY_SECONDS);
    private long askedNanos = System.nanoTime() - EVERY_NANOS;
    private boolean evicts;

    /**
     * Whether Redis may evict; asks, at most every 3 s, and logs an error while it may.
     *
     * @param asked for {@link RedisServerCheck#evictionPolicy}
     * @throws io.gameq.GameQueueException when Redis does not answer
     */
    public boolean mayEvict(Supplier<String> asked) {
      if (System.nanoTime() - askedNanos < EVERY_NANOS) {
        return evicts;
      }
      askedNanos = System.nanoTime();
      String policy = asked.get();
      boolean evicted = evicts;
      evicts = !policy.equals(NO_EVICTION);
      if (evicts) {
        complaints.about("eviction", LOG::error, () -> RedisServerCheck.mayEvict(policy));
      } else if (evicted) {
        LOG.info("Redis has maxmemory-policy {} again", policy);
      }
      return evicts;
    }
  }
}
