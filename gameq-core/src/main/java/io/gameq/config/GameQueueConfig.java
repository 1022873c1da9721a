package io.gameq.config;

import io.gameq.Conflict;
import io.gameq.Pressure;
import io.gameq.topic.Limits;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a game node reaches Redis and MySQL, and its bounds; checked when it is built and immutable
 * from then on. Made with {@link #builder}.
 *
 * <pre>
 * GameQueueConfig.builder()
 *     .redis("redis://127.0.0.1:6379")
 *     .mysql("jdbc:mysql://127.0.0.1:3306/game", "game", password)
 *     .namespace("mygame").node("node-1").walDirectory(Path.of("/var/lib/mygame/wal"))
 *     .build();
 * </pre>
 */
public final class GameQueueConfig {
  /** Shards of owners, where none are set. Many cost what few do, and leave room to grow. */
  public static final int DEFAULT_SLOTS = 256;

  /** See {@link GameQueueConfigBuilder#messageKeep}: longer than a failover takes to be noticed. */
  public static final Duration DEFAULT_MESSAGE_KEEP = Duration.ofMinutes(10);

  private final String redisUri;
  private final @Nullable String redisUser;
  private final @Nullable Password redisPassword;
  private final @Nullable String sentinelUser;
  private final @Nullable Password sentinelPassword;
  private final @Nullable Tls redisTls;
  private final String jdbcUrl;
  private final String mysqlUser;
  private final Password mysqlPassword;
  private final @Nullable Tls mysqlTls;
  private final int poolSize;
  private final String namespace;
  private final String node;
  private final Path walDirectory;
  private final WalLimits walLimits;
  private final Duration messageKeep;
  private final EarlierWals earlierWals;
  private final int slots;
  private final Duration mergeWindow;
  private final Limits limits;
  private final Duration callTimeout;
  private final WhenRedisIsFull whenRedisIsFull;
  private final WhenRedisIsAway whenRedisIsAway;
  private final Duration maxConflictWait;
  private final Consumer<Conflict> onConflict;
  private final Consumer<Throwable> onFailure;
  private final List<PressureLimit> pressureLimits;
  private final Duration maxSlowdown;
  private final Consumer<Pressure> onPressure;
  private final @Nullable Executor callbacks;
  private final Clock clock;

  /** Checks what the builder says now, and takes it. */
  GameQueueConfig(GameQueueConfigBuilder from) {
    ConfigChecks.check(from);
    redisUri = ConfigChecks.set(from.redisUri, "redis");
    redisUser = from.redisUser;
    redisPassword = from.redisPassword;
    sentinelUser = from.sentinelUser;
    sentinelPassword = from.sentinelPassword;
    redisTls = from.redisTls;
    jdbcUrl = ConfigChecks.set(from.jdbcUrl, "mysql");
    mysqlUser = ConfigChecks.set(from.mysqlUser, "mysql");
    mysqlPassword = from.mysqlPassword;
    mysqlTls = from.mysqlTls;
    poolSize = from.poolSize;
    namespace = ConfigChecks.set(from.namespace, "namespace");
    node = ConfigChecks.set(from.node, "node");
    walDirectory = ConfigChecks.set(from.walDirectory, "walDirectory");
    walLimits = WalLimits.of(from.walKeep, from.walMaxBytes, from.walMinFreeBytes, from.walSync);
    messageKeep = from.messageKeep;
    earlierWals = from.earlierWals;
    slots = from.slots;
    mergeWindow = from.mergeWindow;
    limits = limits(from);
    callTimeout = from.callTimeout;
    whenRedisIsFull = from.whenRedisIsFull;
    whenRedisIsAway = from.whenRedisIsAway;
    maxConflictWait = from.maxConflictWait;
    onConflict = from.onConflict;
    onFailure = from.onFailure;
    pressureLimits = List.copyOf(from.pressureLimits.values());
    maxSlowdown = from.maxSlowdown;
    onPressure = from.onPressure;
    callbacks = from.callbacks;
    clock = from.clock;
  }

  /** Begins with the defaults; {@link GameQueueConfigBuilder} says what each setting means. */
  public static GameQueueConfigBuilder builder() {
    return new GameQueueConfigBuilder();
  }

  /** {@link GameQueueConfigBuilder#redis}; it may hold a password. */
  public String redisUri() {
    return redisUri;
  }

  /** {@link GameQueueConfigBuilder#redisUser}; null for the default user, or the URI's. */
  public @Nullable String redisUser() {
    return redisUser;
  }

  /** {@link GameQueueConfigBuilder#redisPassword}; null for none, or the URI's. */
  public @Nullable Password redisPassword() {
    return redisPassword;
  }

  /** The user of {@link GameQueueConfigBuilder#sentinelLogin}. */
  public @Nullable String sentinelUser() {
    return sentinelUser;
  }

  /** The password of {@link GameQueueConfigBuilder#sentinelLogin}. */
  public @Nullable Password sentinelPassword() {
    return sentinelPassword;
  }

  /** {@link GameQueueConfigBuilder#redisTls}. */
  public @Nullable Tls redisTls() {
    return redisTls;
  }

  /** The URL of {@link GameQueueConfigBuilder#mysql}. */
  public String jdbcUrl() {
    return jdbcUrl;
  }

  /** The user of {@link GameQueueConfigBuilder#mysql}. */
  public String mysqlUser() {
    return mysqlUser;
  }

  /** The password of {@link GameQueueConfigBuilder#mysql}. */
  public Password mysqlPassword() {
    return mysqlPassword;
  }

  /** {@link GameQueueConfigBuilder#mysqlTls}. */
  public @Nullable Tls mysqlTls() {
    return mysqlTls;
  }

  /** Most connections to MySQL at a time. */
  public int poolSize() {
    return poolSize;
  }

  /** {@link GameQueueConfigBuilder#namespace}. */
  public String namespace() {
    return namespace;
  }

  /** {@link GameQueueConfigBuilder#node}. */
  public String node() {
    return node;
  }

  /** {@link GameQueueConfigBuilder#walDirectory}. */
  public Path walDirectory() {
    return walDirectory;
  }

  /** What the settings whose names begin with {@code wal} say. */
  public WalLimits walLimits() {
    return walLimits;
  }

  /** {@link GameQueueConfigBuilder#messageKeep}. */
  public Duration messageKeep() {
    return messageKeep;
  }

  /** {@link GameQueueConfigBuilder#earlierWals}. */
  public EarlierWals earlierWals() {
    return earlierWals;
  }

  /** {@link GameQueueConfigBuilder#slots}. */
  public int slots() {
    return slots;
  }

  /** {@link GameQueueConfigBuilder#mergeWindow}. */
  public Duration mergeWindow() {
    return mergeWindow;
  }

  /** What the settings whose names begin with {@code max} say, but for the WAL's. */
  public Limits limits() {
    return limits;
  }

  /** {@link GameQueueConfigBuilder#callTimeout}. */
  public Duration callTimeout() {
    return callTimeout;
  }

  /** {@link GameQueueConfigBuilder#whenRedisIsFull}. */
  public WhenRedisIsFull whenRedisIsFull() {
    return whenRedisIsFull;
  }

  /** {@link GameQueueConfigBuilder#whenRedisIsAway}. */
  public WhenRedisIsAway whenRedisIsAway() {
    return whenRedisIsAway;
  }

  /** {@link GameQueueConfigBuilder#maxConflictWait}. */
  public Duration maxConflictWait() {
    return maxConflictWait;
  }

  /** {@link GameQueueConfigBuilder#onConflict}. */
  public Consumer<Conflict> onConflict() {
    return onConflict;
  }

  /** {@link GameQueueConfigBuilder#onFailure}. */
  public Consumer<Throwable> onFailure() {
    return onFailure;
  }

  /** What {@link GameQueueConfigBuilder#pushBackAtAge} and its like say; empty by default. */
  public List<PressureLimit> pressureLimits() {
    return pressureLimits;
  }

  /** {@link GameQueueConfigBuilder#maxSlowdown}. */
  public Duration maxSlowdown() {
    return maxSlowdown;
  }

  /** {@link GameQueueConfigBuilder#onPressure}. */
  public Consumer<Pressure> onPressure() {
    return onPressure;
  }

  /** {@link GameQueueConfigBuilder#callbacks}; null for a thread of gameq's own. */
  public @Nullable Executor callbacks() {
    return callbacks;
  }

  /** {@link GameQueueConfigBuilder#clock}. */
  public Clock clock() {
    return clock;
  }

  /** Names node and namespace; no addresses or secrets. */
  @Override
  public String toString() {
    return "GameQueueConfig[namespace=" + namespace + ", node=" + node + "]";
  }

  private static Limits limits(GameQueueConfigBuilder from) {
    return new Limits(
        from.rowBytes,
        from.commitRows,
        from.commitBytes,
        from.inFlightCommits,
        from.inFlightBytes,
        from.dirtyRowsPerOwner,
        from.dirtyBytesPerOwner,
        from.admission.toMillis(),
        from.journalCommits,
        from.journalBytes,
        from.journal.toMillis());
  }
}
