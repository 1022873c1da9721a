package io.gameq.config;

import io.gameq.CommitReceipt;
import io.gameq.Conflict;
import io.gameq.GameQueueException;
import io.gameq.Pressure;
import io.gameq.QueueFullException;
import io.gameq.WalFullException;
import io.gameq.topic.Limits;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Collects the settings of a {@link GameQueueConfig}; may go on after {@link #build}, which no
 * built configuration notices. Not thread-safe.
 */
public final class GameQueueConfigBuilder {
  private @Nullable String redisUri;
  private @Nullable String redisUser;
  private @Nullable Password redisPassword;
  private @Nullable String sentinelUser;
  private @Nullable Password sentinelPassword;
  private @Nullable Tls redisTls;
  private @Nullable String jdbcUrl;
  private @Nullable String mysqlUser;
  private Password mysqlPassword = Password.of("");
  private @Nullable Tls mysqlTls;
  private int poolSize = 8;
  private @Nullable String namespace;
  private @Nullable String node;
  private @Nullable Path walDirectory;
  private Duration walKeep = WalLimits.DEFAULT.keep();
  private Duration messageKeep = GameQueueConfig.DEFAULT_MESSAGE_KEEP;
  private long walMaxBytes = WalLimits.DEFAULT.maxBytes();
  private long walMinFreeBytes = WalLimits.DEFAULT.minFreeBytes();
  private WalSync walSync = WalLimits.DEFAULT.sync();
  private EarlierWals earlierWals = EarlierWals.REPLAY;
  private int slots = GameQueueConfig.DEFAULT_SLOTS;
  private Duration mergeWindow = Duration.ofSeconds(1);
  private Duration linger = Duration.ofMillis(1);
  private int rowBytes = Limits.DEFAULT.rowBytes();
  private int commitRows = Limits.DEFAULT.commitRows();
  private int commitBytes = Limits.DEFAULT.commitBytes();
  private int inFlightCommits = Limits.DEFAULT.inFlightCommits();
  private int inFlightBytes = Limits.DEFAULT.inFlightBytes();
  private int dirtyRowsPerOwner = Limits.DEFAULT.dirtyRowsPerOwner();
  private int dirtyBytesPerOwner = Limits.DEFAULT.dirtyBytesPerOwner();
  private Duration admission = Duration.ofMillis(Limits.DEFAULT.admissionMillis());
  private Duration callTimeout = Duration.ofSeconds(15);
  private WhenRedisIsFull whenRedisIsFull = WhenRedisIsFull.FAIL;
  private WhenCommitFails whenCommitFails = WhenCommitFails.END_SESSION;
  private WhenRedisIsAway whenRedisIsAway = WhenRedisIsAway.JOURNAL;
  private int journalCommits = Limits.DEFAULT.journalCommits();
  private int journalBytes = Limits.DEFAULT.journalBytes();
  private Duration journal = Duration.ofMillis(Limits.DEFAULT.journalMillis());
  private Duration maxConflictWait = Duration.ofMinutes(10);
  private Consumer<Conflict> onConflict = conflict -> {};
  private Consumer<Throwable> onFailure = failure -> {};
  private final Map<Pressure.Of, PressureLimit> pressureLimits = new EnumMap<>(Pressure.Of.class);
  private Duration maxSlowdown = Duration.ofMillis(100);
  private Consumer<Pressure> onPressure = pressure -> {};
  private @Nullable Executor callbacks;
  private Clock clock = Clock.systemUTC();

  GameQueueConfigBuilder() {}

  /** The host's clock, for tests of clocks that are wrong. */
  public GameQueueConfigBuilder clock(Clock clock) {
    this.clock = clock;
    return this;
  }

  /**
   * {@code redis://host:port} or {@code redis-sentinel://host:port,host:port#primary}; {@code
   * rediss} instead of {@code redis} for TLS. Required.
   */
  public GameQueueConfigBuilder redis(String uri) {
    this.redisUri = uri;
    return this;
  }

  /** The Redis user; by default the one of the URI, else Redis' default user. */
  public GameQueueConfigBuilder redisUser(String user) {
    this.redisUser = user;
    return this;
  }

  /** The Redis password; none by default. */
  public GameQueueConfigBuilder redisPassword(String password) {
    return redisPassword(Password.of(password));
  }

  /** The Redis password, read again for each new connection: it may change while gameq runs. */
  public GameQueueConfigBuilder redisPassword(Password password) {
    this.redisPassword = password;
    return this;
  }

  /**
   * The login to the Sentinels themselves; by default none, whatever Redis' is.
   *
   * @param user null: the default user
   */
  public GameQueueConfigBuilder sentinelLogin(@Nullable String user, Password password) {
    this.sentinelUser = user;
    this.sentinelPassword = password;
    return this;
  }

  /**
   * Whom to trust over TLS; by default, with a {@code rediss} URI, the CAs that the JVM trusts.
   * Needs a {@code rediss} URI.
   */
  public GameQueueConfigBuilder redisTls(Tls tls) {
    this.redisTls = tls;
    return this;
  }

  /** {@code jdbc:mysql://host:port/database} and the login. Required. */
  public GameQueueConfigBuilder mysql(String jdbcUrl, String user, String password) {
    if (password == null) { // by a caller without nullness checks
      throw new GameQueueException(
          "setting 'mysql': the password is null; is an environment variable not set?");
    }
    return mysql(jdbcUrl, user, Password.of(password));
  }

  /** The same with a password that is read again for each new connection. */
  public GameQueueConfigBuilder mysql(String jdbcUrl, String user, Password password) {
    this.jdbcUrl = jdbcUrl;
    this.mysqlUser = user;
    this.mysqlPassword = password;
    return this;
  }

  /**
   * Connects to MySQL over TLS alone, and to a server that is trusted alone. By default the URL
   * says ({@code sslMode}) whether TLS is used.
   */
  public GameQueueConfigBuilder mysqlTls(Tls tls) {
    this.mysqlTls = tls;
    return this;
  }

  /** Connections to MySQL, which opens and reads use; default 8, 1 to 200. */
  public GameQueueConfigBuilder poolSize(int connections) {
    this.poolSize = connections;
    return this;
  }

  /** Names the game in all Redis keys: 1 to 32 of a-z 0-9 _ -. Required; fixed for a database. */
  public GameQueueConfigBuilder namespace(String namespace) {
    this.namespace = namespace;
    return this;
  }

  /**
   * Names this node in WALs and in gameq_owner: 1 to 64 of A-Z a-z 0-9 . _ -. Required. Of two that
   * are alive with one name the second is refused at start, after 18 s.
   */
  public GameQueueConfigBuilder node(String node) {
    this.node = node;
    return this;
  }

  /**
   * Where this process makes its WAL directory: a local file system, kept across restarts.
   * Required.
   */
  public GameQueueConfigBuilder walDirectory(Path directory) {
    this.walDirectory = directory;
    return this;
  }

  /**
   * How long the WAL keeps what is in MySQL already, also after this node has closed; default 1 h,
   * 0 to 30 days. A MySQL replica that is promoted may have lost commits of the last moments.
   */
  public GameQueueConfigBuilder walKeep(Duration time) {
    this.walKeep = time;
    return this;
  }

  /**
   * How long the WAL of a running node keeps messages that Redis holds; default 10 min, 10 s to 1
   * day. What a failover of Redis loses is put back from there. Messages are kept while walMaxBytes
   * allow, and older ones are Redis' alone: one without persistence that is emptied loses them.
   */
  public GameQueueConfigBuilder messageKeep(Duration time) {
    this.messageKeep = time;
    return this;
  }

  /**
   * Most bytes of this node's WAL, and of those that ended complete beside it; default 4 GiB, at
   * least 256 MiB. Beyond it, what is in MySQL goes before walKeep is over, and what little of the
   * oldest files waits is carried forward; when more than a quarter is still needed, commits fail
   * with {@link WalFullException}.
   */
  public GameQueueConfigBuilder walMaxBytes(long bytes) {
    this.walMaxBytes = bytes;
    return this;
  }

  /**
   * Free bytes that the WAL leaves on its file system; default 1 GiB, 0 to 1 TiB. Below it, commits
   * fail with {@link WalFullException} until there is room again.
   */
  public GameQueueConfigBuilder walMinFreeBytes(long bytes) {
    this.walMinFreeBytes = bytes;
    return this;
  }

  /** Whether the WAL survives a power loss; default {@link WalSync#OFF}. */
  public GameQueueConfigBuilder walSync(WalSync sync) {
    this.walSync = sync;
    return this;
  }

  /**
   * What to do with WALs that earlier starts of a node of this name left incomplete; default {@link
   * EarlierWals#REPLAY}, which takes the time of reading them two or three times (a few seconds for
   * each GiB) and of asking Redis and MySQL about each row, at every start until they are removed,
   * and a tenth of the heap at most; where that is too little for all rows it reads them more
   * often.
   */
  public GameQueueConfigBuilder earlierWals(EarlierWals policy) {
    this.earlierWals = policy;
    return this;
  }

  /** Shards of owners: a power of two, 1 to 1024; default 256; fixed for a database. */
  public GameQueueConfigBuilder slots(int slots) {
    this.slots = slots;
    return this;
  }

  /**
   * How long a dirty owner waits so that later changes merge into one flush; default 1 s, 0 to 10
   * min.
   */
  public GameQueueConfigBuilder mergeWindow(Duration window) {
    this.mergeWindow = window;
    return this;
  }

  /**
   * How long a commit may wait for others that travel with it to Redis, where they come often;
   * default 1 ms, 0 to 100 ms. Until then it is neither in the WAL nor in Redis. One is sent at
   * once when it is urgent, or {@code awaitQueued} is called.
   */
  public GameQueueConfigBuilder linger(Duration time) {
    this.linger = time;
    return this;
  }

  /**
   * Most encoded bytes of one row; default 2 MiB. A larger row is refused when it is put. At most
   * half of maxCommitBytes.
   */
  public GameQueueConfigBuilder maxRowBytes(int bytes) {
    this.rowBytes = bytes;
    return this;
  }

  /**
   * Most rows (default 1,000) and bytes (default 8 MiB, at most 12 MiB) of one commit. A larger one
   * is refused when it is committed.
   */
  public GameQueueConfigBuilder maxCommit(int rows, int bytes) {
    this.commitRows = rows;
    this.commitBytes = bytes;
    return this;
  }

  /**
   * Most commits (default 50,000, at most 10,000,000) and bytes (default 64 MiB, at most 1 GiB) of
   * this node that wait for Redis, and how long a commit waits for room (default 5 s, at most a
   * day; zero refuses at once).
   */
  public GameQueueConfigBuilder maxInFlight(int commits, int bytes, Duration wait) {
    this.inFlightCommits = commits;
    this.inFlightBytes = bytes;
    this.admission = wait;
    return this;
  }

  /**
   * Most distinct rows of one owner that wait for MySQL; default 20,000, at least maxCommit's rows,
   * at most 1,000,000. A commit that would pass it waits as long as maxInFlight says, then fails
   * with QueueFullException. A writer takes an owner's rows at once: more of them need more memory
   * in Redis and writers.
   */
  public GameQueueConfigBuilder maxDirtyRowsPerOwner(int rows) {
    this.dirtyRowsPerOwner = rows;
    return this;
  }

  /**
   * Most bytes of these rows, with their keys; default 32 MiB, at least maxCommit's bytes, at most
   * 256 MiB. For the rest as {@link #maxDirtyRowsPerOwner}.
   */
  public GameQueueConfigBuilder maxDirtyBytesPerOwner(int bytes) {
    this.dirtyBytesPerOwner = bytes;
    return this;
  }

  /**
   * How long an open or a read may take, and a close may hold the thread that calls it; default 15
   * s, 100 ms to 10 min. Then it fails with a {@link GameQueueException}; an open that succeeds
   * later is given up, a close goes on.
   */
  public GameQueueConfigBuilder callTimeout(Duration time) {
    callTimeout = time;
    return this;
  }

  /**
   * What becomes of a session of which a commit failed; default {@link
   * WhenCommitFails#END_SESSION}.
   */
  public GameQueueConfigBuilder whenCommitFails(WhenCommitFails policy) {
    whenCommitFails = policy;
    return this;
  }

  /** What becomes of commits while Redis is at maxmemory; default {@link WhenRedisIsFull#FAIL}. */
  public GameQueueConfigBuilder whenRedisIsFull(WhenRedisIsFull policy) {
    this.whenRedisIsFull = policy;
    return this;
  }

  /** What becomes of commits while Redis is away; default {@link WhenRedisIsAway#JOURNAL}. */
  public GameQueueConfigBuilder whenRedisIsAway(WhenRedisIsAway policy) {
    this.whenRedisIsAway = policy;
    return this;
  }

  /**
   * Most commits (default 200,000) and bytes (default 256 MiB, at most 1 GiB) that may be journaled
   * while Redis is away, beside those of maxInFlight, and for how long (default 5 min, at most 1
   * day). They are kept in memory as well as in the WAL. A commit that finds no room waits as
   * maxInFlight says, then fails with QueueFullException; after the time it fails with
   * RedisUnavailableException. What was journaled is sent when Redis is back, however late.
   */
  public GameQueueConfigBuilder maxJournal(int commits, int bytes, Duration time) {
    this.journalCommits = commits;
    this.journalBytes = bytes;
    this.journal = time;
    return this;
  }

  /**
   * How long a change that Redis lost is not reported while another node, which may have taken it
   * over, has not put back what it had (default 10 min, 1 s to 1 day): that node may be healing, or
   * be gone. After it the change is reported as one that {@linkplain Conflict#mayComeBack may come
   * back}. Shorter than a node may be cut off from Redis, such reports are more frequent.
   */
  public GameQueueConfigBuilder maxConflictWait(Duration wait) {
    this.maxConflictWait = wait;
    return this;
  }

  /**
   * Told of every acknowledged change that a Redis failover lost and that was not replayed, because
   * another node had taken the owner over; called as {@link #callbacks} says. Logged as an error in
   * any case.
   */
  public GameQueueConfigBuilder onConflict(Consumer<Conflict> listener) {
    this.onConflict = listener;
    return this;
  }

  /**
   * Told once when this node cannot go on, with the cause: its sender died of an error, as when
   * memory ran out. From then on commits and opens fail, and its owners count as free for {@link
   * Takeover#UNLESS_ALIVE}; close the node and start it again. Called as {@link #callbacks} says.
   */
  public GameQueueConfigBuilder onFailure(Consumer<Throwable> listener) {
    this.onFailure = listener;
    return this;
  }

  /**
   * Pushes back when the oldest change of the whole game waits for MySQL for this long (1 s to a
   * week); not set by default. What waits is looked at every 5 s, once for all nodes and writers,
   * so that it is known up to 6 s late. Owners that are held up do not count: MySQL refused a row
   * of theirs or its table, which delays nobody else. A pressure ends a tenth below its threshold,
   * and when nobody could look for 20 s.
   */
  public GameQueueConfigBuilder pushBackAtAge(Duration age, PushBack policy) {
    return pushBackAt(Pressure.Of.AGE, age.toMillis() / 1_000.0, policy);
  }

  /**
   * Pushes back when about so many rows of the whole game wait for MySQL (1 to 1,000,000,000); not
   * set by default. For the rest as {@link #pushBackAtAge}.
   */
  public GameQueueConfigBuilder pushBackAtRows(long rows, PushBack policy) {
    return pushBackAt(Pressure.Of.ROWS, (double) rows, policy);
  }

  /**
   * Pushes back when Redis has this share of its {@code maxmemory} in use (0.1 to 1); not set by
   * default, and never reached without a {@code maxmemory}. For the rest as {@link #pushBackAtAge}.
   */
  public GameQueueConfigBuilder pushBackAtMemory(double share, PushBack policy) {
    return pushBackAt(Pressure.Of.MEMORY, share, policy);
  }

  private GameQueueConfigBuilder pushBackAt(Pressure.Of of, double value, PushBack policy) {
    pressureLimits.put(of, new PressureLimit(of, value, policy));
    return this;
  }

  /**
   * Most that {@link PushBack#SLOW} holds up one commit; default 100 ms, 1 ms to 10 s, and never
   * longer than the wait of maxInFlight.
   */
  public GameQueueConfigBuilder maxSlowdown(Duration wait) {
    this.maxSlowdown = wait;
    return this;
  }

  /**
   * Told when a threshold of {@link #pushBackAtAge}, {@link #pushBackAtRows} or {@link
   * #pushBackAtMemory} is passed, and when that ends; called as {@link #callbacks} says. Logged in
   * any case.
   */
  public GameQueueConfigBuilder onPressure(Consumer<Pressure> listener) {
    this.onPressure = listener;
    return this;
  }

  /**
   * Where the game's own code runs: what it hangs on the futures of a {@link CommitReceipt}, and
   * its listeners; one after another and in order. By default on a thread that gameq makes. Code
   * that blocks there delays what comes after it, and nothing else; when more than 100,000 calls
   * wait, commits wait as long as maxInFlight says, then fail with {@link QueueFullException}: so
   * an executor that runs on the thread that commits, as a game loop's, must not fall so far
   * behind. What the executor was given and has not begun when the node is closed runs on the
   * thread that closes it.
   */
  public GameQueueConfigBuilder callbacks(Executor executor) {
    this.callbacks = executor;
    return this;
  }

  /**
   * Checks every setting.
   *
   * @throws GameQueueException naming the setting and the remedy
   */
  public GameQueueConfig build() {
    return new GameQueueConfig(
        set(redisUri, "redis"),
        redisUser,
        redisPassword,
        sentinelUser,
        sentinelPassword,
        redisTls,
        set(jdbcUrl, "mysql"),
        set(mysqlUser, "mysql"),
        mysqlPassword,
        mysqlTls,
        poolSize,
        set(namespace, "namespace"),
        set(node, "node"),
        set(walDirectory, "walDirectory"),
        WalLimits.of(walKeep, walMaxBytes, walMinFreeBytes, walSync),
        messageKeep,
        earlierWals,
        slots,
        mergeWindow,
        linger,
        new Limits(
            rowBytes,
            commitRows,
            commitBytes,
            inFlightCommits,
            inFlightBytes,
            dirtyRowsPerOwner,
            dirtyBytesPerOwner,
            admission.toMillis(),
            journalCommits,
            journalBytes,
            journal.toMillis()),
        callTimeout,
        whenRedisIsFull,
        whenRedisIsAway,
        whenCommitFails,
        maxConflictWait,
        onConflict,
        onFailure,
        List.copyOf(pressureLimits.values()),
        maxSlowdown,
        onPressure,
        callbacks,
        clock);
  }

  private static <T> T set(@Nullable T value, String setting) {
    if (value == null) {
      throw new GameQueueException(
          "setting '" + setting + "' is missing: call ." + setting + "(...) before build()");
    }
    return value;
  }
}
