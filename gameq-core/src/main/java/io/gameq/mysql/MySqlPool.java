package io.gameq.mysql;

import com.mysql.cj.conf.PropertyKey;
import com.mysql.cj.conf.PropertySet;
import com.mysql.cj.jdbc.MysqlDataSource;
import com.mysql.cj.jdbc.NonRegisteringDriver;
import com.mysql.cj.log.Log;
import com.mysql.cj.protocol.ServerSession;
import com.mysql.cj.protocol.SocketConnection;
import com.mysql.cj.protocol.StandardSocketFactory;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.config.Password;
import io.gameq.config.Tls;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.tls.PemTls;
import io.gameq.tls.TlsRefusal;
import java.io.Closeable;
import java.io.IOException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.sql.DataSource;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the connection pools of all gameq parts, so that all of them read and write alike: UTC,
 * UTF-8, READ COMMITTED, a zero that stays a zero, statements prepared on the server. Stateless;
 * the pools are thread-safe.
 */
public final class MySqlPool {
  static final int CONNECT_MILLIS = 5_000;

  /**
   * For a free connection of a pool. The system property is for tests on a machine that stands
   * still for seconds.
   */
  private static final int WAIT_MILLIS = Integer.getInteger("gameq.mysqlWaitMillis", 5_000);

  /** Of a pool's first connection, each of {@link #WAIT_MILLIS}. */
  private static final int FIRST_ATTEMPTS = 6;

  /** A flush takes well under a second; a server that is silent for this long is away. */
  private static final int SOCKET_MILLIS = 20_000;

  private static final int LEAST_SOCKET_MILLIS = 1_000;

  private static final PropertyKey SOCKET_TIMEOUT = PropertyKey.socketTimeout;

  /**
   * Well below the silence after which a server counts as away: a lock is no outage. At least as
   * long as ALTER TABLE waits for others, who wait behind it meanwhile.
   */
  private static final int LOCK_WAIT_SECONDS = 6;

  /** The least that MySQL knows: a flush that waits for a lock holds up all its owners. */
  private static final int SHORT_LOCK_WAIT_SECONDS = 1;

  /**
   * A client that vanished in mid-transaction, with its host or its network, holds its locks for so
   * long. MySQL counts idle connections, too, which the pool tries more often.
   */
  private static final int MOST_IDLE_SECONDS = 35;

  /** The least that the pool knows. */
  private static final long TRY_IDLE_MILLIS = 30_000;

  /** MariaDB counts idle transactions by themselves. */
  private static final int MOST_IDLE_IN_TRANSACTION_SECONDS = 20;

  /** A waiting ALTER TABLE makes everybody else wait behind it: rather give up soon. */
  private static final int SCHEMA_LOCK_WAIT_SECONDS = 5;

  /**
   * Added to the server's own sql_mode: without it MySQL invents a number for a key of 0, another
   * one at every flush.
   */
  public static final String ZERO_IS_A_VALUE = "NO_AUTO_VALUE_ON_ZERO";

  /**
   * What gameq's statements and values rely on. Of the server's own mode only what says which dates
   * there are stays, and how literals are escaped, which the driver asks once; not what pads what
   * is read, takes text as NULL, cuts what it should round, or reads operators in another way.
   */
  private static final String OWN_MODE =
      "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO,"
          + ZERO_IS_A_VALUE;

  private static final List<String> MODES_OF_THE_SERVER =
      List.of("NO_ZERO_DATE", "NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES", "NO_BACKSLASH_ESCAPES");

  /** MySQL, but not MariaDB, else says for a day what AUTO_INCREMENT of a table was. */
  static final String EVERY_SESSION =
      ("SET time_zone = '+00:00', sql_mode = CONCAT_WS(',', '%s', %s),"
              + " /*!80003 information_schema_stats_expiry = 0, */ ")
          .formatted(
              OWN_MODE,
              MODES_OF_THE_SERVER.stream()
                  .map(mode -> "IF(FIND_IN_SET('%1$s', @@sql_mode), '%1$s', NULL)".formatted(mode))
                  .collect(Collectors.joining(", ")));

  /** The longest SQL whose parsed form a connection keeps, bytes. */
  private static final PropertyKey LONGEST_KEPT = PropertyKey.prepStmtCacheSqlLimit;

  /** Statements of several logins that go together are seldom the same again. */
  private static final String LONGEST_KEPT_OF_LOGINS = "8192";

