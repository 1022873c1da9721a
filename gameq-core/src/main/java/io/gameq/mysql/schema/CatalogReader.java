package io.gameq.mysql.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader.TableInspection.VersionColumn;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.ForeignKeyRanks;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.ForeignKeys;
import io.gameq.rows.Table.Reference;
import io.gameq.rows.Table.TableDefinition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

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

  private static Catalog read(Handle handle) {
    SchemaSnapshot schema = SchemaSnapshot.read(handle);
    if (!schema.tables().containsKey(REGISTRY)) {
      throw new GameQueueException(
          "this database has no table " + REGISTRY + ": run 'gameq-writer schema migrate'");
    }
    List<TableSpec> specs =
        handle
            .createQuery("SELECT table_name, owner_kind, owner_column FROM " + REGISTRY)
            .map(
                (row, context) ->
                    new TableSpec(row.getString(1), row.getString(2), row.getString(3)))
            .list();
    Map<String, Set<String>> dropped =
        schema.tables().containsKey(LayoutTable.DROPPED) // or who reads may not see it
            ? LayoutTable.dropped(handle)
            : Map.of();
    Map<String, TableDefinition> definitions = new TreeMap<>();
    Map<String, String> unmanaged = new HashMap<>();
    for (TableSpec spec : specs) {
      TableInspector.Result result = TableInspector.inspect(schema, spec, List.of());
      TableDefinition definition = result.definition();
      String name = result.inspection().spec().name();
      if (definition == null) {
        unmanaged.put(name, String.join("; ", result.inspection().reasons()));
      } else if (result.inspection().versionColumn() == VersionColumn.MISSING) {
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

  /**
   * Whether these tables can be managed, registered or not; reads only.
   *
   * @throws org.jdbi.v3.core.JdbiException when the database does not answer
   */
  public static Inspection inspect(MySql database, List<TableSpec> specs) {
    return database
        .jdbi()
        .withHandle(
            handle ->
                new Inspection(
                    results(handle, SchemaSnapshot.read(handle), specs).stream()
                        .map(TableInspector.Result::inspection)
                        .toList()));
  }

  /**
   * What mends these tables, in their order; reads only.
   *
   * @throws io.gameq.MySqlException when the database does not answer
   */
  public static List<TableFix> fixes(MySql database, List<TableSpec> specs) {
    return database.ask(
        handle -> {
          SchemaSnapshot schema = SchemaSnapshot.read(handle);
          return SchemaRepair.of(handle, schema, results(handle, schema, specs));
        });
  }

  /**
   * Which tables could be managed, and by which owner column; reads only.
   *
   * @param ownerColumns the only ones to choose from; empty: any
   * @throws GameQueueException when no table has one of these columns
   * @throws io.gameq.MySqlException when the database does not answer
   */
  public static SchemaDraft draft(MySql database, List<String> ownerColumns) {
    return database.ask(
        handle -> {
          SchemaSnapshot schema = SchemaSnapshot.read(handle);
          OwnerGuess guess = OwnerGuess.of(schema, ownerColumns);
          List<TableSpec> specs =
              guess.proposals().stream().map(SchemaDraft.Proposal::table).toList();
          return new SchemaDraft(
              guess.owners(),
              guess.proposals(),
              new Inspection(
                  results(handle, schema, specs).stream()
                      .map(TableInspector.Result::inspection)
                      .toList()),
              guess.left());
        });
  }

  private static List<TableInspector.Result> results(
      Handle handle, SchemaSnapshot schema, List<TableSpec> specs) {
    List<StoredStatements> stored = StoredStatements.read(handle);
    return specs.stream().map(spec -> TableInspector.inspect(schema, spec, stored)).toList();
  }

  /**
   * A table to be managed, registered in gameq_table or about to be.
   *
   * @param ownerKind the kind of the owner ids, as {@code player}
   * @param ownerColumn the column that holds the key of the owner id
   */
  public record TableSpec(String name, String ownerKind, String ownerColumn) {}

  /** What {@link CatalogReader#inspect} found, table by table in the order of the question. */
  public record Inspection(List<TableInspection> tables) {
    public Inspection {
      tables = List.copyOf(tables);
    }

    /** True when every table can be managed, after the missing version columns were added. */
    public boolean manageable() {
      return tables.stream().allMatch(TableInspection::manageable);
    }
  }

  /**
   * Which tables of a database could be managed, and whose rows they hold: a guess, to be looked
   * through; immutable.
   *
   * @param owners the kinds of owners, those with most tables first
   * @param proposals table by table, those of one kind of owner together, its own table first
   * @param inspection of the proposed tables, in the same order
   * @param left what is not proposed
   */
  public record SchemaDraft(
      List<Owner> owners, List<Proposal> proposals, Inspection inspection, List<LeftOut> left) {
    public SchemaDraft {
      owners = List.copyOf(owners);
      proposals = List.copyOf(proposals);
      left = List.copyOf(left);
    }

    /**
     * A kind of owners.
     *
     * @param kind for example {@code player}
     * @param table the one whose rows are the owners themselves, as {@code players}; null: none
     * @param key its primary key
     */
    public record Owner(String kind, @Nullable String table, @Nullable String key) {}

    /**
     * A table and its owner column.
     *
     * @param reason why that column
     * @param others other columns that might be meant, each with why
     */
    public record Proposal(TableSpec table, String reason, List<String> others) {
      public Proposal {
        others = List.copyOf(others);
      }
    }

    /**
     * A table that is not proposed.
     *
     * @param unsure what it would be proposed as, were the guess better founded; null: nothing
     */
    public record LeftOut(String table, String reason, @Nullable TableSpec unsure) {}
  }

  /**
   * Whether a table can be managed.
   *
   * @param spec as the database names table and column, where it has them
   * @param reasons why it cannot; empty when it can
   * @param warnings what works, but not as one may expect
   * @param otherWriters triggers, procedures and events that write the table, which gameq cannot
   *     see
   */
  public record TableInspection(
      TableSpec spec,
      List<String> reasons,
      List<String> warnings,
      VersionColumn versionColumn,
      List<String> otherWriters) {

    /** The state of gq_version. */
    public enum VersionColumn {
      PRESENT,
      /** To be added by 'schema migrate'. */
      MISSING,
      /** There, but not BIGINT UNSIGNED NOT NULL DEFAULT 0; also one of the reasons. */
      WRONG
    }

    public TableInspection {
      reasons = List.copyOf(reasons);
      warnings = List.copyOf(warnings);
      otherWriters = List.copyOf(otherWriters);
    }

    /** True when nothing stands against it; a missing version column does not. */
    public boolean manageable() {
      return reasons.isEmpty();
    }
  }
}
