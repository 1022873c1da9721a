package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.CatalogReader.TableSpec;
import io.gameq.mysql.schema.ColumnChanges.Change;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.mysql.schema.TableInspector.Flaw;
import io.gameq.rows.Table;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Makes the statements that end what stands against tables, one ALTER TABLE each, so that a table
 * is copied once. Used by one thread.
 */
final class SchemaRepair {
  /** InnoDB's limit of a key, in bytes. */
  private static final int MOST_KEY_BYTES = 3_072;

  private final SchemaSnapshot schema;
  private final TableTexts texts;
  private final ColumnChanges columns;
  private final Map<String, NewPrimaryKey> newKeys = new LinkedHashMap<>();
  private final Set<String> wideKeys = new LinkedHashSet<>();
  private final Set<String> all = new HashSet<>();
  private final Set<ForeignKeyFacts> dropped = new HashSet<>();
  private final Set<String> altered = new HashSet<>();

  private SchemaRepair(Handle handle, SchemaSnapshot schema, List<TableInspector.Result> results)
      throws SQLException {
    this.schema = schema;
    this.columns = new ColumnChanges(schema);
    this.texts = new TableTexts(handle);
    for (TableInspector.Result result : results) {
      all.add(result.inspection().spec().name());
      decide(result);
    }
  }

  /** What mends each of these tables, in their order; reads SHOW CREATE TABLE where it must. */
  static List<TableFix> of(
      Handle handle, SchemaSnapshot schema, List<TableInspector.Result> results)
      throws SQLException {
    Map<TableInspector.Result, List<String>> inTheWay = new LinkedHashMap<>();
    for (TableInspector.Result result : results) {
      TableFacts table = schema.table(result.inspection().spec().name());
      inTheWay.put(
          result,
          table != null && table.isBaseTable()
              ? RowsInTheWay.queries(handle.getConnection(), result)
              : List.of());
    }
    List<TableInspector.Result> ready =
        results.stream().filter(of -> inTheWay.getOrDefault(of, List.of()).isEmpty()).toList();
    SchemaRepair together = new SchemaRepair(handle, schema, ready);
    List<TableFix> fixes = new ArrayList<>();
    for (TableInspector.Result result : results) {
      // A proposal by itself: nothing that runs may wait for a decision about rows.
      SchemaRepair repair =
          ready.contains(result) ? together : new SchemaRepair(handle, schema, List.of(result));
      fixes.add(repair.fix(result, inTheWay.getOrDefault(result, List.of())));
    }
    return fixes;
  }

  /** Before any statement is made: columns of other tables may have to change as well. */
  private void decide(TableInspector.Result result) throws SQLException {
    TableSpec spec = result.inspection().spec();
    TableFacts table = schema.table(spec.name());
    if (table == null || !table.isBaseTable()) {
      return;
    }
    for (Flaw flaw : result.flaws()) {
      switch (flaw.kind()) {
        case COLLATION -> columns.compareAsItIs(table.name(), flaw.column());
        case CHARACTER_SET -> {
          boolean compared =
              flaw.column().equals(spec.ownerColumn())
                  || table.primaryKey().stream().anyMatch(p -> flaw.column().equals(p.column()));
          columns.setCharset(
              table.name(), flaw.column(), "utf8mb4", compared ? "utf8mb4_bin" : null);
        }
        case NULLABLE -> columns.setNotNull(table.name(), flaw.column());
        case DIGITS -> columns.dropDigits(table.name(), flaw.column());
        case NO_PRIMARY_KEY -> {
          NewPrimaryKey key =
              NewPrimaryKey.of(table, spec.ownerColumn(), texts.isPartitioned(table.name()));
          if (key != null) {
            newKeys.put(table.name(), key);
            key.columns().forEach(column -> columns.compareAsItIs(table.name(), column));
          }
        }
        case PREFIX_IN_KEY -> {
          if (canBeWhole(table)) {
            wideKeys.add(table.name());
            columns.compareAsItIs(table.name(), flaw.column());
          }
        }
        default -> {}
      }
    }
  }

  private static boolean canBeWhole(TableFacts table) {
    long bytes = 0;
    for (IndexPart part : table.primaryKey()) {
      ColumnFacts column = part.column() == null ? null : table.column(part.column());
      if (column == null || !NewPrimaryKey.isComparable(column)) {
        return false;
      }
      String digits = column.columnType().replaceAll("\\D", "");
      boolean hasLength = column.columnType().matches("(var)?(char|binary)\\(\\d+\\).*");
      long length = hasLength ? Long.parseLong(digits) : 8;
      bytes += length * (column.charset() == null ? 1 : column.charset().equals("utf8mb4") ? 4 : 3);
    }
    return bytes <= MOST_KEY_BYTES;
  }