  private static final Map<PropertyKey, String> DEFAULTS =
      Map.ofEntries(
          Map.entry(PropertyKey.prepStmtCacheSize, "250"),
          Map.entry(LONGEST_KEPT, "1048576"),
          Map.entry(PropertyKey.connectTimeout, Integer.toString(CONNECT_MILLIS)),
          Map.entry(PropertyKey.tcpKeepAlive, "true"));

  private MySqlPool() {}

  /**
   * A pool of connections that give up on a server which is silent for 20 s.
   *
   * @param purpose ends the pool's name, {@code gameq-<purpose>}, in logs and thread names
   * @throws GameQueueException when the server is away or refuses the login, with the remedy; no
   *     pool is left open then
   */
  public static MySql open(MySqlConfig config, String purpose) {
    Properties properties = properties(config, SOCKET_MILLIS);
    return open(config, purpose, properties, lockWaits(LOCK_WAIT_SECONDS, LOCK_WAIT_SECONDS));
  }

  /** The same for flushes, which wait only 1 s for a lock. */
  public static MySql openForFlushes(MySqlConfig config) {
    String lockWaits = lockWaits(SHORT_LOCK_WAIT_SECONDS, SHORT_LOCK_WAIT_SECONDS);
    return open(config, "writer", properties(config, SOCKET_MILLIS), lockWaits);
  }

  /**
   * The same for logins, which wait only 1 s for a row, and as long as anybody for a table: an
   * ALTER TABLE that waits gives up first. They also give up sooner on a server that is silent: a
   * login that nobody waits for any more is not to stand in the way of the next.
   */
  public static MySql openForLogins(MySqlConfig config, Duration mostSilence) {
    long millis = Math.max(LEAST_SOCKET_MILLIS, Math.min(SOCKET_MILLIS, mostSilence.toMillis()));
    Properties properties = properties(config, (int) millis);
    setUnlessGiven(config, properties, LONGEST_KEPT, LONGEST_KEPT_OF_LOGINS);
    String lockWaits = lockWaits(SHORT_LOCK_WAIT_SECONDS, LOCK_WAIT_SECONDS);
    return open(config, "node", properties, lockWaits);
  }

  /**
   * The same for ALTER TABLE, which may take hours and must not be cut off, but waits only 5 s for
   * a lock.
   */
  public static MySql openForSchema(MySqlConfig config) {
    Properties properties = properties(config, SOCKET_MILLIS);
    properties.setProperty(SOCKET_TIMEOUT.getKeyName(), "0");
    return open(config, "schema", properties, "lock_wait_timeout = " + SCHEMA_LOCK_WAIT_SECONDS);
  }

  private static String lockWaits(int rowSeconds, int tableSeconds) {
    return ("innodb_lock_wait_timeout = %s, lock_wait_timeout = %s, wait_timeout = %s"
            + " /*M!, idle_transaction_timeout = %s */")
        .formatted(rowSeconds, tableSeconds, MOST_IDLE_SECONDS, MOST_IDLE_IN_TRANSACTION_SECONDS);
  }

  private static Properties properties(MySqlConfig config, int socketMillis) {
    Properties properties = new Properties();
    DEFAULTS.forEach((name, value) -> setUnlessGiven(config, properties, name, value));
    setUnlessGiven(config, properties, SOCKET_TIMEOUT, Integer.toString(socketMillis));
    MySqlUrl.FORCED.forEach((name, value) -> properties.setProperty(name.getKeyName(), value));
    Tls tls = config.tls();
    if (tls != null) {
      properties.putAll(VerifiedSockets.properties(tls));
    }
    return properties;
  }

  private static void setUnlessGiven(
      MySqlConfig config, Properties properties, PropertyKey name, String value) {
    if (!config.sets(name)) {
      properties.setProperty(name.getKeyName(), value);
    }
  }

  private static MySql open(
      MySqlConfig config, String purpose, Properties properties, String limits) {
    connectOnce(config, properties);
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("gameq-" + purpose);
    // Asked for each new connection: a password that was changed needs no restart.
    pool.setDataSource(new Logins(config, properties));
    pool.setConnectionInitSql(EVERY_SESSION + limits);
    pool.setConnectionTestQuery(Logins.TEST);
    pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    pool.setAutoCommit(true);
    pool.setMaximumPoolSize(config.poolSize());
    pool.setMinimumIdle(Math.min(2, config.poolSize()));
    pool.setConnectionTimeout(WAIT_MILLIS);
    pool.setKeepaliveTime(TRY_IDLE_MILLIS);
    pool.setExceptionOverrideClassName(EvictionRule.class.getName());
    // Tried just now: the pool fills in the background.
    pool.setInitializationFailTimeout(-1);
    LoginPool opened =
        new LoginPool(pool, "MySQL at " + config.address() + " " + refusedLogin(config));
    awaitFirst(opened);
    return new MySql(opened);
  }

