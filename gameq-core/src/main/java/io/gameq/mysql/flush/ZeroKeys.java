package io.gameq.mysql.flush;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.RowChange;
import io.gameq.rows.Column;
import io.gameq.rows.Table;
import io.gameq.rows.types.ColumnDefault;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes sure, before a zero is written to an AUTO_INCREMENT column, that MySQL keeps it: a proxy
 * may have moved the connection to a session that gameq did not set up. Asks only then; stateless.
 */
final class ZeroKeys {
  private ZeroKeys() {}

  /**
   * Within the caller's transaction, in which a proxy keeps one session.
   *
   * @throws SQLTransientConnectionException when MySQL would invent a number: an outage, not a
   *     fault of the rows
   */
  static void requireKept(Connection connection, Table table, List<RowChange> rows)
      throws SQLException {
    List<Column> columns = table.columns();
    int[] numbered =
        IntStream.range(0, columns.size())
            .filter(i -> columns.get(i).onAbsence() instanceof ColumnDefault.Numbered)
            .toArray();
    for (int column : numbered) {
      if (rows.stream().anyMatch(row -> isZero(row.image().values()[column]))
          && !isKept(connection)) {
        throw new SQLTransientConnectionException(
            ("the session's sql_mode lacks %s, and a row of %s has the key 0: a proxy"
                    + " dropped what gameq set; have it keep session variables, or connect to"
                    + " MySQL itself")
                .formatted(MySqlPool.ZERO_IS_A_VALUE, table.name()));
      }
    }
  }

  private static boolean isZero(@Nullable Object value) {
    return value instanceof Number number && number.doubleValue() == 0;
  }

  private static boolean isKept(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT @@SESSION.sql_mode");
        ResultSet mode = statement.executeQuery()) {
      return mode.next() && mode.getString(1).contains(MySqlPool.ZERO_IS_A_VALUE);
    }
  }
}
