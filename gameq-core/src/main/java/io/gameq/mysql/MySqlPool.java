package io.gameq.mysql;

import com.mysql.cj.conf.PropertyKey;
import com.zaxxer.hikari.HikariConfig;
import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.Tls;
import io.gameq.tls.TlsRefusal;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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
    return open(
        config,
        purpose,
        givingUpAfter(config, SOCKET_MILLIS),
        LOCK_WAIT_SECONDS,
        LOCK_WAIT_SECONDS);
  }

  /** The same for flushes, which wait only 1 s for a lock. */
  public static MySql openForFlushes(MySqlConfig config) {
    return open(
        config,
        "writer",
        givingUpAfter(config, SOCKET_MILLIS),
        SHORT_LOCK_WAIT_SECONDS,
        SHORT_LOCK_WAIT_SECONDS);
  }

  /**
   * The same for logins, which wait only 1 s for a row, and as long as anybody for a table: an
   * ALTER TABLE that waits gives up first. They also give up sooner on a server that is silent: a
   * login that nobody waits for any more is not to stand in the way of the next.
   */
  public static MySql openForLogins(MySqlConfig config, Duration mostSilence) {
    long millis = Math.max(LEAST_SOCKET_MILLIS, Math.min(SOCKET_MILLIS, mostSilence.toMillis()));
    Properties properties = givingUpAfter(config, (int) millis);
    setUnlessGiven(config, properties, LONGEST_KEPT, LONGEST_KEPT_OF_LOGINS);
    return open(config, "node", properties, SHORT_LOCK_WAIT_SECONDS, LOCK_WAIT_SECONDS);
  }

  private static MySql open(
      MySqlConfig config,
      String purpose,
      Properties properties,
      int rowLockSeconds,
      int tableLockSeconds) {
    return open(
        config,
        purpose,
        properties,
        EVERY_SESSION
            + ("innodb_lock_wait_timeout = %s, lock_wait_timeout = %s, wait_timeout = %s"
                    + " /*M!, idle_transaction_timeout = %s */")
                .formatted(
                    rowLockSeconds,
                    tableLockSeconds,
                    MOST_IDLE_SECONDS,
                    MOST_IDLE_IN_TRANSACTION_SECONDS));
  }

  /**
   * The same for ALTER TABLE, which may take hours and must not be cut off, but waits only 5 s for
   * a lock.
   */
  public static MySql openForSchema(MySqlConfig config) {
    Properties properties = properties(config);
    properties.setProperty(SOCKET_TIMEOUT.getKeyName(), "0");
    return open(
        config,
        "schema",
        properties,
        EVERY_SESSION + "lock_wait_timeout = " + SCHEMA_LOCK_WAIT_SECONDS);
  }

  private static Properties givingUpAfter(MySqlConfig config, int socketMillis) {
    Properties properties = properties(config);
    setUnlessGiven(config, properties, SOCKET_TIMEOUT, Integer.toString(socketMillis));
    return properties;
  }

  private static void setUnlessGiven(
      MySqlConfig config, Properties properties, PropertyKey name, String value) {
    if (!config.sets(name)) {
      properties.setProperty(name.getKeyName(), value);
    }
  }

  private static Properties properties(MySqlConfig config) {
    Properties properties = new Properties();
    DEFAULTS.forEach((name, value) -> setUnlessGiven(config, properties, name, value));
    MySqlUrl.FORCED.forEach((name, value) -> properties.setProperty(name.getKeyName(), value));
    Tls tls = config.tls();
    if (tls != null) {
      properties.putAll(VerifiedSockets.properties(tls));
    }
    return properties;
  }

  private static MySql open(
      MySqlConfig config, String purpose, Properties properties, String initSql) {
    connectOnce(config, properties);
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("gameq-" + purpose);
    // Asked for each new connection: a password that was changed needs no restart.
    pool.setDataSource(new Logins(config, properties));
    pool.setConnectionInitSql(initSql);
    pool.setConnectionTestQuery(Logins.TEST);
    pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    pool.setAutoCommit(true);
    pool.setMaximumPoolSize(config.poolSize());
    pool.setMinimumIdle(Math.min(2, config.poolSize()));
    pool.setConnectionTimeout(WAIT_MILLIS);
    pool.setKeepaliveTime(TRY_IDLE_MILLIS);
    pool.setExceptionOverrideClassName(KeepsUnharmed.class.getName());
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
      GameQueueException ofFile = ofFile(e);
      if (ofFile != null) {
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

  /** What was wrong with a file of certificates: the driver wraps it. */
  private static @Nullable GameQueueException ofFile(@Nullable Throwable e) {
    return e == null || e instanceof GameQueueException
        ? (GameQueueException) e
        : ofFile(e.getCause());
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
          "does not let %s use database '%s': grant it the right to"
              .formatted(user, config.database());
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
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnknownHostException) {
        return "cannot be found: no address is known for that name";
      }
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
}