  /**
   * MySQL answered just now: what keeps the first connection waiting is a busy host, where a JVM
   * that starts has much to load. Whoever uses the pool is told when none comes at all.
   */
  private static void awaitFirst(LoginPool pool) {
    for (int attempt = 1; attempt <= FIRST_ATTEMPTS; attempt++) {
      try (Connection first = pool.getConnection()) {
        first.isReadOnly();
        return;
      } catch (SQLException e) {
        if (!(e instanceof SQLTransientConnectionException) || e.getCause() != null) {
          return; // the server has an answer, or is gone
        }
      }
    }
  }

  /** One plain connection, since the pool would log a stack trace and wrap the reason. */
  private static void connectOnce(MySqlConfig config, Properties properties) {
    Properties login = new Properties();
    login.putAll(properties);
    if ("0".equals(login.getProperty(SOCKET_TIMEOUT.getKeyName()))) {
      login.setProperty(SOCKET_TIMEOUT.getKeyName(), Integer.toString(SOCKET_MILLIS));
    }
    try (Connection connection = new Logins(config, login).getConnection()) {
      connection.isReadOnly();
    } catch (SQLException e) {
      GameQueueException ofFile = cause(e, GameQueueException.class);
      if (ofFile != null) { // of certificates: the driver wraps it
        throw ofFile;
      }
      String forAPerson = forAPerson(config, e);
      if (forAPerson != null) { // without the cause, which may say that the server is away
        throw new GameQueueException("MySQL at %s %s".formatted(config.address(), forAPerson));
      }
      throw new MySqlUnavailableException(
          "MySQL at %s %s".formatted(config.address(), mayPass(e)), e);
    }
  }

  /** The first exception of a type, this one or somewhere below it; null when there is none. */
  private static <T> @Nullable T cause(@Nullable Throwable e, Class<T> type) {
    return e == null || type.isInstance(e) ? type.cast(e) : cause(e.getCause(), type);
  }

  private static String refusedLogin(MySqlConfig config) {
    return "refuses the login of user '%s' with the password of %s: check both"
        .formatted(config.user(), config.password().source());
  }

  /**
   * Why a connection is refused until somebody does something, with the remedy; null for what may
   * pass by itself. Numbers: MySQL's and MariaDB's server error references; texts without a number
   * are the driver's.
   */
  private static @Nullable String forAPerson(MySqlConfig config, SQLException e) {
    String text = String.valueOf(e.getMessage());
    String user = "user '" + config.user() + "'";
    String untrusted = TlsRefusal.reason(e);
    if (untrusted != null) {
      return "cannot be trusted: " + untrusted;
    }
    if (text.contains("not provided by server")) {
      return "does not speak TLS: switch TLS on at the server";
    }
    if (text.contains("Public Key Retrieval is not allowed")) {
      return ("takes the password of %s over TLS alone: set mysql.tls, or sslMode=REQUIRED in"
              + " mysql.url")
          .formatted(user);
    }
    if (text.contains("Unable to load authentication plugin")) {
      return "wants an authentication of %s that the driver does not know: ALTER USER to use"
              .formatted(user)
          + " caching_sha2_password, or mysql_native_password of MariaDB";
    }
    if (LoginPool.isRefusedLogin(e)) {
      return refusedLogin(config);
    }
    return switch (e.getErrorCode()) {
      case 1044 ->
          ("has no database '%s' that %s may use: correct the name in mysql.url if it is misspelt,"
                  + " else grant the right to (MySQL tells no difference)")
              .formatted(config.database(), user);
      case 1049 ->
          "has no database '%s': create it, or correct mysql.url".formatted(config.database());
      case 1129 -> "has blocked this host after many errors: run mysqladmin flush-hosts there";
      case 1130 -> "takes no connection from this host: create %s for it".formatted(user);
      case 1227, 1251 -> "refuses %s: %s".formatted(user, MySqlText.of(e));
      case 1820, 1862 -> "says that the password of %s has expired: set a new one".formatted(user);
      case 3118, 4151 -> "has locked the account of %s: unlock it".formatted(user);
      case 3159, 4158 ->
          "takes connections over TLS alone: set mysql.tls, or sslMode=REQUIRED in mysql.url";
      default -> null;
    };
  }

