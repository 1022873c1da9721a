package io.gameq.lab.contender.mysql;

import io.gameq.lab.workload.BenchRow;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.UpsertSql;
import io.gameq.mysql.flush.UpsertSql.Dialect;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Rows to MySQL as a flush of full size sends them: gameq's own statement, in transactions and
 * statements of its sizes, and nothing of what a flush does beside that. Thread-safe.
 */
final class GuardedTransactions {
  /** Rows of a transaction: what a claim takes. */
  static final int ROWS = ClaimScript.Bounds.DEFAULT.rows();

  private static final int DEADLOCK = 1213;
  private static final OwnerId NOBODY = OwnerId.of("player:0");

  private final Table table;
  private final UpsertSql upserts;

  GuardedTransactions(MySql mysql, Table table) {
    this.table = table;
    this.upserts = new UpsertSql(Dialect.of(mysql));
  }

  /** A row that is newer than those of smaller numbers. */
  RowChange change(BenchRow row) {
    Object[] values = {row.playerId(), (long) row.slot(), row.seq(), row.payload()};
    return new RowChange(
        NOBODY,
        RowKey.of(table, values),
        new RowImage(table, RowOp.PUT, row.seq(), values),
        new byte[0]);
  }

  /** Writes sorted rows, by a connection that was {@linkplain #prepare prepared}. */
  void write(Connection connection, List<RowChange> sorted) throws SQLException {
    for (int from = 0; from < sorted.size(); ) {
      int rows = Math.min(ROWS, sorted.size() - from);
      transaction(connection, sorted.subList(from, from + rows));
      from += rows;
    }
  }

  /** As a flush has its connection. */
  static void prepare(Connection connection) throws SQLException {
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    connection.setAutoCommit(false);
  }

  private void transaction(Connection connection, List<RowChange> rows) throws SQLException {
    while (true) {
      try {
        statements(connection, rows);
        connection.commit();
        return;
      } catch (SQLException e) {
        connection.rollback();
        if (e.getErrorCode() != DEADLOCK) {
          throw e;
        }
      }
    }
  }

  /** In statements of powers of two, so that few are prepared: as a flush does. */
  private void statements(Connection connection, List<RowChange> rows) throws SQLException {
    for (int from = 0; from < rows.size(); ) {
      int size = Integer.highestOneBit(rows.size() - from);
      upserts.execute(connection, table, rows.subList(from, from + size), false, 0);
      from += size;
    }
  }
}
