package io.gameq.mysql;

import io.gameq.catalog.Column;
import io.gameq.catalog.RowImage;
import io.gameq.catalog.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The one statement that puts rows: a multi-row upsert in which an older version changes nothing,
 * and columns that the rows do not name keep their values. Thread-safe; keeps the texts it made.
 */
public final class UpsertSql {
  private final Dialect dialect;
  private final Map<StatementKey, String> texts = new ConcurrentHashMap<>();

  private record StatementKey(
      String table,
      long fingerprint,
      List<Column> key,
      boolean otherUniqueKeys,
      @Nullable BitSet named,
      int rows) {}

  public UpsertSql(Dialect dialect) {
    this.dialect = dialect;
  }

  /** Puts rows of one table that name the same columns in one statement. */
  public void execute(Connection connection, Table table, List<RowChange> rows)
      throws SQLException {
    RowImage like = rows.get(0).image();
    String sql =
        texts.computeIfAbsent(
            new StatementKey(
                table.name(),
                table.fingerprint(),
                table.keyColumns(),
                table.hasOtherUniqueKeys(),
                like.named(),
                rows.size()),
            key -> upsertSql(table, like, key.rows()));
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      List<Column> columns = table.columns();
      int at = 1;
      for (RowChange row : rows) {
        @Nullable Object[] values = row.image().values();
        for (int i = 0; i < values.length; i++) {
          if (isInserted(columns.get(i), i, like)) {
            JdbcValues.bind(statement, at++, columns.get(i), values[i]);
          }
        }
        statement.setLong(at++, row.image().version());
      }
      statement.executeUpdate();
    }
  }

  /**
   * A column without a default must be given to an INSERT, also where only an UPDATE comes of it.
   */
  private static boolean isInserted(Column column, int index, RowImage like) {
    return like.names(index) || !column.mayBeLeftOut();
  }

  /** gq_version is assigned last: assignments run in order, and the others compare with it. */
  private String upsertSql(Table table, RowImage like, int rows) {
    String name = JdbcValues.quoted(table.name());
    String version = JdbcValues.quoted(Table.VERSION_COLUMN);
    List<Column> inserted = new ArrayList<>();
    List<Column> updated = new ArrayList<>();
    for (int i = 0; i < table.columns().size(); i++) {
      Column column = table.columns().get(i);
      if (isInserted(column, i, like)) {
        inserted.add(column);
      }
      if (like.names(i) && !table.keyColumns().contains(column)) {
        updated.add(column);
      }
    }
    String columns =
        inserted.stream().map(c -> JdbcValues.quoted(c.name())).collect(Collectors.joining(", "));
    String row =
        inserted.stream()
            .map(JdbcValues::placeholder)
            .collect(Collectors.joining(", ", "(", ", ?)"));
    String newer = dialect.newValue(version) + " > " + name + "." + version;
    if (table.hasOtherUniqueKeys()) { // the duplicate may be another row, which must not change
      newer =
          newer
              + table.keyColumns().stream()
                  .map(
                      c ->
                          " AND "
                              + dialect.newValue(JdbcValues.quoted(c.name()))
                              + " = "
                              + name
                              + "."
                              + JdbcValues.quoted(c.name()))
                  .collect(Collectors.joining());
    }
    StringBuilder sql =
        new StringBuilder(
            "INSERT INTO %s (%s, %s) VALUES %s%s ON DUPLICATE KEY UPDATE "
                .formatted(
                    name, columns, version, (row + ",").repeat(rows - 1) + row, dialect.alias));
    for (Column column : updated) {
      sql.append(assignment(name, JdbcValues.quoted(column.name()), newer)).append(", ");
    }
    return sql.append(assignment(name, version, newer)).toString();
  }

  private String assignment(String table, String column, String newer) {
    return column
        + " = IF("
        + newer
        + ", "
        + dialect.newValue(column)
        + ", "
        + table
        + "."
        + column
        + ")";
  }
}
