package io.gameq.lab.peers;

import io.gameq.lab.bench.workload.BenchRow;
import io.gameq.lab.bench.workload.Model;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlPool;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The harness' own look at MySQL: empties tables and compares them. Thread-safe. */
final class ComparisonTables implements AutoCloseable {
  private final MySql pool;

  ComparisonTables(Job.Place place) {
    pool = MySqlPool.open(place.mysql(2), "bench");
  }

  /** What differs, cheaply: equal to {@link #sumOf} once every row is in its last state. */
  record Sum(long rows, long seqs) {}

  Sum sum(String table) throws SQLException {
    try (Connection connection = pool.connection();
        Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("SELECT COUNT(*), COALESCE(SUM(seq), 0) FROM " + table)) {
      found.next();
      return new Sum(found.getLong(1), found.getLong(2));
    }
  }

  /** What {@link #sum} comes to when MySQL holds what the model says. */
  static Sum sumOf(Model model) {
    long[] seqs = new long[1];
    model.forEachRow(row -> seqs[0] += row.seq());
    return new Sum(model.distinctRows(), seqs[0]);
  }

  /** Every row compared with the model. */
  Model.Result check(String table, Model model) throws SQLException {
    Model.Check check = model.check();
    try (Connection connection = pool.connection();
        PreparedStatement statement =
            connection.prepareStatement("SELECT player_id, slot, seq, payload FROM " + table)) {
      statement.setFetchSize(Integer.MIN_VALUE); // the driver's word for streaming
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          check.row(
              new BenchRow(found.getLong(1), found.getInt(2), found.getLong(3), found.getBytes(4)));
        }
      }
    }
    return check.result();
  }

  void truncate(List<String> tables) throws SQLException {
    for (String table : tables) {
      run("TRUNCATE TABLE " + table);
    }
  }

  void run(String sql) throws SQLException {
    try (Connection connection = pool.connection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Settings of the server by name; those that it does not know are left out. */
  Map<String, String> variables(List<String> names) throws SQLException {
    Map<String, String> values = new LinkedHashMap<>();
    try (Connection connection = pool.connection();
        PreparedStatement statement =
            connection.prepareStatement("SHOW GLOBAL VARIABLES WHERE Variable_name = ?")) {
      for (String name : names) {
        statement.setString(1, name);
        try (ResultSet found = statement.executeQuery()) {
          if (found.next()) {
            values.put(name, found.getString(2));
          }
        }
      }
    }
    return values;
  }

  /** The cipher of a connection; empty when nothing is encrypted. */
  String cipher() throws SQLException {
    try (Connection connection = pool.connection();
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("SHOW SESSION STATUS LIKE 'Ssl_cipher'")) {
      return found.next() ? found.getString(2) : "";
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
