package io.gameq.lab.mysql;

import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.BenchRow;
import io.gameq.lab.workload.Model;
import io.gameq.mysql.MySqlPool.MySql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Consumer;

/** The rows that MySQL holds, looked at past all contenders. Thread-safe. */
public final class StoredRows {
  private final MySql mysql;

  public StoredRows(MySql mysql) {
    this.mysql = mysql;
  }

  /** What differs, cheaply: equal to {@link #sumOf} once every row is in its last state. */
  public record Sum(long rows, long seqs) {}

  public Sum sum(String table) {
    try (Connection connection = mysql.connection();
        Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("SELECT COUNT(*), COALESCE(SUM(seq), 0) FROM " + table)) {
      found.next();
      return new Sum(found.getLong(1), found.getLong(2));
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** What {@link #sum} comes to when MySQL holds what the model says. */
  public static Sum sumOf(Model model) {
    long[] seqs = new long[1];
    model.forEachRow(row -> seqs[0] += row.seq());
    return new Sum(model.distinctRows(), seqs[0]);
  }

  /** Hands over every row, streamed: memory holds one at a time. */
  public void scan(String table, Consumer<BenchRow> rows) {
    try (Connection connection = mysql.connection();
        PreparedStatement statement =
            connection.prepareStatement("SELECT player_id, slot, seq, payload FROM " + table)) {
      statement.setFetchSize(Integer.MIN_VALUE); // the driver's word for streaming
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          rows.accept(
              new BenchRow(found.getLong(1), found.getInt(2), found.getLong(3), found.getBytes(4)));
        }
      }
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** Every row compared with the model. */
  public Model.Result check(String table, Model model) {
    Model.Check check = model.check();
    scan(table, check::row);
    return check.result();
  }

  /** Removes all rows. */
  public void truncate(List<String> tables) {
    try (Connection connection = mysql.connection();
        Statement statement = connection.createStatement()) {
      for (String table : tables) {
        statement.execute("TRUNCATE TABLE " + table);
      }
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  private static BenchException failed(SQLException e) {
    return new BenchException("the database refuses: " + e.getMessage(), e);
  }
}
