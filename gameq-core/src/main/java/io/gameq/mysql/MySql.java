package io.gameq.mysql;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;

/**
 * A database as the parts of a process pass it around: its connections, and Jdbi over them. Who is
 * outside the {@code mysql} packages holds and closes it, and never looks inside. Thread-safe.
 */
public final class MySql implements AutoCloseable {
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

  /** Whether a pool has any connection, busy ones counted: none while the server lets nobody in. */
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
