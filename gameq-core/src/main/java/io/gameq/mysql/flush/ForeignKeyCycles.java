package io.gameq.mysql.flush;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.rows.Reference;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Rows of one flush that refer to each other in a circle, as a new guild to its leader and he to
 * his guild: neither can be written first, nor deleted first. Their references are NULL for a
 * moment, within the transaction that writes them. Stateless.
 */
final class ForeignKeyCycles {
  /** Foreign keys: parent missing, child there; the old numbers of both. */
  private static final Set<Integer> ERRORS = Set.of(1452, 1451, 1216, 1217);

  private ForeignKeyCycles() {}

  /** Those that may wait for one of the others, and can do without it for a moment. */
  static List<RowRefusal> candidates(List<RowRefusal> refused) {
    List<RowRefusal> waiting =
        refused.stream()
            .filter(refusal -> ERRORS.contains(refusal.error().getErrorCode()))
            .filter(refusal -> refusal.row().image().handovers().isEmpty())
            .toList();
    Set<String> tables = tables(waiting.stream().map(RowRefusal::row).toList());
    boolean some =
        waiting.stream()
            .anyMatch(refusal -> !optional(refusal.row().key().table(), tables).isEmpty());
    return some ? waiting : List.of();
  }

  /** The columns of a table that refer to one of these tables, and may be NULL. */
  private static List<String> optional(Table table, Set<String> tables) {
    List<String> columns = new ArrayList<>();
    for (Reference reference : table.foreignKeys().references()) {
      String column = reference.optional();
      if (column != null && tables.contains(reference.parent()) && table.has(column)) {
        columns.add(column);
      }
    }
    return columns;
  }

  /** The puts among these as they are written first: without what they refer to. */
  static List<RowChange> withoutReferences(List<RowChange> rows) {
    Set<String> tables = tables(rows);
    List<RowChange> first = new ArrayList<>();
    for (RowChange row : rows) {
      RowImage image = row.image();
      BitSet nulls = new BitSet();
      if (image.op() != RowOp.DELETE) {
        for (String column : optional(row.key().table(), tables)) {
          int index = row.key().table().indexOf(column);
          nulls.set(index, image.names(index) && image.values()[index] != null);
        }
      }
      if (!nulls.isEmpty()) {
        first.add(new RowChange(row.owner(), row.key(), image.withNull(nulls), row.encoded()));
      }
    }
    return first;
  }

  /** Takes from rows that are to be deleted what they refer to. */
  static void detach(Connection connection, List<RowChange> rows) throws SQLException {
    Set<String> tables = tables(rows);
    for (RowChange row : rows) {
      Table table = row.key().table();
      List<String> columns = row.image().op() == RowOp.DELETE ? optional(table, tables) : List.of();
      if (columns.isEmpty()) {
        continue;
      }
      String sql =
          "UPDATE %s SET %s WHERE %s AND %s <= ?"
              .formatted(
                  JdbcValues.quoted(table.name()),
                  columns.stream()
                      .map(column -> JdbcValues.quoted(column) + " = NULL")
                      .collect(Collectors.joining(", ")),
                  Sql.keyEquals(table),
                  JdbcValues.quoted(Table.VERSION_COLUMN));
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        int at = Sql.bindKey(statement, 1, table, row.key().parts());
        statement.setLong(at, row.image().version());
        statement.executeUpdate();
      }
    }
  }

  private static Set<String> tables(List<RowChange> rows) {
    return rows.stream().map(row -> row.key().table().name()).collect(Collectors.toSet());
  }
}
