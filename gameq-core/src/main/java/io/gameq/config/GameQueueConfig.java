package io.gameq.config;

import io.gameq.Conflict;
import io.gameq.GameQueueException;
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
 * How a game node reaches Redis and MySQL, and its bounds; checked when it is made, and immutable.
 * Make it with {@link #builder}, whose methods say what each setting means: the constructor grows
 * with the settings.
 *
 * <pre>
 * GameQueueConfig.builder()
 *     .redis("redis://127.0.0.1:6379")
 *     .mysql("jdbc:mysql://127.0.0.1:3306/game", "game", password)
 *     .namespace("mygame").node("node-1").walDirectory(Path.of("/var/lib/mygame/wal"))
 *     .build();
 * </pre>
 *
 * @param redisUri {@link GameQueueConfigBuilder#redis}; it may hold a password
 * @param redisUser null for the default user, or the URI's
 * @param redisPassword null for none, or the URI's
 * @param sentinelUser the user of {@link GameQueueConfigBuilder#sentinelLogin}
 * @param sentinelPassword its password
 * @param jdbcUrl the URL of {@link GameQueueConfigBuilder#mysql}
 * @param mysqlUser its user
 * @param mysqlPassword its password
 * @param poolSize most connections to MySQL at a time
 * @param walLimits what the settings whose names begin with {@code wal} say
 * @param limits what the settings whose names begin with {@code max} say, but for the WAL's
 * @param pressureLimits what {@link GameQueueConfigBuilder#pushBackAtAge} and its like say; empty
 *     by default
 * @param callbacks null for a thread of gameq's own
 */
public record GameQueueConfig(
    String redisUri,
    @Nullable String redisUser,
    @Nullable Password redisPassword,
    @Nullable String sentinelUser,
    @Nullable Password sentinelPassword,
    @Nullable Tls redisTls,
    String jdbcUrl,
    String mysqlUser,
    Password mysqlPassword,
    @Nullable Tls mysqlTls,
    int poolSize,
    String namespace,
    String node,
    Path walDirectory,
    WalLimits walLimits,
    Duration messageKeep,
    EarlierWals earlierWals,
    int slots,
    Duration mergeWindow,
    Duration linger,
    Limits limits,
    Duration callTimeout,
    WhenRedisIsFull whenRedisIsFull,
    WhenRedisIsAway whenRedisIsAway,
    WhenCommitFails whenCommitFails,
    Duration maxConflictWait,
    Consumer<Conflict> onConflict,
    Consumer<Throwable> onFailure,
    List<PressureLimit> pressureLimits,
    Duration maxSlowdown,
    Consumer<Pressure> onPressure,
    @Nullable Executor callbacks,
    Clock clock) {
  /** Shards of owners, where none are set. Many cost what few do, and leave room to grow. */
  public static final int DEFAULT_SLOTS = 256;

  /** See {@link GameQueueConfigBuilder#messageKeep}: longer than a failover takes to be noticed. */
  public static final Duration DEFAULT_MESSAGE_KEEP = Duration.ofMinutes(10);

  private static final Duration DAY = Duration.ofDays(1);

  /**
   * Checks every setting.
   *
   * @throws GameQueueException naming the setting and the remedy
   */
  public GameQueueConfig {
    pressureLimits = List.copyOf(pressureLimits);
    check(
        redisUri.startsWith("redis"),
        "redis",
        "must be a redis://, rediss:// or redis-sentinel:// URI");
    check(
        jdbcUrl.startsWith("jdbc:mysql://"),
        "mysql",
        "must be a jdbc:mysql://host:port/database URL");
    check(namespace.matches("[a-z0-9_-]{1,32}"), "namespace", "must be 1 to 32 of a-z 0-9 _ -");
    check(node.matches("[A-Za-z0-9._-]{1,64}"), "node", "must be 1 to 64 of A-Z a-z 0-9 . _ -");
    check(
        slots >= 1 && slots <= 1024 && Integer.bitCount(slots) == 1,
        "slots",
        "must be a power of two from 1 to 1024, not " + slots);
    within("poolSize", poolSize, 1, 200, "1 to 200");
    within("mergeWindow", mergeWindow, Duration.ZERO, Duration.ofMinutes(10), "0 to 10 minutes");
    within("linger", linger, Duration.ZERO, Duration.ofMillis(100), "0 to 100 ms");
    within(
        "callTimeout",
        callTimeout,
        Duration.ofMillis(100),
        Duration.ofMinutes(10),
        "100 ms to 10 minutes");
    within("maxConflictWait", maxConflictWait, Duration.ofSeconds(1), DAY, "1 second to 1 day");
    within("messageKeep", messageKeep, Duration.ofSeconds(10), DAY, "10 seconds to 1 day");
    within(
        "maxSlowdown",
        maxSlowdown,
        Duration.ofMillis(1),
        Duration.ofSeconds(10),
        "1 millisecond to 10 seconds");
    check(walLimits);
    check(limits);
    pressureLimits.forEach(GameQueueConfig::check);
  }

  /** Begins with the defaults; {@link GameQueueConfigBuilder} says what each setting means. */
  public static GameQueueConfigBuilder builder() {
    return new GameQueueConfigBuilder();
  }

  /** Names node and namespace; no addresses or secrets. */
  @Override
  public String toString() {
    return "GameQueueConfig[namespace=" + namespace + ", node=" + node + "]";
  }

  private static void check(WalLimits of) {
    within("walKeep", of.keep(), Duration.ZERO, Duration.ofDays(30), "0 to 30 days");
    within("walMaxBytes", of.maxBytes(), 256L << 20, Long.MAX_VALUE, "at least 256 MiB");
    within("walMinFreeBytes", of.minFreeBytes(), 0L, 1L << 40, "0 to 1 TiB");
  }

  private static void check(Limits of) {
    int rows = of.commitRows();
    int bytes = of.commitBytes();
    within("maxCommit", "rows", rows, 1, 100_000, "1 to 100,000");
    within("maxCommit", "bytes", bytes, 1 << 10, 12 << 20, "1 KiB to 12 MiB");
    within("maxRowBytes", of.rowBytes(), 64, bytes / 2, "64 bytes to half of maxCommit's bytes");
    within("maxInFlight", "commits", of.inFlightCommits(), 1, 10_000_000, "1 to 10,000,000");
    within(
        "maxInFlight",
        "bytes",
        of.inFlightBytes(),
        bytes,
        1 << 30,
        "those of one commit, %s, to 1 GiB".formatted(bytes));
    Duration wait = Duration.ofMillis(of.admissionMillis());
    within("maxInFlight", "wait", wait, Duration.ZERO, DAY, "0 to 1 day");
    within(
        "maxDirtyRowsPerOwner",
        of.dirtyRowsPerOwner(),
        rows,
        1_000_000,
        "maxCommit's rows, %s, to 1,000,000".formatted(rows));
    within(
        "maxDirtyBytesPerOwner",
        of.dirtyBytesPerOwner(),
        bytes,
        256 << 20,
        "maxCommit's bytes, %s, to 256 MiB".formatted(bytes));
    within("maxJournal", "commits", of.journalCommits(), 0, 10_000_000, "0 to 10,000,000");
    within("maxJournal", "bytes", of.journalBytes(), 0, 1 << 30, "0 to 1 GiB");
    Duration journal = Duration.ofMillis(of.journalMillis());
    within("maxJournal", "time", journal, Duration.ZERO, DAY, "0 to 1 day");
  }

  private static void check(PressureLimit of) {
    double value = of.value();
    switch (of.of()) {
      case AGE -> within("pushBackAtAge", "seconds", value, 1.0, 604_800.0, "1 to 604,800");
      case ROWS -> within("pushBackAtRows", (long) value, 1L, 1_000_000_000L, "1 to 1,000,000,000");
      case MEMORY -> within("pushBackAtMemory", value, 0.1, 1.0, "0.1 to 1");
    }
  }

  private static <T extends Comparable<T>> void within(
      String setting, T value, T least, T most, String range) {
    within(setting, "", value, least, most, range);
  }

  /** Both ends included. */
  private static <T extends Comparable<T>> void within(
      String setting, String part, T value, T least, T most, String range) {
    check(
        value.compareTo(least) >= 0 && value.compareTo(most) <= 0,
        setting,
        "%s must be %s, not %s".formatted(part, range, value).strip());
  }

  private static void check(boolean ok, String setting, String must) {
    if (!ok) {
      throw new GameQueueException("setting '" + setting + "' " + must);
    }
  }
}
