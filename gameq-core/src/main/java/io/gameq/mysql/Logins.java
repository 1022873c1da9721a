package io.gameq.mysql;

import com.mysql.cj.jdbc.NonRegisteringDriver;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Logs in to MySQL by the driver itself. {@code DriverManager} has one login timeout for the whole
 * JVM, which a pool would set for every other pool of the game. Immutable.
 */
final class Logins implements DataSource {
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
    return connection;
  }

  /**
   * How long a pool that is closed waits for the thread that adds connections; with 0 it warns each
   * time. A login is limited by {@code connectTimeout} and {@code socketTimeout}.
   */
  @Override
  public int getLoginTimeout() {
    return 1;
  }

  /** Does nothing; see {@link #getLoginTimeout}. */
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
