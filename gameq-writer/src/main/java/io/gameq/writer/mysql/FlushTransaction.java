package io.gameq.writer.mysql;

import io.gameq.OwnerId;
import io.gameq.SessionId;
import io.gameq.mysql.Dialect;
import io.gameq.mysql.GuardedWrites;
import io.gameq.mysql.GuardedWrites.Order;
import io.gameq.mysql.RowChange;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * The flush: one MySQL transaction that checks the sessions of all its owners and writes their
 * rows. Thread-safe; each call takes a connection of its own.
 */
public final class FlushTransaction {
  /** A deadlock or lock wait that lasts longer than this many tries is treated as an outage. */
  private static final int MOST_TRIES = 10;

  /** Two flushes that met in a deadlock must not meet again at once. */
  private static final int MOST_WAIT_MILLIS_PER_TRY = 20;

  private final DataSource dataSource;
  private final GuardedWrites writes;

  /** One owner's rows, with the session under which they were claimed. */
  public record OwnerRows(OwnerId owner, SessionId session, List<RowChange> rows) {}

  /** What became of a flush. */
  public sealed interface Outcome {}

  /** Committed; the owners in {@code notOwned} were left out, since a newer session owns them. */
  public record Committed(List<OwnerRows> written, List<OwnerRows> notOwned) implements Outcome {}

  /**
   * MySQL is away, read-only or locked; nothing was written, or a COMMIT was lost: flushing again
   * is safe.
   */
  public record Outage(String reason) implements Outcome {}

  /** MySQL refused the content; nothing was written. */
  public record Refused(String reason) implements Outcome {}

  public FlushTransaction(DataSource dataSource, Dialect dialect) {
    this.dataSource = dataSource;
    this.writes = new GuardedWrites(dialect);
  }

  /**
   * Writes the rows of all owners that are still owned by their sessions. Never throws for what
   * MySQL answers.
   */
  public Outcome flush(List<OwnerRows> owners) {
    Order order = Order.PUTS_FIRST;
    for (int tries = 1; ; tries++) {
      Connection connection;
      try {
        connection = dataSource.getConnection();
      } catch (SQLException e) {
        return new Outage(String.valueOf(e.getMessage()));
      }
      try (connection) {
        return inTransaction(connection, owners, order);
      } catch (RuntimeException e) { // one batch that cannot be bound must not hold up its claims
        return new Refused(e.toString());
      } catch (SQLException e) {
        if (FlushErrors.isDuplicate(e) && order == Order.PUTS_FIRST) {
          order = Order.DELETES_FIRST;
        } else if (!FlushErrors.isTryAgain(e) || tries == MOST_TRIES) {
          return FlushErrors.isOutage(e) || FlushErrors.isTryAgain(e)
              ? new Outage(String.valueOf(e.getMessage()))
              : new Refused(String.valueOf(e.getMessage()));
        } else {
          pause(tries);
        }
      }
    }
  }

  private static void pause(int tries) {
    LockSupport.parkNanos(
        TimeUnit.MILLISECONDS.toNanos(
            1 + ThreadLocalRandom.current().nextInt(tries * MOST_WAIT_MILLIS_PER_TRY)));
  }

  private Committed inTransaction(Connection connection, List<OwnerRows> owners, Order order)
      throws SQLException {
    connection.setAutoCommit(false);
    try {
      Map<OwnerId, SessionId> durable = lockSessions(connection, owners);
      List<OwnerRows> written = new ArrayList<>();
      List<OwnerRows> notOwned = new ArrayList<>();
      List<RowChange> rows = new ArrayList<>();
      for (OwnerRows of : owners) {
        if (of.session().equals(durable.get(of.owner()))) {
          written.add(of);
          rows.addAll(of.rows());
        } else {
          notOwned.add(of);
        }
      }
      writes.write(connection, rows, order);
      connection.commit();
      return new Committed(written, notOwned);
    } catch (SQLException | RuntimeException e) {
      rollBack(connection, e); // a lock wait timeout rolls back one statement, not the transaction
      throw e;
    }
  }

  private static void rollBack(Connection connection, Exception because) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      because.addSuppressed(e);
    }
  }

  /**
   * The first statement of a flush: locks the owners, sorted. FOR UPDATE, because FOR SHARE would
   * let two flushes of one owner run side by side; first, so that what is read later was committed
   * before the lock was given.
   */
  private static Map<OwnerId, SessionId> lockSessions(Connection connection, List<OwnerRows> owners)
      throws SQLException {
    String sql =
        "SELECT owner, epoch, nonce FROM gameq_owner WHERE owner IN ("
            + "?,".repeat(owners.size() - 1)
            + "?) ORDER BY owner FOR UPDATE";
    Map<OwnerId, SessionId> sessions = new HashMap<>();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      List<String> sorted = owners.stream().map(o -> o.owner().encoded()).sorted().toList();
      for (int i = 0; i < sorted.size(); i++) {
        statement.setString(i + 1, sorted.get(i));
      }
      try (ResultSet rs = statement.executeQuery()) {
        while (rs.next()) {
          sessions.put(
              OwnerId.ofEncoded(rs.getString(1)), new SessionId(rs.getLong(2), rs.getString(3)));
        }
      }
    }
    return sessions;
  }
}
