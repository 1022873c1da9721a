package io.gameq.mysql.schema;

import io.gameq.mysql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What information_schema says of the current database, in a fixed number of queries; immutable
 * once read. Names are those that tables and columns have, however a foreign key spells them.
 *
 * @param name what messages call it, as {@code database 'game'}
 * @param foldsNames whether the server takes names of tables in capitals and in small letters for
 *     the same: lower_case_table_names is not 0. Of columns every server does
 */
public record SchemaSnapshot(
    String name,
    boolean mariaDb,
    boolean foldsNames,
    Map<String, TableFacts> tables,
    List<ForeignKeyFacts> foreignKeys) {

  /** MariaDB says nothing of a parent on which the user has no right. */
  private static final String HIDDEN = "(hidden)";

  /** A table; its lists grow while the snapshot is read. */
  public record TableFacts(
      String name,
      String tableType,
      @Nullable String engine,
      List<ColumnFacts> columns,
      List<IndexPart> indexParts,
      List<String> triggers) {

    public boolean isBaseTable() {
      return tableType.equals("BASE TABLE");
    }

    public List<IndexPart> primaryKey() {
      return indexParts.stream().filter(IndexPart::primary).toList();
    }

    /** The column of this name, in capitals or small letters as MySQL compares them. */
    public @Nullable ColumnFacts column(String name) {
      return columns.stream()
          .filter(of -> of.name().equalsIgnoreCase(name))
          .findFirst()
          .orElse(null);
    }

    public Set<String> otherUniqueKeys() {
      return indexParts.stream()
          .filter(p -> p.unique() && !p.primary())
          .map(IndexPart::index)
          .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    public boolean hasIndexThatBeginsWith(String column) {
      return indexParts.stream().anyMatch(p -> p.position() == 1 && column.equals(p.column()));
    }
  }

  /**
   * A column.
   *
   * @param defaultText COLUMN_DEFAULT, which MySQL gives as a value and MariaDB as SQL
   */
  public record ColumnFacts(
      String name,
      String columnType,
      @Nullable String charset,
      @Nullable String collation,
      boolean nullable,
      @Nullable String defaultText,
      String extra,
      boolean generated) {

    public boolean extraHas(String word) {
      return extra.toLowerCase(Locale.ROOT).contains(word);
    }
  }

  /** A part of an index; the column is null for an expression. */
  public record IndexPart(
      String index, boolean unique, int position, @Nullable String column, boolean prefix) {
    public boolean primary() {
      return index.equals("PRIMARY");
    }
  }

  /**
   * A foreign key of a table of this database.
   *
   * @param columns of the child
   * @param parentColumns those that they refer to
   * @param parent with its database in front, {@code other.guild}, when it is in another one; a
   *     table that the user may not see counts as such, see {@link #HIDDEN}
   */
  public record ForeignKeyFacts(
      String name,
      String child,
      List<String> columns,
      String parent,
      List<String> parentColumns,
      String deleteRule,
      String updateRule) {}

  /** The table that the server means by this name; null: none. */
  public @Nullable TableFacts table(String name) {
    TableFacts exact = tables.get(name);
    if (exact != null || !foldsNames) {
      return exact;
    }
    return tables.values().stream()
        .filter(of -> of.name().equalsIgnoreCase(name))
        .findFirst()
        .orElse(null);
  }

  private ForeignKeyFacts asNamedHere(ForeignKeyFacts key) {
    TableFacts parent = table(key.parent());
    return new ForeignKeyFacts(
        key.name(),
        key.child(),
        asNamedHere(table(key.child()), key.columns()),
        parent == null ? key.parent() : parent.name(),
        asNamedHere(parent, key.parentColumns()),
        key.deleteRule(),
        key.updateRule());
  }

  private static List<String> asNamedHere(@Nullable TableFacts table, List<String> columns) {
    return columns.stream()
        .map(
            name -> {
              ColumnFacts column = table == null ? null : table.column(name);
              return column == null ? name : column.name();
            })
        .toList();
  }

  /** The columns of a foreign key that may be NULL: one that is refers to nothing. */
  public List<String> optionalColumns(ForeignKeyFacts key) {
    TableFacts child = tables.get(key.child());
    return child == null
        ? List.of()
        : child.columns().stream()
            .filter(column -> column.nullable() && key.columns().contains(column.name()))
            .map(ColumnFacts::name)
            .toList();
  }

  public static SchemaSnapshot read(Handle handle) throws SQLException {
    Connection connection = handle.getConnection();
    boolean mariaDb = Sql.exists(connection, "SELECT 1 FROM DUAL WHERE VERSION() LIKE '%MariaDB%'");
    boolean foldsNames =
        Sql.exists(connection, "SELECT 1 FROM DUAL WHERE @@lower_case_table_names <> 0");
    Map<String, TableFacts> tables = new LinkedHashMap<>();
    Sql.select(
        connection,
        "SELECT TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA ="
            + " DATABASE()",
        rs ->
            tables.put(
                rs.getString(1),
                new TableFacts(
                    rs.getString(1),
                    rs.getString(2),
                    rs.getString(3),
                    new ArrayList<>(),
                    new ArrayList<>(),
                    new ArrayList<>())));
    readParts(
        connection,
        tables,
        "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, CHARACTER_SET_NAME, COLLATION_NAME,"
            + " IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COALESCE(GENERATION_EXPRESSION, '') FROM"
            + " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME,"
            + " ORDINAL_POSITION",
        (table, rs) ->
            table.columns.add(
                new ColumnFacts(
                    rs.getString(2),
                    rs.getString(3),
                    rs.getString(4),
                    rs.getString(5),
                    rs.getString(6).equals("YES"),
                    rs.getString(7),
                    rs.getString(8),
                    !rs.getString(9).isEmpty())));
    readParts(
        connection,
        tables,
        "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE = 0, SEQ_IN_INDEX, COLUMN_NAME, SUB_PART IS NOT"
            + " NULL FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY"
            + " TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
        (table, rs) ->
            table.indexParts.add(
                new IndexPart(
                    rs.getString(2),
                    rs.getBoolean(3),
                    rs.getInt(4),
                    rs.getString(5),
                    rs.getBoolean(6))));
    readParts(
        connection,
        tables,
        "SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS WHERE"
            + " EVENT_OBJECT_SCHEMA = DATABASE()",
        (table, rs) -> table.triggers.add(rs.getString(2)));
    String name = "database '" + connection.getCatalog() + "'";
    SchemaSnapshot asWritten = new SchemaSnapshot(name, mariaDb, foldsNames, tables, List.of());
    return new SchemaSnapshot(
        name,
        mariaDb,
        foldsNames,
        tables,
        foreignKeys(connection).stream().map(asWritten::asNamedHere).toList());
  }

  /** Adds what a row says to its table. */
  private interface Part {
    void addTo(TableFacts table, ResultSet rs) throws SQLException;
  }

  /** Rows that begin with the name of a table. */
  private static void readParts(
      Connection connection, Map<String, TableFacts> tables, String sql, Part part)
      throws SQLException {
    Sql.select(
        connection,
        sql,
        rs -> {
          TableFacts table = tables.get(rs.getString(1));
          if (table != null) {
            part.addTo(table, rs);
          }
        });
  }

  /** Constraint names are unique in a database on MySQL, in a table on MariaDB. */
  private static Collection<ForeignKeyFacts> foreignKeys(Connection connection)
      throws SQLException {
    Map<List<String>, ForeignKeyFacts> keys = new LinkedHashMap<>();
    Sql.select(
        connection,
        "SELECT CONSTRAINT_NAME, TABLE_NAME, COALESCE(IF(UNIQUE_CONSTRAINT_SCHEMA ="
            + " CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME, CONCAT(UNIQUE_CONSTRAINT_SCHEMA, '.',"
            + " REFERENCED_TABLE_NAME)), '%s'), COALESCE(DELETE_RULE, ''), COALESCE(UPDATE_RULE,"
                .formatted(HIDDEN)
            + " '') FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA ="
            + " DATABASE() ORDER BY TABLE_NAME, CONSTRAINT_NAME",
        rs ->
            keys.put(
                List.of(rs.getString(1), rs.getString(2)),
                new ForeignKeyFacts(
                    rs.getString(1),
                    rs.getString(2),
                    new ArrayList<>(),
                    rs.getString(3),
                    new ArrayList<>(),
                    rs.getString(4),
                    rs.getString(5))));
    Sql.select(
        connection,
        "SELECT CONSTRAINT_NAME, TABLE_NAME, COLUMN_NAME, COALESCE(REFERENCED_COLUMN_NAME, '%s')"
                .formatted(HIDDEN)
            + " FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND"
            + " POSITION_IN_UNIQUE_CONSTRAINT IS NOT NULL ORDER BY TABLE_NAME, CONSTRAINT_NAME,"
            + " ORDINAL_POSITION",
        rs -> {
          ForeignKeyFacts key = keys.get(List.of(rs.getString(1), rs.getString(2)));
          if (key != null) {
            key.columns.add(rs.getString(3));
            key.parentColumns.add(rs.getString(4));
          }
        });
    return keys.values();
  }
}
