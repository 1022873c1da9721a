package io.gameq.config;

import io.gameq.GameQueueException;
import io.gameq.Pressure;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Checks the settings that a {@link GameQueueConfigBuilder} collected; each refusal names the
 * setting and the remedy. Stateless.
 */
final class ConfigChecks {
  private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9_-]{1,32}");
  private static final Pattern NODE = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private ConfigChecks() {}

  /** Throws GameQueueException when a setting is missing, or not within its bounds. */
  static void check(GameQueueConfigBuilder from) {
    servers(from);
    names(from);
    walLimits(from);
    times(from);
    limits(from);
    pressure(from);
  }

  private static void servers(GameQueueConfigBuilder from) {
    check(
        set(from.redisUri, "redis").startsWith("redis"),
        "redis",
        "must be a redis://, rediss:// or redis-sentinel:// URI");
    check(
        set(from.jdbcUrl, "mysql").startsWith("jdbc:mysql://"),
        "mysql",
        "must be a jdbc:mysql://host:port/database URL");
    String unused = set(from.mysqlUser, "mysql");
    check(
        from.poolSize >= 1 && from.poolSize <= 200,
        "poolSize",
        "must be 1 to 200, not " + from.poolSize);
  }

  private static void names(GameQueueConfigBuilder from) {
    check(
        NAMESPACE.matcher(set(from.namespace, "namespace")).matches(),
        "namespace",
        "must be 1 to 32 of a-z 0-9 _ -");
    check(
        NODE.matcher(set(from.node, "node")).matches(),
        "node",
        "must be 1 to 64 of A-Z a-z 0-9 . _ -");
    check(
        from.slots >= 1 && from.slots <= 1024 && Integer.bitCount(from.slots) == 1,
        "slots",
        "must be a power of two from 1 to 1024, not " + from.slots);
  }

  private static void times(GameQueueConfigBuilder from) {
    check(
        isWithin(from.mergeWindow, Duration.ZERO, Duration.ofMinutes(10)),
        "mergeWindow",
        "must be 0 to 10 minutes, not " + from.mergeWindow);
    check(
        isWithin(from.callTimeout, Duration.ofMillis(100), Duration.ofMinutes(10)),
        "callTimeout",
        "must be 100 ms to 10 minutes, not " + from.callTimeout);
    check(
        isWithin(from.maxConflictWait, Duration.ofSeconds(1), Duration.ofDays(1)),
        "maxConflictWait",
        "must be 1 second to 1 day, not " + from.maxConflictWait);
  }

  private static void walLimits(GameQueueConfigBuilder from) {
    Object unused = set(from.walDirectory, "walDirectory");
    check(
        isWithin(from.walKeep, Duration.ZERO, Duration.ofDays(30)),
        "walKeep",
        "must be 0 to 30 days, not " + from.walKeep);
    check(
        isWithin(from.messageKeep, Duration.ofSeconds(10), Duration.ofDays(1)),
        "messageKeep",
        "must be 10 seconds to 1 day, not " + from.messageKeep);
    check(
        from.walMaxBytes >= 256L << 20,
        "walMaxBytes",
        "must be at least 256 MiB, not " + from.walMaxBytes);
    check(
        from.walMinFreeBytes >= 0 && from.walMinFreeBytes <= 1L << 40,
        "walMinFreeBytes",
        "must be 0 to 1 TiB, not " + from.walMinFreeBytes);
  }

  private static void limits(GameQueueConfigBuilder from) {
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
        "bytes must be those of one commit, %s, to 1 GiB, not %s"
            .formatted(from.commitBytes, from.inFlightBytes));
    check(
        isWithin(from.admission, Duration.ZERO, Duration.ofDays(1)),
        "maxInFlight",
        "wait must be 0 to 1 day, not " + from.admission);
    check(
        from.dirtyRowsPerOwner >= from.commitRows && from.dirtyRowsPerOwner <= 1_000_000,
        "maxDirtyRowsPerOwner",
        "must be maxCommit's rows, %s, to 1,000,000, not %s"
            .formatted(from.commitRows, from.dirtyRowsPerOwner));
    check(
        from.dirtyBytesPerOwner >= from.commitBytes && from.dirtyBytesPerOwner <= 256 << 20,
        "maxDirtyBytesPerOwner",
        "must be maxCommit's bytes, %s, to 256 MiB, not %s"
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
        isWithin(from.journal, Duration.ZERO, Duration.ofDays(1)),
        "maxJournal",
        "time must be 0 to 1 day, not " + from.journal);
  }

  private static void pressure(GameQueueConfigBuilder from) {
    PressureLimit age = from.pressureLimits.get(Pressure.Of.AGE);
    check(
        age == null || (age.value() >= 1 && age.value() <= Duration.ofDays(7).toSeconds()),
        "pushBackAtAge",
        "must be 1 second to 7 days, not " + (age == null ? "" : age.value() + " s"));
    PressureLimit rows = from.pressureLimits.get(Pressure.Of.ROWS);
    check(
        rows == null || (rows.value() >= 1 && rows.value() <= 1e9),
        "pushBackAtRows",
        "must be 1 to 1,000,000,000, not " + (rows == null ? "" : (long) rows.value()));
    PressureLimit memory = from.pressureLimits.get(Pressure.Of.MEMORY);
    check(
        memory == null || (memory.value() >= 0.1 && memory.value() <= 1),
        "pushBackAtMemory",
        "must be 0.1 to 1, not " + (memory == null ? "" : memory.value()));
    check(
        isWithin(from.maxSlowdown, Duration.ofMillis(1), Duration.ofSeconds(10)),
        "maxSlowdown",
        "must be 1 millisecond to 10 seconds, not " + from.maxSlowdown);
  }

  /** The value; throws GameQueueException when there is none. */
  static <T> T set(@Nullable T value, String setting) {
    if (value == null) {
      throw new GameQueueException(
          "setting '" + setting + "' is missing: call ." + setting + "(...) before build()");
    }
    return value;
  }

  /** Both ends included. */
  private static boolean isWithin(Duration value, Duration least, Duration most) {
    return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
  }

  private static void check(boolean ok, String setting, String must) {
    if (!ok) {
      throw new GameQueueException("setting '" + setting + "' " + must);
    }
  }
}
