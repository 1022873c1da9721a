package io.gameq.mysql.flush;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.SpareValues;
import io.gameq.mysql.Sql;
import io.gameq.rows.Column;
import io.gameq.rows.RowKey;
import io.gameq.rows.Table;
import io.gameq.rows.UniqueKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Rows of one flush that exchange values of a UNIQUE key, as two items that swap their slots: each
 * upsert meets a row that has not given its value up yet. Such rows get a spare value for a moment,
 * within the transaction that writes them.
 */
final class ExchangedValues {
  /** A random value may be taken already. */
  private static final int MOST_TRIES = 20;

  private final Connection connection;
  private final Table table;
  private final Random random = new Random();

  /** A row that holds a value which another one is to get. */
  private record Holder(RowKey row, UniqueKey key) {}

  ExchangedValues(Connection connection, Table table) {
    this.connection = connection;
    this.table = table;
  }

  /**
   * Takes the values off those of the rows that stand in each other's way and wait for nobody else:
   * all of them can be written then.
   *
   * @param blocked rows that MySQL did not write, since other rows have their unique values
   * @return those that can be written now; what throws may leave some values taken off
   */
  List<RowChange> takeOff(List<RowChange> blocked) throws SQLException {
    Map<RowKey, List<Holder>> waiting = new HashMap<>();
    for (RowChange row : blocked) {
      waiting.put(row.key(), holdersOfWhatIsFor(row));
    }
    waiting.values().removeIf(List::isEmpty); // what blocks it cannot be seen
    boolean some = true;
    while (some) { // who waits for a row that is not among them, or for one who does so, stays
      some =
          waiting
              .values()
              .removeIf(of -> of.stream().anyMatch(holder -> !waiting.containsKey(holder.row())));
    }
    Set<Holder> holders =
        waiting.values().stream().flatMap(List::stream).collect(Collectors.toSet());
    for (Holder holder : holders) {
      String spare = holder.key().spare();
      if (spare == null || !isWrittenBy(spare, holder.row(), blocked)) {
        return List.of();
      }
      giveSpareValue(holder.row(), table.column(spare));
    }
    return blocked.stream().filter(row -> waiting.containsKey(row.key())).toList();
  }

  /** Whether what is written of a row gives the column its value again. */
  private boolean isWrittenBy(String column, RowKey row, List<RowChange> changes) {
    return table.has(column)
        && changes.stream()
            .filter(change -> change.key().equals(row))
            .allMatch(change -> change.image().names(table.indexOf(column)));
  }

  private List<Holder> holdersOfWhatIsFor(RowChange row) throws SQLException {
    List<Holder> holders = new ArrayList<>();
    for (UniqueKey key : table.otherUniqueKeys()) {
      RowKey holder = key.columns().isEmpty() ? null : holderOfWhatIsFor(row, key);
      if (holder != null && !holder.equals(row.key())) {
        holders.add(new Holder(holder, key));
      }
    }
    return holders;
  }

  /** Null as well when the row does not say what it will have: then it stays blocked. */
  private @Nullable RowKey holderOfWhatIsFor(RowChange row, UniqueKey key) throws SQLException {
    @Nullable Object[] values = row.image().values();
    for (String column : key.columns()) {
      if (!table.has(column)
          || !row.image().names(table.indexOf(column))
          || values[table.indexOf(column)] == null) {
        return null;
      }
    }
    String sql =
        "SELECT %s FROM %s WHERE %s"
            .formatted(
                table.keyColumns().stream()
                    .map(JdbcValues::selectExpression)
                    .collect(Collectors.joining(", ")),
                JdbcValues.quoted(table.name()),
                key.columns().stream()
                    .map(column -> JdbcValues.quoted(column) + " = ?")
                    .collect(Collectors.joining(" AND ")));
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int at = 1;
      for (String column : key.columns()) {
        JdbcValues.bind(statement, at++, table.column(column), values[table.indexOf(column)]);
      }
      try (ResultSet rs = statement.executeQuery()) {
        return rs.next() ? JdbcValues.readKey(rs, 1, table) : null;
      }
    }
  }

  private void giveSpareValue(RowKey row, Column column) throws SQLException {
    for (int tries = 1; ; tries++) {
      try (PreparedStatement statement =
          connection.prepareStatement(
              "UPDATE %s SET %s = %s WHERE %s"
                  .formatted(
                      JdbcValues.quoted(table.name()),
                      JdbcValues.quoted(column.name()),
                      JdbcValues.placeholder(column),
                      Sql.keyEquals(table)))) {
        JdbcValues.bind(statement, 1, column, SpareValues.next(column, random));
        int unused = Sql.bindKey(statement, 2, table, row.parts());
        statement.executeUpdate();
        return;
      } catch (SQLException e) {
        if (e.getErrorCode() != GuardedPuts.DUPLICATE || tries == MOST_TRIES) {
          throw e;
        }
      }
    }
  }
}