  private TableFix fix(TableInspector.Result result, List<String> inTheWay) throws SQLException {
    TableSpec spec = result.inspection().spec();
    TableFacts table = schema.table(spec.name());
    List<String> mended = new ArrayList<>();
    List<String> unmended = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    List<String> alter = new ArrayList<>();
    List<String> before = new ArrayList<>();
    List<String> after = new ArrayList<>();
    for (Flaw flaw : result.flaws()) {
      if (table != null && table.isBaseTable() && isMended(flaw, spec.name())) {
        mended.add(flaw.reason());
      } else {
        unmended.add(flaw.reason() + hint(flaw, spec.name()));
      }
    }
    if (table != null && table.isBaseTable()) {
      List<String> clauses = new ArrayList<>();
      engine(table, clauses);
      columnClauses(table, clauses, unmended, notes);
      keyClauses(table, clauses);
      VersionColumnFix.add(table, result.flaws(), alter, clauses, notes);
      if (!clauses.isEmpty()) {
        alter.add(alter(spec.name(), clauses));
        notes.add(0, texts.cost(spec.name()));
      }
    }
    NewPrimaryKey key = newKeys.get(spec.name());
    if (key != null) {
      notes.addAll(key.notes());
      alter.addAll(key.afterwards());
    }
    altered.add(spec.name());
    tied(spec.name(), alter, unmended, notes);
    foreignKeys(spec.name(), before, after, notes);
    return new TableFix(
        spec,
        mended,
        unmended,
        notes,
        inTheWay,
        new TableFix.Statements(
            before, alter, after, table == null ? List.of() : advice(table, spec)));
  }

  private boolean isMended(Flaw flaw, String table) {
    return switch (flaw.kind()) {
      case PREFIX_IN_KEY -> wideKeys.contains(table);
      case NO_PRIMARY_KEY -> newKeys.containsKey(table);
      default -> flaw.isMendable();
    };
  }

  private static String hint(Flaw flaw, String table) {
    return switch (flaw.kind()) {
      case PREFIX_IN_KEY ->
          (": give the column a type that fits a key whole (%s bytes in all), after a look at"
                  + " SELECT MAX(CHAR_LENGTH(%s)) FROM %s")
              .formatted(
                  MOST_KEY_BYTES, JdbcValues.quoted(flaw.column()), JdbcValues.quoted(table));
      case NO_PRIMARY_KEY ->
          ": it is partitioned, so the key must have the columns of the partitioning; choose those"
              + " that differ in every row";
      case CONFIGURATION -> ": correct the configuration";
      default -> "";
    };
  }

  private static void engine(TableFacts table, List<String> clauses) {
    if ("InnoDB".equals(table.engine())) {
      return;
    }
    clauses.add("ENGINE=InnoDB");
    for (ColumnFacts column : table.columns()) {
      // MyISAM numbers also the second column of a key, InnoDB only the first.
      if (column.extraHas("auto_increment") && !table.hasIndexThatBeginsWith(column.name())) {
        clauses.add("ADD INDEX " + NewPrimaryKey.inBrackets(List.of(column.name())));
      }
    }
  }

  private void columnClauses(
      TableFacts table, List<String> clauses, List<String> unmended, List<String> notes)
      throws SQLException {
    Map<String, ColumnChanges.Change> changes = columns.of(table.name());
    if (changes.isEmpty()) {
      return;
    }
    String createTable = texts.createTable(table.name());
    for (Map.Entry<String, ColumnChanges.Change> of : changes.entrySet()) {
      ColumnDefinition definition = ColumnDefinition.of(createTable, of.getKey());
      if (definition == null) {
        unmended.add("the definition of column %s is not understood".formatted(of.getKey()));
        continue;
      }
      ColumnChanges.Change change = of.getValue();
      ColumnChangeNotes.add(notes, of.getKey(), table.column(of.getKey()), change);
      if (change.charset() != null) {
        definition = definition.in(change.charset(), change.collation());
      }
      if (change.exact()) {
        definition = definition.withoutDigits();
      }
      clauses.add((change.notNull() ? definition.notNull() : definition).modify());
    }
  }

  private void keyClauses(TableFacts table, List<String> clauses) {
    NewPrimaryKey key = newKeys.get(table.name());
    if (key != null) {
      clauses.addAll(key.clauses());
    }
    if (wideKeys.contains(table.name())) {
      clauses.add("DROP PRIMARY KEY");
      clauses.add(
          "ADD PRIMARY KEY "
              + NewPrimaryKey.inBrackets(
                  table.primaryKey().stream().map(part -> String.valueOf(part.column())).toList()));
    }
  }