  private static String mayPass(SQLException e) {
    if (cause(e, UnknownHostException.class) != null) {
      return "cannot be found: no address is known for that name";
    }
    return switch (e.getErrorCode()) {
      case 0 -> "does not answer: is it running, and is mysql.url right?";
      case Logins.READ_ONLY_CODE ->
          "is read_only: is this the primary, or will it be? Else give mysql.url its address";
      case 1040, 1203, 1226 -> "has no connection left: raise max_connections, or the user's limit";
      case 3032 -> "is in offline_mode: switch it off";
      case 1053 -> "is shutting down";
      default -> "takes no connection (error %s): %s".formatted(e.getErrorCode(), MySqlText.of(e));
    };
  }

  /**
   * Where MySQL is and how to log in; immutable.
   *
   * @param url {@code jdbc:mysql://host:port/database}, for MariaDB as well
   * @param password never shown
   * @param poolSize most connections at a time
   * @param tls whom to trust, and that TLS is used at all; null: what the URL says of TLS
   */
  public record MySqlConfig(
      String url, String user, Password password, int poolSize, @Nullable Tls tls) {
    /** More would only queue inside the server. */
    private static final int MAX_POOL_SIZE = 200;

    public MySqlConfig {
      var unused = MySqlUrl.parse(url);
      if (poolSize < 1 || poolSize > MAX_POOL_SIZE) {
        throw new GameQueueException(
            "mysql.poolSize is %s: use 1 to %s".formatted(poolSize, MAX_POOL_SIZE));
      }
    }

    /** With a password that does not change, and TLS as the URL says. */
    public MySqlConfig(String url, String user, String password, int poolSize) {
      this(url, user, Password.of(password), poolSize, null);
    }

    /** The same with another number of connections. */
    public MySqlConfig withPoolSize(int connections) {
      return new MySqlConfig(url, user, password, connections, tls);
    }

    /** {@code host:port}, without what a URL may carry besides; for messages. */
    public String address() {
      return MySqlUrl.parse(url).address();
    }

    /** The database's name, empty when the URL names none. */
    public String database() {
      return MySqlUrl.parse(url).database();
    }

    /** Whether the URL sets this driver property itself. */
    boolean sets(PropertyKey property) {
      return MySqlUrl.parse(url).options().containsKey(property.getKeyName());
    }

    @Override
    public String toString() {
      return "MySqlConfig[%s/%s, user=%s, poolSize=%s]"
          .formatted(address(), database(), user, poolSize);
    }
  }

  /**
   * Logs in to MySQL by the driver itself, and to no server that is read-only. {@code
   * DriverManager} has one login timeout for the whole JVM, which a pool would set for every other
   * pool of the game; of this one {@code connectTimeout} and {@code socketTimeout} limit a login.
   * Immutable.
   */
  private static final class Logins extends MysqlDataSource {
    /**
     * Whether writes are refused; super_read_only of MySQL switches read_only on as well, and that
     * of MariaDB 12 may be a word.
     */
    private static final String IS_READ_ONLY =
        "@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only";

    /**
     * The server's own number for what read_only refuses. What may write in spite of it must not
     * either: the primary is elsewhere, and this one takes over its rows.
     */
    private static final int READ_ONLY_CODE = 1290;

    /**
     * What a connection that nobody used for a moment is tried with: a server that was demoted
     * fails it, and says why.
     */
    private static final String TEST =
        "SET time_zone = IF(" + IS_READ_ONLY + ", 'none: it is read_only', '+00:00')";

    private final MySqlConfig config;
    private final Properties properties;

    /**
     * Connects nowhere yet.
     *
     * @param properties of each connection, without user and password
     */
    Logins(MySqlConfig config, Properties properties) {
      this.config = config;
      this.properties = properties;
    }

    /** With the configured user, and the password as it is now. */
    @Override
    public Connection getConnection() throws SQLException {
      Properties login = new Properties();
      login.putAll(properties);
      login.setProperty("user", config.user());
      login.setProperty("password", config.password().read());
      Connection connection = new NonRegisteringDriver().connect(config.url(), login);
      if (connection == null) {
        throw new SQLException("the driver does not understand mysql.url", "08001");
      }
      try {
        if (Sql.exists(connection, "SELECT 1 FROM DUAL WHERE " + IS_READ_ONLY)) {
          throw new SQLTransientConnectionException(
              "it is read_only: no primary, or not yet", "08004", READ_ONLY_CODE);
        }
        return connection;
      } catch (SQLException e) {
        connection.close();
        throw e;
      }
    }

