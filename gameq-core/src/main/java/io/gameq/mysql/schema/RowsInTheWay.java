package io.gameq.mysql.schema;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.TableInspector.Flaw;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Looks for rows with which a statement that mends a table fails. Stateless. */
final class RowsInTheWay {
  /** A table is read whole where no index helps: for so long, then there may be some. */
  private static final int MOST_SECONDS = 10;

  private RowsInTheWay() {}

  /** Queries that find them; empty when there are none. */
  static List<String> queries(Connection connection, TableInspector.Result table)
      throws SQLException {
    List<String> queries = new ArrayList<>();
    String from = "FROM %s WHERE ".formatted(quoted(table.inspection().spec().name()));
    for (Flaw flaw : table.flaws()) {
      if (flaw.kind() == Flaw.Kind.NULLABLE) {
        look(connection, from + quoted(flaw.column()) + " IS NULL", queries);
      } else if (flaw.kind() == Flaw.Kind.VERSION_COLUMN) {
        look(connection, from + quoted(flaw.column()) + " < 0", queries);
      }
    }
    return queries;
  }

  private static void look(Connection connection, String rest, List<String> queries)
      throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setQueryTimeout(MOST_SECONDS);
      try (ResultSet found = statement.executeQuery("SELECT 1 " + rest + " LIMIT 1")) {
        if (found.next()) {
          queries.add("SELECT * " + rest);
        }
      }
    } catch (SQLException e) {
      if (ErrorKind.of(e) != ErrorKind.SLOW) {
        throw e;
      }
      queries.add("SELECT * " + rest);
    }
  }

  private static String quoted(String name) {
    return JdbcValues.quoted(name);
  }
}
