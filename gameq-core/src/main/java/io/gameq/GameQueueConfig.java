package io.gameq;

import io.gameq.commit.Limits;
import io.gameq.wal.WalLimits;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How a game node reaches Redis and MySQL, and its bounds; immutable, made with {@link #builder}.
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

  private final Builder b;

  private GameQueueConfig(Builder b) {
    this.b = b;
  }

  public static Builder builder() {
    return new Builder();
  }

  String redisUri() {
    return set(b.redisUri, "redis");
  }

  @Nullable String redisPassword() {
    return b.redisPassword;
  }

  String jdbcUrl() {
    return set(b.jdbcUrl, "mysql");
  }

  String mysqlUser() {
    return set(b.mysqlUser, "mysql");
  }

  String mysqlPassword() {
    return b.mysqlPassword;
  }

  int poolSize() {
    return b.poolSize;
  }

  public String namespace() {
    return set(b.namespace, "namespace");
  }

  public String node() {
    return set(b.node, "node");
  }

  Path walDirectory() {
    return set(b.walDirectory, "walDirectory");
  }

  int slots() {
    return b.slots;
  }

  Duration mergeWindow() {
    return b.mergeWindow;
  }

  Limits limits() {
    return new Limits(
        b.rowBytes,
        b.commitRows,
        b.commitBytes,
        b.inFlightCommits,
        b.inFlightBytes,
        b.dirtyRowsPerOwner,
        b.admission.toMillis(),
        b.journalCommits,
        b.journalBytes,
        b.journal.toMillis());
  }

  WhenRedisIsAway whenRedisIsAway() {
    return b.whenRedisIsAway;
  }

  Consumer<Conflict> onConflict() {
    return b.onConflict;
  }

  WalLimits walLimits() {
    return WalLimits.of(b.walKeep, b.walMaxBytes, b.walMinFreeBytes, b.walSync);
  }

  WhenRedisIsFull whenRedisIsFull() {
    return b.whenRedisIsFull;
  }

  Clock clock() {
    return b.clock;
  }

  private static <T> T set(@Nullable T value, String setting) {
    if (value == null) {
      throw new GameQueueException(
          "setting '" + setting + "' is missing: call ." + setting + "(...) before build()");
    }
    return value;
  }

  /** Names node and namespace; no addresses or secrets. */
  @Override
  public String toString() {
    return "GameQueueConfig[namespace=" + b.namespace + ", node=" + b.node + "]";
  }

  /** Collects settings; not thread-safe. */
  public static final class Builder {
    private @Nullable String redisUri;
    private @Nullable String redisPassword;
    private @Nullable String jdbcUrl;
    private @Nullable String mysqlUser;
    private String mysqlPassword = "";
    private int poolSize = 8;
    private @Nullable String namespace;
    private @Nullable String node;
    private @Nullable Path walDirectory;
    private Duration walKeep = WalLimits.DEFAULT.keep();
    private long walMaxBytes = WalLimits.DEFAULT.maxBytes();
    private long walMinFreeBytes = WalLimits.DEFAULT.minFreeBytes();
    private WalSync walSync = WalLimits.DEFAULT.sync();
    private int slots = 16;
    private Duration mergeWindow = Duration.ofSeconds(1);
    private int rowBytes = Limits.DEFAULT.rowBytes();
    private int commitRows = Limits.DEFAULT.commitRows();
    private int commitBytes = Limits.DEFAULT.commitBytes();
    private int inFlightCommits = Limits.DEFAULT.inFlightCommits();
    private int inFlightBytes = Limits.DEFAULT.inFlightBytes();
    private int dirtyRowsPerOwner = Limits.DEFAULT.dirtyRowsPerOwner();
    private Duration admission = Duration.ofMillis(Limits.DEFAULT.admissionMillis());
    private WhenRedisIsFull whenRedisIsFull = WhenRedisIsFull.FAIL;
    private WhenRedisIsAway whenRedisIsAway = WhenRedisIsAway.JOURNAL;
    private int journalCommits = Limits.DEFAULT.journalCommits();
    private int journalBytes = Limits.DEFAULT.journalBytes();
    private Duration journal = Duration.ofMillis(Limits.DEFAULT.journalMillis());
    private Consumer<Conflict> onConflict = conflict -> {};
    private Clock clock = Clock.systemUTC();

    private Builder() {}

    /** The host's clock, for tests of clocks that are wrong. */
    Builder clock(Clock clock) {
      this.clock = clock;
      return this;
    }

    /**
     * {@code redis://host:port}, {@code rediss://...} or {@code
     * redis-sentinel://host:port,host:port#primary}. Required.
     */
    public Builder redis(String uri) {
      this.redisUri = uri;
      return this;
    }

    /** The Redis password; none by default. */
    public Builder redisPassword(String password) {
      this.redisPassword = password;
      return this;
    }

    /** {@code jdbc:mysql://host:port/database} and the login. Required. */
    public Builder mysql(String jdbcUrl, String user, String password) {
      if (password
          == null) { // from Java code without nullness checks: an environment variable that is not
        // set
        throw new GameQueueException(
            "setting 'mysql': the password is null; is an environment variable not set?");
      }
      this.jdbcUrl = jdbcUrl;
      this.mysqlUser = user;
      this.mysqlPassword = password;
      return this;
    }

    /** Connections to MySQL, which opens and reads use; default 8, 1 to 200. */
    public Builder poolSize(int connections) {
      this.poolSize = connections;
      return this;
    }

    /** Names the game in all Redis keys: 1 to 32 of a-z 0-9 _ -. Required; fixed for a database. */
    public Builder namespace(String namespace) {
      this.namespace = namespace;
      return this;
    }

    /** Names this node in WALs and in gameq_owner: 1 to 64 of A-Z a-z 0-9 . _ -. Required. */
    public Builder node(String node) {
      this.node = node;
      return this;
    }

    /**
     * Where this process makes its WAL directory: a local file system, kept across restarts.
     * Required.
     */
    public Builder walDirectory(Path directory) {
      this.walDirectory = directory;
      return this;
    }

    /**
     * How long the WAL keeps what is in MySQL already, also after this node has closed; default 1
     * h, 0 to 30 days. A MySQL replica that is promoted may have lost commits of the last moments.
     */
    public Builder walKeep(Duration time) {
      this.walKeep = time;
      return this;
    }

    /**
     * Most bytes of this node's WAL, and of those that ended complete beside it; default 4 GiB, at
     * least 256 MiB. Beyond it, what is in MySQL goes before walKeep is over; when everything is
     * still needed, commits fail with {@link WalFullException}.
     */
    public Builder walMaxBytes(long bytes) {
      this.walMaxBytes = bytes;
      return this;
    }

    /**
     * Free bytes that the WAL leaves on its file system; default 1 GiB, 0 to 1 TiB. Below it,
     * commits fail with {@link WalFullException} until there is room again.
     */
    public Builder walMinFreeBytes(long bytes) {
      this.walMinFreeBytes = bytes;
      return this;
    }

    /** Whether the WAL survives a power loss; default {@link WalSync#OFF}. */
    public Builder walSync(WalSync sync) {
      this.walSync = sync;
      return this;
    }

    /** Shards of owners: a power of two, 1 to 1024; default 16; fixed for a database. */
    public Builder slots(int slots) {
      this.slots = slots;
      return this;
    }

    /**
     * How long a dirty owner waits so that later changes merge into one flush; default 1 s, 0 to 10
     * min.
     */
    public Builder mergeWindow(Duration window) {
      this.mergeWindow = window;
      return this;
    }

    /**
     * Most encoded bytes of one row; default 2 MiB. A larger row is refused when it is put. At most
     * half of maxCommitBytes.
     */
    public Builder maxRowBytes(int bytes) {
      this.rowBytes = bytes;
      return this;
    }

    /**
     * Most rows (default 1,000) and bytes (default 8 MiB, at most 12 MiB) of one commit. A larger
     * one is refused when it is committed.
     */
    public Builder maxCommit(int rows, int bytes) {
      this.commitRows = rows;
      this.commitBytes = bytes;
      return this;
    }

    /**
     * Most commits (default 50,000) and bytes (default 64 MiB) of this node that wait for Redis,
     * and how long a commit waits for room (default 5 s; zero refuses at once).
     */
    public Builder maxInFlight(int commits, int bytes, Duration wait) {
      this.inFlightCommits = commits;
      this.inFlightBytes = bytes;
      this.admission = wait;
      return this;
    }

    /**
     * Most distinct rows of one owner that wait for MySQL; default 20,000, at least maxCommit's
     * rows, at most 1,000,000. A commit that would pass it waits as long as maxInFlight says, then
     * fails with QueueFullException. A writer takes an owner's rows at once: more of them need more
     * memory in Redis and writers.
     */
    public Builder maxDirtyRowsPerOwner(int rows) {
      this.dirtyRowsPerOwner = rows;
      return this;
    }

    /**
     * What becomes of commits while Redis is at maxmemory; default {@link WhenRedisIsFull#FAIL}.
     */
    public Builder whenRedisIsFull(WhenRedisIsFull policy) {
      this.whenRedisIsFull = policy;
      return this;
    }

    /** What becomes of commits while Redis is away; default {@link WhenRedisIsAway#JOURNAL}. */
    public Builder whenRedisIsAway(WhenRedisIsAway policy) {
      this.whenRedisIsAway = policy;
      return this;
    }

    /**
     * Most commits (default 200,000) and bytes (default 256 MiB, at most 1 GiB) that may be
     * journaled while Redis is away, beside those of maxInFlight, and for how long (default 5 min,
     * at most 1 day). They are kept in memory as well as in the WAL. A commit that finds no room
     * waits as maxInFlight says, then fails with QueueFullException; after the time it fails with
     * RedisUnavailableException. What was journaled is sent when Redis is back, however late.
     */
    public Builder maxJournal(int commits, int bytes, Duration time) {
      this.journalCommits = commits;
      this.journalBytes = bytes;
      this.journal = time;
      return this;
    }

    /**
     * Told of every acknowledged change that a Redis failover lost and that was not replayed,
     * because another node had taken the owner over; on a thread of gameq that serves all
     * callbacks. Logged as an error in any case.
     */
    public Builder onConflict(Consumer<Conflict> listener) {
      this.onConflict = listener;
      return this;
    }

    /**
     * Checks every setting.
     *
     * @throws GameQueueException naming the setting and the remedy
     */
    public GameQueueConfig build() {
      GameQueueConfig config = new GameQueueConfig(this);
      check(
          config.redisUri().startsWith("redis"),
          "redis",
          "must be a redis://, rediss:// or redis-sentinel:// URI");
      check(
          config.jdbcUrl().startsWith("jdbc:mysql://"),
          "mysql",
          "must be a jdbc:mysql://host:port/database URL");
      check(
          NAMESPACE.matcher(config.namespace()).matches(),
          "namespace",
          "must be 1 to 32 of a-z 0-9 _ -");
      check(NODE.matcher(config.node()).matches(), "node", "must be 1 to 64 of A-Z a-z 0-9 . _ -");
      config.walDirectory();
      check(
          slots >= 1 && slots <= 1024 && Integer.bitCount(slots) == 1,
          "slots",
          "must be a power of two from 1 to 1024, not " + slots);
      check(
          !walKeep.isNegative() && walKeep.compareTo(Duration.ofDays(30)) <= 0,
          "walKeep",
          "must be 0 to 30 days, not " + walKeep);
      check(
          walMaxBytes >= 256L << 20, "walMaxBytes", "must be at least 256 MiB, not " + walMaxBytes);
      check(
          walMinFreeBytes >= 0 && walMinFreeBytes <= 1L << 40,
          "walMinFreeBytes",
          "must be 0 to 1 TiB, not " + walMinFreeBytes);
      check(poolSize >= 1 && poolSize <= 200, "poolSize", "must be 1 to 200, not " + poolSize);
      check(
          !mergeWindow.isNegative() && mergeWindow.compareTo(Duration.ofMinutes(10)) <= 0,
          "mergeWindow",
          "must be 0 to 10 minutes, not " + mergeWindow);
      Limits limits = config.limits();
      check(
          limits.commitRows() >= 1 && limits.commitRows() <= 100_000,
          "maxCommit",
          "rows must be 1 to 100,000, not " + limits.commitRows());
      check(
          limits.commitBytes() >= 1024 && limits.commitBytes() <= 12 << 20,
          "maxCommit",
          "bytes must be 1 KiB to 12 MiB, not " + limits.commitBytes());
      check(
          limits.rowBytes() >= 64 && limits.rowBytes() <= limits.commitBytes() / 2,
          "maxRowBytes",
          "must be 64 bytes to half of maxCommit's bytes, not " + limits.rowBytes());
      check(
          limits.inFlightCommits() >= 1,
          "maxInFlight",
          "commits must be at least 1, not " + limits.inFlightCommits());
      check(
          limits.inFlightBytes() >= limits.commitBytes(),
          "maxInFlight",
          "bytes must be at least those of one commit, "
              + limits.commitBytes()
              + ", not "
              + limits.inFlightBytes());
      check(
          limits.dirtyRowsPerOwner() >= limits.commitRows()
              && limits.dirtyRowsPerOwner() <= 1_000_000,
          "maxDirtyRowsPerOwner",
          "must be maxCommit's rows, %d, to 1,000,000, not %d"
              .formatted(limits.commitRows(), limits.dirtyRowsPerOwner()));
      check(limits.admissionMillis() >= 0, "maxInFlight", "wait must not be negative");
      check(
          limits.journalCommits() >= 0 && limits.journalCommits() <= 10_000_000,
          "maxJournal",
          "commits must be 0 to 10,000,000, not " + limits.journalCommits());
      check(
          limits.journalBytes() >= 0 && limits.journalBytes() <= 1 << 30,
          "maxJournal",
          "bytes must be 0 to 1 GiB, not " + limits.journalBytes());
      check(
          !journal.isNegative() && journal.compareTo(Duration.ofDays(1)) <= 0,
          "maxJournal",
          "time must be 0 to 1 day, not " + journal);
      return config;
    }

    private static void check(boolean ok, String setting, String must) {
      if (!ok) {
        throw new GameQueueException("setting '" + setting + "' " + must);
      }
    }
  }
}
