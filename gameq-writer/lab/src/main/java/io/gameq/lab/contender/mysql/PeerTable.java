package io.gameq.lab.contender.mysql;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.BenchRow;
import io.gameq.lab.workload.Workload;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * The peers' end of MySQL: upserts without a version guard, prepared on the server, over the same
 * kind of pool as gameq's. Thread-safe.
 */
public final class PeerTable implements AutoCloseable {
  /** Rows of a statement that is worth a batch; 1,000 and more gain little. */
  public static final int BATCH_ROWS = 500;

  /** Statements of other sizes are cut into powers of two, so that few are prepared. */
  private static final int MOST_ODD_ROWS = 8;

  private static final int DEADLOCK = 1213;

  private final MySql pool;
  private final boolean isMariaDb;
  private final LongAdder rows = new LongAdder();

  /** Connects. */
  public PeerTable(ContenderSetup.Place place, int connections) {
    pool = MySqlPool.open(place.mysql(connections), "peer");
    try (Connection connection = pool.connection();
        Statement statement = connection.createStatement();
        ResultSet version = statement.executeQuery("SELECT VERSION()")) {
      version.next();
      isMariaDb = version.getString(1).contains("MariaDB");
    } catch (SQLException e) {
      pool.close();
      throw new BenchException("MySQL refuses: " + e.getMessage(), e);
    }
  }

  Connection connection() throws SQLException {
    return pool.connection();
  }

  /** Upserts rows in one transaction, in statements of at most {@link #BATCH_ROWS}. */
  public void upsertAll(List<BenchRow> all) {
    boolean isOneStatement = statementRows(all.size()) == all.size();
    try (Connection connection = pool.connection()) {
      connection.setAutoCommit(isOneStatement); // saves two round trips
      while (!tryAll(connection, all)) {
        // A deadlock rolled everything back: again.
      }
    } catch (SQLException e) {
      throw new BenchException("MySQL refuses: " + e.getMessage(), e);
    }
  }

  private boolean tryAll(Connection connection, List<BenchRow> all) throws SQLException {
    try {
      for (int from = 0; from < all.size(); ) {
        int size = statementRows(all.size() - from);
        upsert(connection, all.subList(from, from + size));
        from += size;
      }
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return true;
    } catch (SQLException e) {
      if (!connection.getAutoCommit()) {
        connection.rollback();
      }
      if (e.getErrorCode() != DEADLOCK) {
        throw e;
      }
      return false;
    }
  }

  private static int statementRows(int remaining) {
    if (remaining >= BATCH_ROWS) {
      return BATCH_ROWS;
    }
    return remaining <= MOST_ODD_ROWS ? remaining : Integer.highestOneBit(remaining);
  }

  /** Upserts rows in one statement, in the transaction of the connection. */
  void upsert(Connection connection, List<BenchRow> rowsOfStatement) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql(rowsOfStatement.size()))) {
      int at = 1;
      for (BenchRow row : rowsOfStatement) {
        statement.setLong(at++, row.playerId());
        statement.setInt(at++, row.slot());
        statement.setLong(at++, row.seq());
        statement.setBytes(at++, row.payload());
      }
      statement.executeUpdate();
    }
    rows.add(rowsOfStatement.size());
  }

  private String sql(int count) {
    String values = String.join(", ", Collections.nCopies(count, "(?, ?, ?, ?)"));
    return "INSERT INTO "
        + Workload.PEER_TABLE
        + " (player_id, slot, seq, payload) VALUES "
        + values
        + (isMariaDb
            ? " ON DUPLICATE KEY UPDATE seq = VALUES(seq), payload = VALUES(payload)"
            : " AS new ON DUPLICATE KEY UPDATE seq = new.seq, payload = new.payload");
  }

  /** Rows sent so far, those of transactions that were tried again too. */
  public long rowsWritten() {
    return rows.sum();
  }

  @Override
  public void close() {
    pool.close();
  }
}
