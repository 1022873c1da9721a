package io.gameq;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.regex.Pattern;
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
  private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9_-]{1,32}");
  private static final Pattern NODE = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private final String redisUri;
  private final @Nullable String redisPassword;
  private final String jdbcUrl;
  private final String mysqlUser;
  private final String mysqlPassword;
  private final int poolSize;
  private final String namespace;
  private final String node;
  private final Path walDirectory;
  private final WalLimits walLimits;
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
  private final @Nullable Executor callbacks;
  private final Clock clock;

  /** Takes what the builder says now, and checks it. */
  GameQueueConfig(GameQueueConfigBuilder from) {
    redisUri = set(from.redisUri, "redis");
    check(
        redisUri.startsWith("redis"),
        "redis",
        "must be a redis://, rediss:// or redis-sentinel:// URI");
    redisPassword = from.redisPassword;
    jdbcUrl = set(from.jdbcUrl, "mysql");
    check(
        jdbcUrl.startsWith("jdbc:mysql://"),
        "mysql",
        "must be a jdbc:mysql://host:port/database URL");
    mysqlUser = set(from.mysqlUser, "mysql");
    mysqlPassword = from.mysqlPassword;
    poolSize = from.poolSize;
    check(poolSize >= 1 && poolSize <= 200, "poolSize", "must be 1 to 200, not " + poolSize);
    namespace = set(from.namespace, "namespace");
    check(NAMESPACE.matcher(namespace).matches(), "namespace", "must be 1 to 32 of a-z 0-9 _ -");
    node = set(from.node, "node");
    check(NODE.matcher(node).matches(), "node", "must be 1 to 64 of A-Z a-z 0-9 . _ -");
    walDirectory = set(from.walDirectory, "walDirectory");
    walLimits = walLimits(from);
    earlierWals = from.earlierWals;
    slots = from.slots;
    check(
        slots >= 1 && slots <= 1024 && Integer.bitCount(slots) == 1,
        "slots",
        "must be a power of two from 1 to 1024, not " + slots);
    mergeWindow = from.mergeWindow;
    check(
        !mergeWindow.isNegative() && mergeWindow.compareTo(Duration.ofMinutes(10)) <= 0,
        "mergeWindow",
        "must be 0 to 10 minutes, not " + mergeWindow);
    limits = limits(from);
    callTimeout = from.callTimeout;
    check(
        callTimeout.compareTo(Duration.ofMillis(100)) >= 0
            && callTimeout.compareTo(Duration.ofMinutes(10)) <= 0,
        "callTimeout",
        "must be 100 ms to 10 minutes, not " + callTimeout);
    whenRedisIsFull = from.whenRedisIsFull;
    whenRedisIsAway = from.whenRedisIsAway;
    maxConflictWait = from.maxConflictWait;
    check(
        maxConflictWait.compareTo(Duration.ofSeconds(1)) >= 0
            && maxConflictWait.compareTo(Duration.ofDays(1)) <= 0,
        "maxConflictWait",
        "must be 1 second to 1 day, not " + maxConflictWait);
    onConflict = from.onConflict;
    onFailure = from.onFailure;
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

  /** A secret: never shown in a message of gameq. */
  public @Nullable String redisPassword() {
    return redisPassword;
  }

  /** The URL of {@link GameQueueConfigBuilder#mysql}. */
  public String jdbcUrl() {
    return jdbcUrl;
  }

  /** The user of {@link GameQueueConfigBuilder#mysql}. */
  public String mysqlUser() {
    return mysqlUser;
  }

  /** A secret: never shown in a message of gameq. */
  public String mysqlPassword() {
    return mysqlPassword;
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

  private static WalLimits walLimits(GameQueueConfigBuilder from) {
    check(
        !from.walKeep.isNegative() && from.walKeep.compareTo(Duration.ofDays(30)) <= 0,
        "walKeep",
        "must be 0 to 30 days, not " + from.walKeep);
    check(
        from.walMaxBytes >= 256L << 20,
        "walMaxBytes",
        "must be at least 256 MiB, not " + from.walMaxBytes);
    check(
        from.walMinFreeBytes >= 0 && from.walMinFreeBytes <= 1L << 40,
        "walMinFreeBytes",
        "must be 0 to 1 TiB, not " + from.walMinFreeBytes);
    return WalLimits.of(from.walKeep, from.walMaxBytes, from.walMinFreeBytes, from.walSync);
  }

  private static Limits limits(GameQueueConfigBuilder from) {
    check(
        from.commitRows >= 1 && from.commitRows <= 100_000,
        "maxCommit",
        "rows must be 1 to 100,000, not " + from.commitRows);
    check(
        from.commitBytes >= 1024 && from.commitBytes <= 12 << 20,
        "maxCommit",
        "bytes must be 1 KiB to 12 MiB, not " + from.commitBytes);
    check(
        from.rowBytes >= 64 && from.rowBytes <= from.commitBytes / 2,
        "maxRowBytes",
        "must be 64 bytes to half of maxCommit's bytes, not " + from.rowBytes);
    check(
        from.inFlightCommits >= 1 && from.inFlightCommits <= 10_000_000,
        "maxInFlight",
        "commits must be 1 to 10,000,000, not " + from.inFlightCommits);
    check(
        from.inFlightBytes >= from.commitBytes && from.inFlightBytes <= 1 << 30,
        "maxInFlight",
        "bytes must be those of one commit, %d, to 1 GiB, not %d"
            .formatted(from.commitBytes, from.inFlightBytes));
    check(
        !from.admission.isNegative() && from.admission.compareTo(Duration.ofDays(1)) <= 0,
        "maxInFlight",
        "wait must be 0 to 1 day, not " + from.admission);
    check(
        from.dirtyRowsPerOwner >= from.commitRows && from.dirtyRowsPerOwner <= 1_000_000,
        "maxDirtyRowsPerOwner",
        "must be maxCommit's rows, %d, to 1,000,000, not %d"
            .formatted(from.commitRows, from.dirtyRowsPerOwner));
    check(
        from.dirtyBytesPerOwner >= from.commitBytes && from.dirtyBytesPerOwner <= 256 << 20,
        "maxDirtyBytesPerOwner",
        "must be maxCommit's bytes, %d, to 256 MiB, not %d"
            .formatted(from.commitBytes, from.dirtyBytesPerOwner));
    check(
        from.journalCommits >= 0 && from.journalCommits <= 10_000_000,
        "maxJournal",
        "commits must be 0 to 10,000,000, not " + from.journalCommits);
    check(
        from.journalBytes >= 0 && from.journalBytes <= 1 << 30,
        "maxJournal",
        "bytes must be 0 to 1 GiB, not " + from.journalBytes);
    check(
        !from.journal.isNegative() && from.journal.compareTo(Duration.ofDays(1)) <= 0,
        "maxJournal",
        "time must be 0 to 1 day, not " + from.journal);
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

  private static <T> T set(@Nullable T value, String setting) {
    if (value == null) {
      throw new GameQueueException(
          "setting '" + setting + "' is missing: call ." + setting + "(...) before build()");
    }
    return value;
  }

  private static void check(boolean ok, String setting, String must) {
    if (!ok) {
      throw new GameQueueException("setting '" + setting + "' " + must);
    }
  }
}
