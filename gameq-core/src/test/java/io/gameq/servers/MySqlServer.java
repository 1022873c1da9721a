package io.gameq.servers;

import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.rights.MySqlRights;
import io.gameq.rights.MySqlRights.Role;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A MySQL or MariaDB for tests, or one database of it; immutable.
 *
 * @param jdbcUrl without a database, or with the fresh one; parameters of a given URL are kept
 */
public record MySqlServer(String jdbcUrl, String user, String password) {
  private static final AtomicInteger DATABASES = new AtomicInteger();

  /** Begins the names of the users with the least rights, and is their password. */
  private static final String LEAST = "least";

  /** Creates an empty database of a name that no other test run uses. */
  public MySqlServer freshDatabase(String prefix) {
    String name =
        "%s_%d_%d_%d"
            .formatted(
                prefix,
                ProcessHandle.current().pid(),
                System.currentTimeMillis(),
                DATABASES.incrementAndGet());
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE `" + name + "` CHARACTER SET utf8mb4");
    } catch (SQLException e) {
      throw new IllegalStateException("cannot create a test database at " + jdbcUrl, e);
    }
    return new MySqlServer(withDatabase(name), user, password);
  }

  /**
   * Makes the users with the least rights on this database, by the script that operators run: those
   * to gameq's own tables without tables, else those to these tables.
   */
  public void makeUsers(List<String> tables) throws SQLException {
    List<String> script = MySqlRights.script(LEAST, database(), tables);
    execute(
        MySqlRights.statements(script).stream()
            .filter(sql -> tables.isEmpty() || sql.contains(".`"))
            .map(sql -> sql.replaceAll("\\$\\{[A-Z]+_PASSWORD}", LEAST))
            .toArray(String[]::new));
  }

  /** The same as a user with the least rights of a role. */
  public MySqlServer as(Role role) {
    return new MySqlServer(jdbcUrl, MySqlRights.user(LEAST, role), LEAST);
  }

  /** For a pool of so many connections. */
  public MySqlConfig config(int connections) {
    return new MySqlConfig(jdbcUrl, user, password, connections);
  }

  private String database() {
    return config(1).database();
  }

  /** A new connection, which the caller closes. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl, user, password);
  }

  /** Executes statements one by one. */
  public void execute(String... statements) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** The first column of a query's first row as text; "null" for NULL, "" for no row. */
  public String queryText(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? String.valueOf(rows.getString(1)) : "";
    }
  }

  /** Whether a transaction on this database waits for a row that another one has locked. */
  public boolean hasLockWait() throws SQLException {
    Set<Long> waiting = new HashSet<>();
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      try (ResultSet rows =
          statement.executeQuery(
              "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx"
                  + " WHERE trx_state = 'LOCK WAIT'")) {
        while (rows.next()) {
          waiting.add(rows.getLong(1));
        }
      }
      try (ResultSet rows = statement.executeQuery("SHOW PROCESSLIST")) {
        while (rows.next()) {
          if (waiting.contains(rows.getLong("Id"))
              && connection.getCatalog().equals(rows.getString("db"))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  public int port() {
    return URI.create(jdbcUrl.substring("jdbc:".length())).getPort();
  }

  /** The same by way of a proxy on this port. */
  public MySqlServer through(int proxyPort) {
    String port = ":" + port() + "/";
    if (!jdbcUrl.contains(port)) {
      throw new IllegalStateException(jdbcUrl + " does not name its port and a database");
    }
    return new MySqlServer(jdbcUrl.replace(port, ":" + proxyPort + "/"), user, password);
  }

  private String withDatabase(String name) {
    int host = jdbcUrl.indexOf("//") + 2;
    int parameters = jdbcUrl.indexOf('?');
    int slash = jdbcUrl.indexOf('/', host);
    String server = jdbcUrl;
    if (slash >= 0) {
      server = jdbcUrl.substring(0, slash);
    } else if (parameters >= 0) {
      server = jdbcUrl.substring(0, parameters);
    }
    return server + "/" + name + (parameters < 0 ? "" : jdbcUrl.substring(parameters));
  }
}