  /** Tables that are not asked about, with columns that foreign keys tie to those of these. */
  private void tied(String table, List<String> alter, List<String> unmended, List<String> notes)
      throws SQLException {
    if (columns.of(table).isEmpty()) {
      return;
    }
    for (String other : columns.tables()) {
      TableFacts facts = schema.table(other);
      if (facts != null && !all.contains(other) && altered.add(other)) {
        notes.add(
            "table %s changes with it, since foreign keys tie their columns".formatted(other));
        List<String> clauses = new ArrayList<>();
        columnClauses(facts, clauses, unmended, notes);
        if (!clauses.isEmpty()) {
          notes.add(texts.cost(other));
          alter.add(alter(other, clauses));
        }
      }
    }
  }

  private void foreignKeys(
      String table, List<String> before, List<String> after, List<String> notes) {
    for (ForeignKeyFacts key : columns.foreignKeys()) {
      boolean here =
          key.child().equals(table)
              || !all.contains(key.child()); // once, before any table is altered
      if (here && dropped.add(key)) {
        String deleteRule = columns.ruleAfter(key, key.deleteRule());
        String updateRule = columns.ruleAfter(key, key.updateRule());
        before.add(ForeignKeySql.drop(key));
        after.add(ForeignKeySql.add(schema, key, deleteRule, updateRule));
        if (!deleteRule.equals(key.deleteRule()) || !updateRule.equals(key.updateRule())) {
          notes.add(
              ("foreign key %s would set an owner to NULL: it restricts from then on, so the"
                      + " game deletes these rows, or gives them away, before their owner goes")
                  .formatted(key.name()));
        }
      }
    }
  }

  private List<String> advice(TableFacts table, TableSpec spec) {
    List<String> advice = new ArrayList<>();
    NewPrimaryKey key = newKeys.get(table.name());
    String owner = spec.ownerColumn();
    boolean leadsNewKey = key != null && key.columns().indexOf(owner) == 0;
    if (table.column(owner) != null && !table.hasIndexThatBeginsWith(owner) && !leadsNewKey) {
      advice.add(
          "ALTER TABLE %s ADD INDEX %s"
              .formatted(
                  JdbcValues.quoted(table.name()), NewPrimaryKey.inBrackets(List.of(owner))));
    }
    for (ForeignKeyFacts of : schema.foreignKeys()) {
      if (of.child().equals(table.name())
          && !(restricts(columns.ruleAfter(of, of.deleteRule()))
              && restricts(columns.ruleAfter(of, of.updateRule())))) {
        advice.add(ForeignKeySql.drop(of));
        advice.add(ForeignKeySql.add(schema, of, "RESTRICT", "RESTRICT"));
      }
    }
    return advice;
  }

  private static boolean restricts(String rule) {
    return rule.equals("RESTRICT") || rule.equals("NO ACTION");
  }

  private static String alter(String table, List<String> clauses) {
    return "ALTER TABLE %s\n  %s"
        .formatted(JdbcValues.quoted(table), String.join(",\n  ", clauses));
  }

  /** What changes for a game when a column is altered, in words. Stateless. */
  static final class ColumnChangeNotes {
    private ColumnChangeNotes() {}

    static void add(List<String> notes, String name, @Nullable ColumnFacts before, Change change) {
      String charset = change.charset();
      String old = before == null ? null : before.charset();
      if (charset != null && !charset.equals(old)) {
        notes.add(
            ("column %s takes up to 4 bytes a character in %s: this fails where its row or an"
                    + " index becomes too long")
                .formatted(name, charset));
      }
      String collation = change.collation();
      if (collation != null && before != null && !collation.equals(before.collation())) {
        notes.add(
            ("from then on 'Bob' and 'bob' are two values of column %s, in WHERE and in its keys"
                    + " as well")
                .formatted(name));
      }
      if (change.exact()) {
        notes.add(
            ("column %s keeps what it holds and rounds nothing more; for amounts of money make it"
                    + " DECIMAL instead")
                .formatted(name));
      }
    }
  }

  /** Statements that drop a foreign key and make it again. Stateless. */
  static final class ForeignKeySql {
    private ForeignKeySql() {}

    static String drop(ForeignKeyFacts key) {
      return "ALTER TABLE %s DROP FOREIGN KEY %s"
          .formatted(JdbcValues.quoted(key.child()), JdbcValues.quoted(key.name()));
    }

    /** The same key with these rules. */
    static String add(
        SchemaSnapshot schema, ForeignKeyFacts key, String deleteRule, String updateRule) {
      return ("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY %s REFERENCES %s %s"
              + " ON DELETE %s ON UPDATE %s")
          .formatted(
              JdbcValues.quoted(key.child()),
              JdbcValues.quoted(key.name()),
              NewPrimaryKey.inBrackets(key.columns()),
              parent(schema, key.parent()),
              NewPrimaryKey.inBrackets(key.parentColumns()),
              deleteRule,
              updateRule);
    }

