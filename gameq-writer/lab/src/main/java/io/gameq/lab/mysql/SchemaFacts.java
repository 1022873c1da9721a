package io.gameq.lab.mysql;

import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the demo must know of a schema to make rows that fit it; immutable once read. */
public record SchemaFacts(Map<String, TableFacts> tables) {

  /**
   * A table; its collections grow while it is read.
   *
   * @param uniqueKeys column lists of the UNIQUE keys but the primary one, by name
   */
  public record TableFacts(
      String name,
      Map<String, ColumnFacts> columns,
      List<String> primaryKey,
      Map<String, List<String>> uniqueKeys,
      Map<String, ForeignKey> foreignKeys) {}

  /**
   * A column.
   *
   * @param column null when gameq does not know the type
   * @param optional an INSERT may leave it out
   * @param json holds JSON, whatever its type says: MariaDB's JSON is a LONGTEXT with a check
   */
  public record ColumnFacts(
      String name,
      @Nullable Column column,
      boolean optional,
      boolean autoIncrement,
      boolean generated,
      boolean json) {}

  /** A foreign key; the two lists belong together, part by part. */
  public record ForeignKey(String parent, List<String> columns, List<String> parentColumns) {}

  /** The table of this name, which must exist. */
  public TableFacts table(String name) {
    return Objects.requireNonNull(tables.get(name), name);
  }

  static SchemaFacts read(Connection connection) throws SQLException {
    Map<String, TableFacts> tables = new LinkedHashMap<>();
    try (Statement statement = connection.createStatement()) {
      try (ResultSet row =
          statement.executeQuery(
              "SELECT TABLE_NAME FROM information_schema.TABLES"
                  + " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'"
                  + " ORDER BY TABLE_NAME")) {
        while (row.next()) {
          String name = row.getString(1);
          tables.put(
              name,
              new TableFacts(
                  name,
                  new LinkedHashMap<>(),
                  new ArrayList<>(),
                  new LinkedHashMap<>(),
                  new LinkedHashMap<>()));
        }
      }
      readColumns(statement, tables, jsonChecks(statement));
      readKeys(statement, tables);
      readForeignKeys(statement, tables);
    }
    return new SchemaFacts(tables);
  }

  /** {@code table.column} of each column that has a check json_valid(column). */
  private static Set<String> jsonChecks(Statement statement) throws SQLException {
    Set<String> checked = new HashSet<>();
    try (ResultSet row =
        statement.executeQuery(
            "SELECT TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE"
                + " CONSTRAINT_SCHEMA = DATABASE() AND CHECK_CLAUSE LIKE 'json\\_valid(`%'")) {
      while (row.next()) {
        String[] parts = row.getString(2).split("`", -1);
        checked.add(row.getString(1) + "." + parts[1]);
      }
    } catch (SQLException noSuchColumn) {
      // MySQL has no TABLE_NAME there, and a JSON type of its own.
      return Set.of();
    }
    return checked;
  }

  private static void readColumns(
      Statement statement, Map<String, TableFacts> tables, Set<String> json) throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, CHARACTER_SET_NAME, COLLATION_NAME,"
                + " IS_NULLABLE, COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION"
                + " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
                + " ORDER BY TABLE_NAME, ORDINAL_POSITION")) {
      while (row.next()) {
        TableFacts table = tables.get(row.getString(1));
        if (table == null) {
          continue;
        }
        String name = row.getString(2);
        String label = table.name() + "." + name;
        boolean nullable = row.getString(6).equals("YES");
        String extra = row.getString(8).toLowerCase(Locale.ROOT);
        String generation = row.getString(9);
        table
            .columns()
            .put(
                name,
                new ColumnFacts(
                    name,
                    column(
                        label,
                        name,
                        row.getString(3),
                        row.getString(4),
                        row.getString(5),
                        nullable),
                    nullable || row.getString(7) != null || extra.contains("auto_increment"),
                    extra.contains("auto_increment"),
                    generation != null && !generation.isEmpty(),
                    row.getString(3).equalsIgnoreCase("json") || json.contains(label)));
      }
    }
  }

  private static @Nullable Column column(
      String label,
      String name,
      String type,
      @Nullable String charset,
      @Nullable String collation,
      boolean nullable) {
    try {
      return new Column(
          label,
          name,
          ColumnTypes.declaration(type, charset),
          ColumnTypes.parse(type, charset, collation),
          nullable,
          ColumnDefault.NONE);
    } catch (UnmanageableException unknown) {
      return null;
    }
  }

  private static void readKeys(Statement statement, Map<String, TableFacts> tables)
      throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            "SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS"
                + " WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0"
                + " ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX")) {
      while (row.next()) {
        TableFacts table = tables.get(row.getString(1));
        String column = String.valueOf(row.getString(3));
        if (table == null) {
          continue;
        }
        if (row.getString(2).equals("PRIMARY")) {
          table.primaryKey().add(column);
        } else {
          table.uniqueKeys().computeIfAbsent(row.getString(2), k -> new ArrayList<>()).add(column);
        }
      }
    }
  }

  private static void readForeignKeys(Statement statement, Map<String, TableFacts> tables)
      throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME,"
                + " REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE"
                + " WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IS NOT NULL"
                + " ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION")) {
      while (row.next()) {
        TableFacts table = tables.get(row.getString(1));
        if (table == null) {
          continue;
        }
        String parent = row.getString(4);
        ForeignKey key =
            table
                .foreignKeys()
                .computeIfAbsent(
                    row.getString(2),
                    k -> new ForeignKey(parent, new ArrayList<>(), new ArrayList<>()));
        key.columns().add(row.getString(3));
        key.parentColumns().add(row.getString(5));
      }
    }
  }
}
