package io.gameq.mysql.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.TableInspector.Flaw;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.mysql.schema.TableInspector.VersionColumn;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.ForeignKeyRanks;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.ForeignKeys;
import io.gameq.rows.Table.Reference;
import io.gameq.rows.Table.TableDefinition;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/**
 * Reads the managed tables of the current database, MySQL 8.0 or newer or MariaDB 10.6 or newer, in
 * a fixed number of queries; stateless.
 */
public final class CatalogReader {
  private static final String REGISTRY = "gameq_table";

  private static final Set<String> CHANGES_CHILDREN = Set.of("CASCADE", "SET NULL", "SET DEFAULT");

  private CatalogReader() {}

  /**
   * The catalogue of the tables registered in gameq_table; those that cannot be managed are listed
   * with the reason.
   *
   * @throws GameQueueException when the database has no gameq_table
   * @throws io.gameq.MySqlException when the database does not answer
   */
  public static Catalog read(MySql database) {
    return database.ask(CatalogReader::read);
  }

  private static Catalog read(Handle handle) throws SQLException {
    SchemaSnapshot schema = SchemaSnapshot.read(handle);
    if (!schema.tables().containsKey(REGISTRY)) {
      throw new GameQueueException(
          "%s has no table %s: run 'gameq-writer schema migrate', or correct mysql.url"
              .formatted(schema.name(), REGISTRY));
    }
    Connection connection = handle.getConnection();
    List<TableSpec> specs =
        Sql.list(
            connection,
            "SELECT table_name, owner_kind, owner_column FROM " + REGISTRY,
            rs -> new TableSpec(rs.getString(1), rs.getString(2), rs.getString(3)));
    Map<String, Set<String>> dropped =
        schema.tables().containsKey("gameq_dropped_column") // or who reads may not see it
            ? dropped(connection)
            : Map.of();
    return of(schema, specs, dropped);
  }

  /**
   * The catalogue of some tables of a database.
   *
   * @param dropped columns by table that are dropped on purpose
   */
  public static Catalog of(
      SchemaSnapshot schema, List<TableSpec> specs, Map<String, Set<String>> dropped) {
    Map<String, TableDefinition> definitions = new TreeMap<>();
    Map<String, String> unmanaged = new HashMap<>();
    for (TableSpec spec : specs) {
      TableInspector.Result result = TableInspector.inspect(schema, spec);
      TableDefinition definition = result.definition();
      String name = result.spec().name();
      if (definition == null || !result.flaws().isEmpty()) {
        unmanaged.put(
            name, result.flaws().stream().map(Flaw::reason).collect(Collectors.joining("; ")));
      } else if (result.versionColumn() == VersionColumn.MISSING) {
        unmanaged.put(
            name,
            "it has no column %s: run 'gameq-writer schema migrate'"
                .formatted(Table.VERSION_COLUMN));
      } else {
        definitions.put(name, definition.withDropped(dropped.getOrDefault(name, Set.of())));
      }
    }
    return new Catalog(ranked(definitions, schema), unmanaged, schema.foldsNames());
  }

  /** Columns by table that are dropped on purpose, in capitals or small letters. */
  public static Map<String, Set<String>> dropped(Connection connection) throws SQLException {
    Map<String, Set<String>> dropped = new HashMap<>();
    Sql.select(
        connection,
        "SELECT table_name, column_name FROM gameq_dropped_column",
        rs ->
            dropped
                .computeIfAbsent(
                    rs.getString(1), table -> new TreeSet<>(String.CASE_INSENSITIVE_ORDER))
                .add(rs.getString(2)));
    return dropped;
  }

  private static List<Table> ranked(
      Map<String, TableDefinition> definitions, SchemaSnapshot schema) {
    Map<String, Set<String>> parents = new HashMap<>();
    Map<String, List<ForeignKeyFacts>> ofChild = new HashMap<>();
    Set<String> cascading = new HashSet<>();
    for (ForeignKeyFacts key : schema.foreignKeys()) {
      parents.computeIfAbsent(key.child(), child -> new HashSet<>()).add(key.parent());
      ofChild.computeIfAbsent(key.child(), child -> new ArrayList<>()).add(key);
      if (CHANGES_CHILDREN.contains(key.deleteRule())) {
        cascading.add(key.parent());
      }
    }
    Map<String, Integer> ranks = ForeignKeyRanks.of(definitions.keySet(), parents);
    List<Table> tables = new ArrayList<>();
    definitions.forEach(
        (name, definition) ->
            tables.add(
                new Table(
                    definition.withForeignKeys(
                        ForeignKeys.of(
                            ranks.getOrDefault(name, 0),
                            ofChild.getOrDefault(name, List.of()).stream()
                                .map(key -> reference(schema, key, definition))
                                .toList(),
                            cascading.contains(name))))));
    return tables;
  }

  private static Reference reference(
      SchemaSnapshot schema, ForeignKeyFacts key, TableDefinition child) {
    Set<String> managed = child.columns().stream().map(Column::name).collect(Collectors.toSet());
    Set<String> referredTo = new HashSet<>();
    schema.foreignKeys().stream()
        .filter(other -> other.parent().equals(child.name()))
        .forEach(other -> referredTo.addAll(other.parentColumns()));
    return new Reference(
        key.parent(),
        schema.optionalColumns(key).stream()
            .filter(managed::contains)
            .filter(column -> !referredTo.contains(column)) // else other rows change with it
            .findFirst()
            .orElse(null));
  }
}