    /** How long a pool that is closed waits for a login that is under way, s. */
    @Override
    public int getLoginTimeout() {
      return (int) Duration.ofMillis(CONNECT_MILLIS).toSeconds();
    }
  }

  /**
   * A pool that says so when the server refuses its login, as it does while a password is changed.
   * Thread-safe. The pool goes on trying, with the password as it is by then.
   */
  private static final class LoginPool extends HikariDataSource {
    private static final Logger LOG = LoggerFactory.getLogger(LoginPool.class);

    private static final long COMPLAIN_EVERY_SECONDS = 10;

    private final RepeatedWarnings complaints = new RepeatedWarnings(COMPLAIN_EVERY_SECONDS);
    private final String refusal;

    /**
     * Opens nothing yet.
     *
     * @param refusal what to say, with user and source of the password
     */
    LoginPool(HikariConfig config, String refusal) {
      super(config);
      this.refusal = refusal;
    }

    @Override
    public Connection getConnection() throws SQLException {
      try {
        return super.getConnection();
      } catch (SQLException e) {
        // What is wrong with the file of a password or of certificates.
        GameQueueException ofFile = cause(e, GameQueueException.class);
        String told = isRefusedLogin(e) ? refusal : ofFile == null ? null : ofFile.getMessage();
        if (told != null) {
          complaints.about("login", LOG::warn, () -> told + "; trying again");
        }
        throw e;
      }
    }

    /** Whether the server knows no such user and password; the pool wraps what it was told. */
    private static boolean isRefusedLogin(@Nullable Throwable e) {
      return e != null
          && ((e instanceof SQLException sql
                  && (sql.getErrorCode() == 1045
                      || ("28000".equals(sql.getSQLState()) && sql.getErrorCode() != 1044)))
              || isRefusedLogin(e.getCause()));
    }
  }

  /**
   * Which connections a pool gives up: those to a server that has become read-only, so that the
   * next one goes to where the primary is by then. And which it keeps although something failed on
   * them: its own rule closes one after "this server cannot do that", and after a statement that
   * took too long and was ended, which both leave it as it was. Stateless.
   *
   * <p>Made by the pool, from its name: HikariCP 5 takes it no other way, and some games have that.
   */
  public static final class EvictionRule implements SQLExceptionOverride {
    /** Read-only: by option (1290), of InnoDB (1836), a transaction on a replica (1792). */
    private static final Set<Integer> READ_ONLY = Set.of(Logins.READ_ONLY_CODE, 1836, 1792);

    /** HikariCP 5 knows no such word: there the test of the next borrower finds it. */
    private static final SQLExceptionOverride.Override GIVE_UP =
        Arrays.stream(SQLExceptionOverride.Override.values())
            .filter(of -> of.name().equals("MUST_EVICT"))
            .findFirst()
            .orElse(SQLExceptionOverride.Override.CONTINUE_EVICT);

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException e) {
      if (READ_ONLY.contains(e.getErrorCode())) {
        return GIVE_UP;
      }
      return "0A000".equals(e.getSQLState()) || e instanceof SQLTimeoutException
          ? SQLExceptionOverride.Override.DO_NOT_EVICT
          : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
  }

  /**
   * A database as the parts of a process pass it around: its connections, and Jdbi over them. Who
   * is outside the {@code mysql} packages holds and closes it, and never looks inside. Thread-safe.
   */
  public static final class MySql implements AutoCloseable {
    private static final int ANSWER_SECONDS = 5;

    private final DataSource connections;
    private final Jdbi jdbi;

    /** Over connections from any source; a pool is closed with this. */
    public MySql(DataSource connections) {
      this.connections = connections;
      this.jdbi = Jdbi.create(connections);
    }

    DataSource connections() {
      return connections;
    }

    /**
     * A connection, which the caller closes.
     *
     * @throws SQLException when the server is away
     */
    public Connection connection() throws SQLException {
      return connections.getConnection();
    }

    public Jdbi jdbi() {
      return jdbi;
    }

    /** Asks; throws {@link io.gameq.MySqlException} with the server's message when it fails. */
    public <T> T ask(HandleCallback<T, SQLException> call) {
      return MySqlErrors.mysql(() -> jdbi.withHandle(call));
    }

