package io.gameq.writer.mysql;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.mysql.schema.TableInspector;
import io.gameq.mysql.schema.TableInspector.Flaw;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.mysql.schema.TableInspector.VersionColumn;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.TableDefinition;
import io.gameq.rows.Table.UniqueKey;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Whether a table can be managed, and what an operator should know of it; immutable.
 *
 * @param spec as the database names table and column, where it has them
 * @param flaws why it cannot be managed; empty when it can
 * @param warnings what works, but not as one may expect
 * @param otherWriters triggers, procedures and events that write the table, unseen by gameq
 */
public record TableInspection(
    TableSpec spec,
    List<Flaw> flaws,
    VersionColumn versionColumn,
    List<String> warnings,
    List<String> otherWriters) {

  /** Inspects tables in their order; reads only. */
  static List<TableInspection> of(Handle handle, SchemaSnapshot schema, List<TableSpec> specs)
      throws SQLException {
    List<StoredStatements> stored = StoredStatements.read(handle);
    return specs.stream().map(spec -> of(schema, spec, stored)).toList();
  }

  private static TableInspection of(
      SchemaSnapshot schema, TableSpec spec, List<StoredStatements> stored) {
    TableInspector.Result result = TableInspector.inspect(schema, spec);
    TableFacts table = schema.table(result.spec().name());
    TableDefinition definition = result.definition();
    return new TableInspection(
        result.spec(),
        result.flaws(),
        result.versionColumn(),
        table == null || definition == null
            ? List.of()
            : new Warnings(schema, table, definition).all(stored),
        stored.stream()
            .filter(of -> of.writes(result.spec().name()))
            .map(StoredStatements::name)
            .toList());
  }

  /** True when nothing stands against it; a missing version column does not. */
  public boolean manageable() {
    return flaws.isEmpty();
  }

  /** Why it cannot be managed, in words. */
  public List<String> reasons() {
    return flaws.stream().map(Flaw::reason).toList();
  }

  /** Collects the warnings of one table. Used by one thread. */
  private static final class Warnings {
    private final SchemaSnapshot schema;
    private final TableFacts table;
    private final TableDefinition definition;
    private final List<String> warnings = new ArrayList<>();

    Warnings(SchemaSnapshot schema, TableFacts table, TableDefinition definition) {
      this.schema = schema;
      this.table = table;
      this.definition = definition;
    }

    List<String> all(List<StoredStatements> stored) {
      for (ColumnFacts column : table.columns()) {
        if (column.extraHas("auto_increment")) {
          warnings.add(
              ("column %s is AUTO_INCREMENT: gameq writes no row whose number MySQL"
                      + " invents, the game takes each from GameQueue.ids")
                  .formatted(column.name()));
        }
      }
      keyLength();
      String owner = definition.ownerColumn();
      if (table.column(owner) != null && !table.hasIndexThatBeginsWith(owner)) {
        warnings.add(
            ("no index begins with owner column %s: opening an owner reads the whole table; add"
                    + " one, as by ALTER TABLE %s ADD INDEX (%s)")
                .formatted(owner, JdbcValues.quoted(table.name()), JdbcValues.quoted(owner)));
      }
      uniqueKeys();
      for (ForeignKeyFacts key : schema.foreignKeys()) {
        if (key.child().equals(table.name())) {
          rule(key, "DELETE", key.deleteRule());
          rule(key, "UPDATE", key.updateRule());
        }
      }
      circles();
      if (!table.triggers().isEmpty()) {
        warnings.add(
            "triggers (%s) run on every flush, also on one that changes nothing"
                .formatted(String.join(", ", table.triggers())));
      }
      stored.forEach(of -> warnings.addAll(of.warningsFor(table.name())));
      return warnings;
    }

    private void keyLength() {
      long longest = -1;
      for (Column column : definition.columns()) {
        if (definition.primaryKey().contains(column.name()) && column.type().keyProblem() == null) {
          longest += column.type().maxKeyBytes() + 1L;
        }
      }
      if (longest > RowKey.MAX_KEY_BYTES) {
        warnings.add(
            ("a primary key can take up to %s bytes encoded: rows whose key takes more than"
                    + " %s are refused")
                .formatted(longest, RowKey.MAX_KEY_BYTES));
      }
    }

    private void uniqueKeys() {
      if (!table.otherUniqueKeys().isEmpty()) {
        warnings.add(
            "other UNIQUE keys (%s): a row that breaks one is refused, and the flush is slower"
                .formatted(String.join(", ", table.otherUniqueKeys())));
      }
      for (UniqueKey key : definition.otherUniqueKeys()) {
        if (key.spare() == null) {
          warnings.add(
              ("rows that exchange values of the UNIQUE key %s in one flush become dead letters:"
                      + " %s")
                  .formatted(
                      key.name(),
                      key.columns().isEmpty()
                          ? "a part of it is an expression, a prefix, or a column that gameq does"
                              + " not write"
                          : "none of its columns can have another value for a moment; one that is"
                              + " not the owner's, in no primary or foreign key, and may be NULL"
                              + " or is an integer or a text, can"));
        }
      }
    }

    private void rule(ForeignKeyFacts key, String event, String rule) {
      if (!rule.equals("RESTRICT") && !rule.equals("NO ACTION")) {
        warnings.add(
            ("foreign key %s to %s is ON %s %s: MySQL changes rows that gameq may still"
                    + " write, use RESTRICT")
                .formatted(key.name(), key.parent(), event, rule));
      }
    }

    /** Rows that need each other cannot be written one after the other. */
    private void circles() {
      if (leadsBack(key -> schema.optionalColumns(key).isEmpty())) {
        warnings.add(
            "foreign keys of NOT NULL columns lead from this table back to it: rows that refer to"
                + " each other in a circle are refused, let one of the columns be NULL");
      }
      if (leadsBack(key -> !key.child().equals(key.parent()))) {
        warnings.add(
            "foreign keys lead from this table by way of others back to it: rows that need each"
                + " other are written when one owner has them all; of two owners, commit one"
                + " reference later");
      }
    }

    /** Whether some of the foreign keys lead from this table to others and from those to it. */
    private boolean leadsBack(Predicate<ForeignKeyFacts> some) {
      Set<String> reached = new HashSet<>();
      Deque<String> open = new ArrayDeque<>(List.of(table.name()));
      while (!open.isEmpty()) {
        String child = open.pop();
        schema.foreignKeys().stream()
            .filter(key -> key.child().equals(child) && some.test(key) && reached.add(key.parent()))
            .forEach(key -> open.push(key.parent()));
      }
      return reached.contains(table.name());
    }
  }

  /**
   * A trigger, procedure, function or event of the current database; immutable. Its text is
   * searched, not parsed.
   *
   * @param name for example {@code trigger made of player}
   */
  private record StoredStatements(String name, String body) {
    private static final int FLAGS = Pattern.CASE_INSENSITIVE | Pattern.DOTALL;

    /** What may stand between the verb and the table. */
    private static final String MODIFIERS =
        "\\s+(?:(?:low_priority|high_priority|delayed|quick|ignore)\\s+)*";

    /** As far as the user may see them. */
    static List<StoredStatements> read(Handle handle) throws SQLException {
      List<StoredStatements> all = new ArrayList<>();
      for (String sql :
          List.of(
              "SELECT CONCAT('trigger ', TRIGGER_NAME, ' of ', EVENT_OBJECT_TABLE),"
                  + " ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA ="
                  + " DATABASE() ORDER BY TRIGGER_NAME",
              "SELECT CONCAT(LOWER(ROUTINE_TYPE), ' ', ROUTINE_NAME), ROUTINE_DEFINITION FROM"
                  + " information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() ORDER BY"
                  + " ROUTINE_NAME",
              "SELECT CONCAT('event ', EVENT_NAME), EVENT_DEFINITION FROM"
                  + " information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() ORDER BY"
                  + " EVENT_NAME")) {
        Sql.select(
            handle.getConnection(),
            sql,
            row -> {
              @Nullable String body = row.getString(2); // null: not for this user
              all.add(new StoredStatements(row.getString(1), body == null ? "" : body));
            });
      }
      return all;
    }

    List<String> warningsFor(String table) {
      List<String> warnings = new ArrayList<>();
      if (writes(table)) {
        warnings.add(
            "%s writes this table past gameq: who has the owner open does not see it"
                .formatted(name));
      }
      if (found(
          "\\b(?:insert|replace)%s(?:into\\s+)?%s\\s*\\b(?:values?|select|table|with)\\b"
              .formatted(MODIFIERS, named(table)))) {
        warnings.add(
            ("%s inserts into this table without a list of columns, which fails once gq_version is"
                    + " there: name the columns")
                .formatted(name));
      }
      return warnings;
    }

    boolean writes(String table) {
      return found(
          "\\b(?:(?:insert|replace)%1$s(?:into\\s+)?|update%1$s|delete%1$sfrom\\s+)%2$s"
              .formatted(MODIFIERS, named(table)));
    }

    /** The name, plain or quoted, of this database or another: that is not told apart. */
    private static String named(String table) {
      return "(?:(?:`[^`]+`|[\\w$]+)\\s*\\.\\s*)?(?:`%1$s`|%1$s(?![\\w$]))"
          .formatted(Pattern.quote(table));
    }

    private boolean found(String regex) {
      return Pattern.compile(regex, FLAGS).matcher(body).find();
    }
  }
}
