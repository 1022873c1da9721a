package io.gameq.mysql.flush;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType;
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
  private static final int NULL_IN_COLUMN = 1048;

  private final Dialect dialect;
  private final Map<StatementKey, String> texts = new ConcurrentHashMap<>();

  private record StatementKey(
      String table,
      long fingerprint,
      List<Column> key,
      boolean otherUniqueKeys,
      @Nullable BitSet named,
      boolean handsOver,
      int rows) {}

  public UpsertSql(Dialect dialect) {
    this.dialect = dialect;
  }

  /**
   * Puts rows of one table that name the same columns in one statement, which fails, with {@link
   * #isOfAnotherOwner}, where a newer version would replace another owner's row.
   */
  public void execute(Connection connection, Table table, List<RowChange> rows)
      throws SQLException {
    execute(connection, table, rows, false, 0);
  }

  /**
   * The same.
   *
   * @param handsOver whether the rows may change owners
   * @param mostSeconds see {@link io.gameq.mysql.StatementLimits}
   */
  void execute(
      Connection connection, Table table, List<RowChange> rows, boolean handsOver, int mostSeconds)
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
                handsOver,
                rows.size()),
            key -> upsertSql(table, like, key.rows(), handsOver || table.isKeyedByOwner()));
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setQueryTimeout(mostSeconds);
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

  /** Whether an upsert failed on another owner's row: gq_version is never NULL otherwise. */
  static boolean isOfAnotherOwner(SQLException e) {
    return e.getErrorCode() == NULL_IN_COLUMN
        && String.valueOf(e.getMessage()).contains(Table.VERSION_COLUMN);
  }

  /**
   * gq_version is assigned last: assignments run in order, and the others compare with it. Where
   * the owner may not change it is not assigned at all, so that it can be compared there, and a row
   * of another owner fails the statement by a NULL.
   */
  private String upsertSql(Table table, RowImage like, int rows, boolean ownerMayChange) {
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
    String newer = dialect.newValue(table.name(), version) + " > " + name + "." + version;
    if (table.hasOtherUniqueKeys()) { // the duplicate may be another row, which must not change
      newer =
          newer
              + table.keyColumns().stream()
                  .map(
                      c ->
                          " AND "
                              + dialect.newValue(table.name(), JdbcValues.quoted(c.name()))
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
                    name,
                    columns,
                    version,
                    (row + ",").repeat(rows - 1) + row,
                    dialect.alias(table.name())));
    for (Column column : updated) {
      if (ownerMayChange || !column.equals(table.ownerColumn())) {
        sql.append(assignment(table, JdbcValues.quoted(column.name()), newer)).append(", ");
      }
    }
    return sql.append(
            ownerMayChange
                ? assignment(table, version, newer)
                : "%1$s = IF(%2$s, IF(%3$s, %4$s, NULL), %5$s.%1$s)"
                    .formatted(
                        version,
                        newer,
                        sameOwner(table),
                        dialect.newValue(table.name(), version),
                        name))
        .toString();
  }

  /** Byte by byte: a collation may take two owners for one. */
  private String sameOwner(Table table) {
    Column owner = table.ownerColumn();
    String column = JdbcValues.quoted(owner.name());
    String there = JdbcValues.quoted(table.name()) + "." + column;
    String here = dialect.newValue(table.name(), column);
    return owner.type().kind() == ColumnType.Kind.TEXT
        ? "CAST(%s AS BINARY) = CAST(%s AS BINARY)".formatted(there, here)
        : there + " = " + here;
  }

  private String assignment(Table table, String column, String newer) {
    return "%1$s = IF(%2$s, %3$s, %4$s.%1$s)"
        .formatted(
            column, newer, dialect.newValue(table.name(), column), JdbcValues.quoted(table.name()));
  }

  /** How the server at hand refers to the new row in ON DUPLICATE KEY UPDATE. */
  public enum Dialect {
    /** MySQL 8.0.19 or newer: a row alias ({@code VALUES()} is deprecated there). */
    MYSQL(" AS %s", "%s.%s"),
    /** MariaDB, which has no row alias. */
    MARIADB("", "VALUES(%2$s)");

    private static final String NEW = "gq_new";

    private final String alias;
    private final String newValue;

    Dialect(String alias, String newValue) {
      this.alias = alias;
      this.newValue = newValue;
    }

    /** What stands behind the values of a statement on a table. */
    public String alias(String table) {
      return alias.formatted(newRow(table));
    }

    /** A column of the new row in it. */
    public String newValue(String table, String quotedColumn) {
      return newValue.formatted(newRow(table), quotedColumn);
    }

    private static String newRow(String table) {
      return table.equalsIgnoreCase(NEW) ? NEW + "_row" : NEW;
    }

    /** By the server's own version string: Connector/J calls MariaDB MySQL. */
    public static Dialect of(MySql mysql) {
      return mysql
              .jdbi()
              .withHandle(handle -> handle.select("SELECT VERSION()").mapTo(String.class).one())
              .contains("MariaDB")
          ? MARIADB
          : MYSQL;
    }
  }
}
