package io.gameq.mysql.schema;

import io.gameq.mysql.schema.CatalogReader.TableSpec;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What information_schema says of the current database, in a fixed number of queries; immutable
 * once read. Names are those that tables and columns have, however a foreign key spells them.
 *
 * @param foldsNames whether the server takes names of tables in capitals and in small letters for
 *     the same: lower_case_table_names is not 0. Of columns every server does
 */
public record SchemaSnapshot(
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
      Set<String> names = new LinkedHashSet<>();
      indexParts.stream()
          .filter(p -> p.unique() && !p.primary())
          .forEach(p -> names.add(p.index()));
      return names;
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

  /** The same, with table and column named as the database names them, where it has them. */
  TableSpec asNamedHere(TableSpec spec) {
    TableFacts table = table(spec.name());
    if (table == null) {
      return spec;
    }
    ColumnFacts column = table.column(spec.ownerColumn());
    return new TableSpec(
        table.name(), spec.ownerKind(), column == null ? spec.ownerColumn() : column.name());
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

  /** Whether a row may do without what this foreign key refers to. */
  public boolean isOptional(ForeignKeyFacts key) {
    return !optionalColumns(key).isEmpty();
  }

  /** The columns of a foreign key that may be NULL: one that is refers to nothing. */
  List<String> optionalColumns(ForeignKeyFacts key) {
    TableFacts child = tables.get(key.child());
    return child == null
        ? List.of()
        : child.columns().stream()
            .filter(column -> column.nullable() && key.columns().contains(column.name()))
            .map(ColumnFacts::name)
            .toList();
  }

  /** Whether some of the foreign keys lead from a table to others and from those to it. */
  public boolean leadsBackTo(String table, Predicate<ForeignKeyFacts> some) {
    Set<String> reached = new LinkedHashSet<>();
    List<String> open = new ArrayList<>(List.of(table));
    while (!open.isEmpty()) {
      String child = open.remove(open.size() - 1);
      for (ForeignKeyFacts key : foreignKeys) {
        if (key.child().equals(child) && some.test(key) && reached.add(key.parent())) {
          open.add(key.parent());
        }
      }
    }
    return reached.contains(table);
  }

  public static SchemaSnapshot read(Handle handle) {
    boolean mariaDb =
        handle.createQuery("SELECT VERSION()").mapTo(String.class).one().contains("MariaDB");
    boolean foldsNames =
        handle.createQuery("SELECT @@lower_case_table_names").mapTo(Integer.class).one() != 0;
    Map<String, TableFacts> tables = new LinkedHashMap<>();
    handle
        .createQuery(
            "SELECT TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES"
                + " WHERE TABLE_SCHEMA = DATABASE()")
        .map((row, context) -> table(row))
        .forEach(table -> tables.put(table.name(), table));
    readColumns(handle, tables);
    readIndexes(handle, tables);
    readTriggers(handle, tables);
    SchemaSnapshot asWritten = new SchemaSnapshot(mariaDb, foldsNames, tables, List.of());
    return new SchemaSnapshot(
        mariaDb,
        foldsNames,
        tables,
        foreignKeys(handle).stream().map(asWritten::asNamedHere).toList());
  }

  private static TableFacts table(ResultSet row) throws SQLException {
    return new TableFacts(
        row.getString(1),
        row.getString(2),
        row.getString(3),
        new ArrayList<>(),
        new ArrayList<>(),
        new ArrayList<>());
  }

  private static void readColumns(Handle handle, Map<String, TableFacts> tables) {
    handle
        .createQuery(
            "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, CHARACTER_SET_NAME, COLLATION_NAME,"
                + " IS_NULLABLE, COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION"
                + " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
                + " ORDER BY TABLE_NAME, ORDINAL_POSITION")
        .map(
            (row, context) -> {
              TableFacts table = tables.get(row.getString(1));
              return table != null && table.columns().add(column(row));
            })
        .list();
  }

  private static ColumnFacts column(ResultSet row) throws SQLException {
    String generation = row.getString(9);
    return new ColumnFacts(
        row.getString(2),
        row.getString(3),
        row.getString(4),
        row.getString(5),
        row.getString(6).equals("YES"),
        row.getString(7),
        row.getString(8),
        generation != null && !generation.isEmpty());
  }

  private static void readIndexes(Handle handle, Map<String, TableFacts> tables) {
    handle
        .createQuery(
            "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME, SUB_PART"
                + " FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()"
                + " ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX")
        .map(
            (row, context) -> {
              TableFacts table = tables.get(row.getString(1));
              return table != null
                  && table
                      .indexParts()
                      .add(
                          new IndexPart(
                              row.getString(2),
                              row.getInt(3) == 0,
                              row.getInt(4),
                              row.getString(5),
                              row.getString(6) != null));
            })
        .list();
  }

  private static void readTriggers(Handle handle, Map<String, TableFacts> tables) {
    handle
        .createQuery(
            "SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS"
                + " WHERE EVENT_OBJECT_SCHEMA = DATABASE()")
        .map(
            (row, context) -> {
              TableFacts table = tables.get(row.getString(1));
              return table != null && table.triggers().add(row.getString(2));
            })
        .list();
  }

  private static List<ForeignKeyFacts> foreignKeys(Handle handle) {
    Map<String, List<List<String>>> columns = foreignKeyColumns(handle);
    return handle
        .createQuery(
            "SELECT CONSTRAINT_NAME, TABLE_NAME, COALESCE(IF(UNIQUE_CONSTRAINT_SCHEMA ="
                + " CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME, CONCAT(UNIQUE_CONSTRAINT_SCHEMA, '.',"
                + " REFERENCED_TABLE_NAME)), '"
                + HIDDEN
                + "'), COALESCE(DELETE_RULE, ''), COALESCE(UPDATE_RULE, '') FROM"
                + " information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()"
                + " ORDER BY TABLE_NAME, CONSTRAINT_NAME")
        .map(
            (row, context) ->
                new ForeignKeyFacts(
                    row.getString(1),
                    row.getString(2),
                    of(columns, row, 0),
                    row.getString(3),
                    of(columns, row, 1),
                    row.getString(4),
                    row.getString(5)))
        .list();
  }

  private static List<String> of(Map<String, List<List<String>>> columns, ResultSet row, int side)
      throws SQLException {
    return columns.getOrDefault(keyName(row), List.of()).stream()
        .map(pair -> pair.get(side))
        .toList();
  }

  /** Constraint names are unique in a database on MySQL, in a table on MariaDB. */
  private static String keyName(ResultSet row) throws SQLException {
    return row.getString(2) + "." + row.getString(1);
  }

  /** By table and name, for each column the one that it refers to. */
  private static Map<String, List<List<String>>> foreignKeyColumns(Handle handle) {
    Map<String, List<List<String>>> columns = new HashMap<>();
    handle
        .createQuery(
            "SELECT CONSTRAINT_NAME, TABLE_NAME, COLUMN_NAME, COALESCE(REFERENCED_COLUMN_NAME, '"
                + HIDDEN
                + "') FROM information_schema.KEY_COLUMN_USAGE"
                + " WHERE TABLE_SCHEMA = DATABASE() AND POSITION_IN_UNIQUE_CONSTRAINT IS NOT NULL"
                + " ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION")
        .map(
            (row, context) ->
                columns
                    .computeIfAbsent(keyName(row), name -> new ArrayList<>())
                    .add(List.of(row.getString(3), row.getString(4))))
        .list();
    return columns;
  }
}
