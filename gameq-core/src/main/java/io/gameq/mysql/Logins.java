package io.gameq.mysql;

import com.mysql.cj.jdbc.NonRegisteringDriver;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Logs in to MySQL by the driver itself, and to no server that is read-only. {@code DriverManager}
 * has one login timeout for the whole JVM, which a pool would set for every other pool of the game.
 * Immutable.
 */
final class Logins implements DataSource {
  /**
   * Whether writes are refused; super_read_only of MySQL switches read_only on as well, and that of
   * MariaDB 12 may be a word.
   */
  private static final String IS_READ_ONLY =
      "@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only";

  /**
   * The server's own number for what read_only refuses. What may write in spite of it must not
   * either: the primary is elsewhere, and this one takes over its rows.
   */
  static final int READ_ONLY_CODE = 1290;

  /**
   * What a connection that nobody used for a moment is tried with: a server that was demoted fails
   * it, and says why.
   */
  static final String TEST =
      "SET time_zone = IF(" + IS_READ_ONLY + ", 'none: it is read_only', '+00:00')";

  private static final NonRegisteringDriver DRIVER = driver();

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

  private static NonRegisteringDriver driver() {
    try {
      return new NonRegisteringDriver();
    } catch (SQLException e) {
      throw new IllegalStateException(e); // declared, and never thrown
    }
  }

  /** With the configured user, and the password as it is now. */
  @Override
  public Connection getConnection() throws SQLException {
    return getConnection(config.user(), config.password().read());
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    Properties login = new Properties();
    login.putAll(properties);
    login.setProperty("user", user);
    login.setProperty("password", password);
    Connection connection = DRIVER.connect(config.url(), login);
    if (connection == null) {
      throw new SQLException("the driver does not understand mysql.url", "08001");
    }
    try (Statement statement = connection.createStatement();
        ResultSet state = statement.executeQuery("SELECT " + IS_READ_ONLY)) {
      if (state.next() && state.getBoolean(1)) {
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
    return (int) Duration.ofMillis(MySqlPool.CONNECT_MILLIS).toSeconds();
  }

  /** Does nothing: {@code connectTimeout} and {@code socketTimeout} limit a login. */
  @Override
  public void setLoginTimeout(int seconds) {}

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(PrintWriter out) {}

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("the driver logs by SLF4J");
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("wraps nothing");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
