package io.gameq.mysql.flush;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The one statement that puts rows: a multi-row upsert in which an older version changes nothing,
 * and columns that the rows do not name keep their values. Thread-safe.
 */
public final class UpsertSql {
  private static final int NULL_IN_COLUMN = 1048;

  private final Dialect dialect;

  public UpsertSql(Dialect dialect) {
    this.dialect = dialect;
  }

  /**
   * Puts rows of one table that name the same columns in one statement, which fails, with {@link
   * #isOfAnotherOwner}, where a newer version would replace another owner's row.
   *
   * @param handsOver whether the rows may change owners
   * @param mostSeconds see {@link io.gameq.mysql.StatementLimits}
   */
  public void execute(
      Connection connection, Table table, List<RowChange> rows, boolean handsOver, int mostSeconds)
      throws SQLException {
    RowImage like = rows.get(0).image();
    String sql = upsertSql(table, like, rows.size(), handsOver || table.isKeyedByOwner());
    List<Column> columns = table.columns();
    List<@Nullable Object> arguments = new ArrayList<>(rows.size() * (columns.size() + 1));
    for (RowChange row : rows) {
      @Nullable Object[] values = row.image().values();
      for (int i = 0; i < values.length; i++) {
        if (isInserted(columns.get(i), i, like)) {
          arguments.add(JdbcValues.parameter(columns.get(i), values[i]));
        }
      }
      arguments.add(row.image().version());
    }
    Sql.executeWithin(connection, mostSeconds, sql, arguments.toArray());
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
    List<Column> inserted = new ArrayList<>();
    List<Column> updated = new ArrayList<>();
    for (int i = 0; i < table.columns().size(); i++) {
      Column column = table.columns().get(i);
      if (isInserted(column, i, like)) {
        inserted.add(column);
      }
      if (like.names(i)
          && !table.keyColumns().contains(column)
          && (ownerMayChange || !column.equals(table.ownerColumn()))) {
        updated.add(column);
      }
    }
    String version = Table.VERSION_COLUMN;
    String newer = here(table, version) + " > " + there(table, version);
    if (table.hasOtherUniqueKeys()) { // the duplicate may be another row, which must not change
      newer +=
          table.keyColumns().stream()
              .map(c -> " AND " + here(table, c.name()) + " = " + there(table, c.name()))
              .collect(Collectors.joining());
    }
    StringBuilder sql = new StringBuilder("INSERT INTO ").append(JdbcValues.quoted(table.name()));
    sql.append(" (");
    inserted.forEach(column -> sql.append(JdbcValues.quoted(column.name())).append(", "));
    sql.append(JdbcValues.quoted(version)).append(") VALUES ");
    String row =
        inserted.stream()
            .map(column -> column.type().jdbc().placeholder())
            .collect(Collectors.joining(", ", "(", ", ?)"));
    sql.append(Sql.rows(row, rows)).append(dialect.alias(table.name()));
    sql.append(" ON DUPLICATE KEY UPDATE ");
    for (Column column : updated) {
      String value = here(table, column.name());
      sql.append(assignment(table, column.name(), newer, value)).append(", ");
    }
    String value =
        ownerMayChange
            ? here(table, version)
            : "IF(%s, %s, NULL)".formatted(sameOwner(table), here(table, version));
    return sql.append(assignment(table, version, newer, value)).toString();
  }

  private static String assignment(Table table, String column, String newer, String value) {
    return "%s = IF(%s, %s, %s)"
        .formatted(JdbcValues.quoted(column), newer, value, there(table, column));
  }

  /** A column of the row that MySQL has. */
  private static String there(Table table, String column) {
    return JdbcValues.quoted(table.name()) + "." + JdbcValues.quoted(column);
  }

  /** A column of the new row. */
  private String here(Table table, String column) {
    return dialect.newValue(table.name(), JdbcValues.quoted(column));
  }

  /** Byte by byte: a collation may take two owners for one. */
  private String sameOwner(Table table) {
    Column owner = table.ownerColumn();
    String format = owner.type().isText() ? "CAST(%s AS BINARY) = CAST(%s AS BINARY)" : "%s = %s";
    return format.formatted(there(table, owner.name()), here(table, owner.name()));
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
      String version = mysql.list("SELECT VERSION()", rs -> rs.getString(1)).get(0);
      return version.contains("MariaDB") ? MARIADB : MYSQL;
    }
  }
}
