package io.gameq.lab.contender.mysql;

import io.gameq.lab.load.Threads;
import io.gameq.lab.workload.Model;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The limit of MySQL for a drain: the rows that must be there in the end, ready in memory and
 * sorted, in {@link GuardedTransactions}. One thread.
 */
public final class RawMySql {
  private final MySql mysql;
  private final GuardedTransactions writing;
  private final int connections;

  /**
   * Writes a table.
   *
   * @param connections that write at the same time, each a part of the rows
   */
  public RawMySql(MySql mysql, Table table, int connections) {
    this.mysql = mysql;
    this.writing = new GuardedTransactions(mysql, table);
    this.connections = connections;
  }

  /** Writes the rows of a model; returns how many in a second. */
  public double rowsPerSecond(Model model) throws InterruptedException {
    List<RowChange> rows = new ArrayList<>();
    model.forEachRow(row -> rows.add(writing.change(row)));
    long began = System.nanoTime();
    Threads.run(connections, "raw", part -> write(rows, part));
    return rows.size() / ((System.nanoTime() - began) / 1e9);
  }

  private void write(List<RowChange> rows, int part) throws SQLException {
    int from = (int) ((long) rows.size() * part / connections);
    int end = (int) ((long) rows.size() * (part + 1) / connections);
    try (Connection connection = mysql.connection()) {
      GuardedTransactions.prepare(connection);
      writing.write(connection, rows.subList(from, end));
    }
  }
}