    /** Asks as {@link #ask}, up to three times when others hold locks. */
    public <T> T askAgain(HandleCallback<T, SQLException> call) {
      return MySqlErrors.mysqlAgain(() -> jdbi.withHandle(call));
    }

    /** All rows that a query finds; throws as {@link #ask}. */
    public <T> List<T> list(String sql, Sql.Reader<T> reader, Object... arguments) {
      return ask(handle -> Sql.list(handle.getConnection(), sql, reader, arguments));
    }

    /** Runs a statement as {@link #askAgain}; returns how many rows it changed. */
    public int execute(String sql, Object... arguments) {
      return askAgain(handle -> Sql.execute(handle.getConnection(), sql, arguments));
    }

    /** Asks as {@link #askAgain}, each time in one transaction. */
    public <T> T inTransaction(HandleCallback<T, SQLException> call) {
      return MySqlErrors.mysqlAgain(() -> jdbi.inTransaction(call));
    }

    /** Whether the server answers a query within a few seconds. */
    public boolean answers() {
      try (Connection connection = connections.getConnection()) {
        return connection.isValid(ANSWER_SECONDS);
      } catch (SQLException e) {
        return false;
      }
    }

    /**
     * Whether a pool has any connection, busy ones counted: none while the server lets nobody in.
     */
    public boolean hasConnections() {
      return !(connections instanceof HikariDataSource pool)
          || pool.getHikariPoolMXBean().getTotalConnections() > 0;
    }

    /** Takes out a connection that may lead to a demoted server: the next is looked up afresh. */
    public void evict(Connection connection) {
      if (connections instanceof HikariDataSource pool) {
        pool.evictConnection(connection);
      }
    }

    /** Closes the pool. */
    @Override
    public void close() {
      if (connections instanceof HikariDataSource pool) {
        pool.close();
      }
    }
  }

  /**
   * Connects the driver over TLS to a server whose certificate fits. The driver itself takes key
   * stores only, in files of their own: these are PEM files, read for each connection, with nothing
   * written to a disk. Made by the driver; one for each connection.
   */
  @SuppressWarnings("TypeParameterUnusedInFormals") // the driver's interface
  public static final class VerifiedSockets extends StandardSocketFactory {
    private @Nullable String askedHost;
    private int askedPort;
    private @Nullable PropertySet settings;

    /** What has the driver use this class for a connection. */
    static Map<String, String> properties(Tls tls) {
      Map<String, String> properties = new TreeMap<>();
      properties.put("sslMode", "VERIFY_IDENTITY"); // no connection without TLS
      properties.put("socketFactory", VerifiedSockets.class.getName());
      if (tls.caFile() != null) {
        properties.put("trustCertificateKeyStoreUrl", tls.caFile().toString());
      }
      if (tls.clientFile() != null) {
        properties.put("clientCertificateKeyStoreUrl", tls.clientFile().toString());
      }
      return properties;
    }

    @Override
    public <T extends Closeable> T connect(
        String hostname, int portNumber, PropertySet propertySet, int loginTimeout)
        throws IOException {
      askedHost = hostname;
      askedPort = portNumber;
      settings = propertySet;
      return super.connect(hostname, portNumber, propertySet, loginTimeout);
    }

    @Override
    public <T extends Closeable> T performTlsHandshake(
        SocketConnection connection, ServerSession session) throws IOException {
      return performTlsHandshake(connection, session, null);
    }

    @Override
    @SuppressWarnings("unchecked") // by the driver's interface
    public <T extends Closeable> T performTlsHandshake(
        SocketConnection connection, ServerSession session, @Nullable Log log) throws IOException {
      SSLSocket tls =
          (SSLSocket)
              PemTls.context(
                      file(PropertyKey.trustCertificateKeyStoreUrl),
                      file(PropertyKey.clientCertificateKeyStoreUrl))
                  .getSocketFactory()
                  .createSocket(rawSocket, askedHost, askedPort, true);
      SSLParameters parameters = tls.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS"); // the host is the certificate's
      tls.setSSLParameters(parameters);
      tls.startHandshake();
      sslSocket = tls;
      return (T) tls;
    }

    private @Nullable Path file(PropertyKey key) {
      String name = settings == null ? null : settings.getStringProperty(key).getValue();
      return name == null ? null : Path.of(name);
    }
  }
}