    private static String parent(SchemaSnapshot schema, String name) {
      int dot = name.indexOf('.');
      return schema.table(name) != null || dot < 0
          ? JdbcValues.quoted(name)
          : "%s.%s"
              .formatted(
                  JdbcValues.quoted(name.substring(0, dot)),
                  JdbcValues.quoted(name.substring(dot + 1)));
    }
  }

  /** What a server says of single tables: their text, their size. Used by one thread. */
  static final class TableTexts {
    private static final long MIB = 1L << 20;

    private final Handle handle;
    private final Map<String, String> createTables = new HashMap<>();

    TableTexts(Handle handle) {
      this.handle = handle;
    }

    /** SHOW CREATE TABLE; asked once. */
    String createTable(String table) throws SQLException {
      String known = createTables.get(table);
      if (known != null) {
        return known;
      }
      // By JDBC itself: Jdbi would take ':' and '?' in a name for parameters.
      try (Statement statement = handle.getConnection().createStatement();
          ResultSet row = statement.executeQuery("SHOW CREATE TABLE " + JdbcValues.quoted(table))) {
        row.next();
        String text = row.getString(2);
        createTables.put(table, text);
        return text;
      }
    }

    boolean isPartitioned(String table) throws SQLException {
      return createTable(table).contains("PARTITION BY");
    }

    /** What it costs to alter a table, in words. */
    String cost(String table) throws SQLException {
      try (PreparedStatement statement =
          handle
              .getConnection()
              .prepareStatement(
                  "SELECT TABLE_ROWS, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES"
                      + " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?")) {
        statement.setString(1, table);
        try (ResultSet row = statement.executeQuery()) {
          return row.next()
              ? String.format(
                  Locale.ROOT,
                  "copies table %s (rows: about %,d; %,d MiB), and who writes it waits meanwhile",
                  table,
                  row.getLong(1),
                  (row.getLong(2) + MIB - 1) / MIB)
              : "copies table " + table;
        }
      }
    }
  }

  /** Makes gq_version what it has to be. Stateless. */
  static final class VersionColumnFix {
    private static final String VERSION =
        JdbcValues.quoted(Table.VERSION_COLUMN) + " BIGINT UNSIGNED NOT NULL DEFAULT 0";

    private VersionColumnFix() {}

    /**
     * Adds what a table needs. A column that is only missing is left to 'schema migrate', which
     * copies no table for it.
     *
     * @param alter statements before the one of the clauses
     * @param clauses of ALTER TABLE, as far as they are known
     */
    static void add(
        TableFacts table,
        List<Flaw> flaws,
        List<String> alter,
        List<String> clauses,
        List<String> notes) {
      ColumnFacts there = table.column(Table.VERSION_COLUMN);
      if (there == null) {
        if (!clauses.isEmpty()) {
          clauses.add("ADD COLUMN " + VERSION);
        }
        return;
      }
      String name = JdbcValues.quoted(there.name());
      for (Flaw flaw : flaws) {
        if (flaw.kind() == Flaw.Kind.OTHER_VERSION_COLUMN) {
          String free = freeName(table);
          notes.add(
              "column %s becomes %s and is kept; what names it has to name it anew"
                  .formatted(there.name(), free));
          // By itself: one statement cannot give the name away and take it.
          alter.add(
              "ALTER TABLE %s RENAME COLUMN %s TO %s"
                  .formatted(JdbcValues.quoted(table.name()), name, JdbcValues.quoted(free)));
          clauses.add("ADD COLUMN " + VERSION);
        } else if (flaw.kind() == Flaw.Kind.VERSION_COLUMN) {
          notes.add("numbers that stand in it count as versions of their rows");
          if (there.nullable()) {
            notes.add(
                "rows in which it is NULL are updated: so are columns ON UPDATE CURRENT_TIMESTAMP,"
                    + " and triggers run");
            alter.add(
                "UPDATE %s SET %2$s = 0 WHERE %2$s IS NULL"
                    .formatted(JdbcValues.quoted(table.name()), name));
          }
          clauses.add("CHANGE COLUMN %s %s".formatted(name, VERSION));
        }
      }
    }

    private static String freeName(TableFacts table) {
      return IntStream.iterate(1, i -> i + 1)
          .mapToObj(i -> "gq_version_before" + (i == 1 ? "" : i))
          .filter(name -> table.column(name) == null)
          .findFirst()
          .orElseThrow();
    }
  }
}
