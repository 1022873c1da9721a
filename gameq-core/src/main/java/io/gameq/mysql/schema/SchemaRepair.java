package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.mysql.schema.TableInspection.VersionColumn;
import io.gameq.rows.Table;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/**
 * Makes the statements that end what stands against tables, one ALTER TABLE each, so that a table
 * is copied once. Used by one thread.
 */
final class SchemaRepair {
  private static final String VERSION =
      JdbcValues.quoted(Table.VERSION_COLUMN) + " BIGINT UNSIGNED NOT NULL DEFAULT 0";

  /** InnoDB's limit of a key, in bytes. */
  private static final int MOST_KEY_BYTES = 3_072;

  private final Handle handle;
  private final SchemaSnapshot schema;
  private final ColumnChanges columns;
  private final Map<String, NewPrimaryKey> newKeys = new LinkedHashMap<>();
  private final Set<String> wideKeys = new LinkedHashSet<>();
  private final Set<ForeignKeyFacts> dropped = new HashSet<>();
  private final Set<String> altered = new HashSet<>();

  private SchemaRepair(Handle handle, SchemaSnapshot schema) {
    this.handle = handle;
    this.schema = schema;
    this.columns = new ColumnChanges(schema);
  }

  /** What mends each of these tables, in their order; reads SHOW CREATE TABLE where it must. */
  static List<TableFix> of(
      Handle handle, SchemaSnapshot schema, List<TableInspector.Result> results)
      throws SQLException {
    SchemaRepair repair = new SchemaRepair(handle, schema);
    results.forEach(repair::decide);
    Set<String> all =
        results.stream().map(of -> of.inspection().spec().name()).collect(Collectors.toSet());
    List<TableFix> fixes = new ArrayList<>();
    for (TableInspector.Result result : results) {
      fixes.add(repair.fix(result, all));
    }
    return fixes;
  }

  /** Before any statement is made: columns of other tables may have to change as well. */
  private void decide(TableInspector.Result result) {
    TableSpec spec = result.inspection().spec();
    TableFacts table = schema.table(spec.name());
    if (table == null) {
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
        case NO_PRIMARY_KEY -> {
          NewPrimaryKey key = NewPrimaryKey.of(table, spec.ownerColumn());
          newKeys.put(table.name(), key);
          key.columns().forEach(column -> columns.compareAsItIs(table.name(), column));
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

  private TableFix fix(TableInspector.Result result, Set<String> all) throws SQLException {
    TableSpec spec = result.inspection().spec();
    TableFacts table = schema.table(spec.name());
    List<String> mended = new ArrayList<>();
    List<String> unmended = new ArrayList<>();
    List<String> cautions = new ArrayList<>();
    List<String> alter = new ArrayList<>();
    List<String> clauses = new ArrayList<>();
    if (table != null && table.isBaseTable()) {
      engine(table, clauses);
      columnClauses(table, clauses, unmended);
      keyClauses(table, clauses);
      versionClauses(table, result.inspection().versionColumn(), alter, clauses);
    }
    for (Flaw flaw : result.flaws()) {
      boolean inReach =
          flaw.isMendable()
              && (flaw.kind() != Flaw.Kind.PREFIX_IN_KEY || wideKeys.contains(spec.name()));
      (inReach ? mended : unmended).add(flaw.reason());
      if (flaw.kind() == Flaw.Kind.NULLABLE) {
        cautions.add(
            "fails while rows name no owner; these are to be given one, or to go: SELECT * FROM %s"
                    .formatted(JdbcValues.quoted(spec.name()))
                + " WHERE %s IS NULL".formatted(JdbcValues.quoted(flaw.column())));
      }
    }
    NewPrimaryKey key = newKeys.get(spec.name());
    if (key != null) {
      cautions.add(key.what());
    }
    if (table != null
        && table.isBaseTable()
        && result.inspection().versionColumn() == VersionColumn.MISSING) {
      mended.add("it has no column " + Table.VERSION_COLUMN);
    }
    if (!clauses.isEmpty()) {
      alter.add(alter(spec.name(), clauses));
    }
    if (key != null) {
      alter.addAll(key.afterwards());
    }
    altered.add(spec.name());
    List<String> before = new ArrayList<>();
    List<String> after = new ArrayList<>();
    tied(spec.name(), all, alter, unmended);
    foreignKeys(spec.name(), all, before, after);
    return new TableFix(
        spec,
        mended,
        cautions,
        before,
        alter,
        after,
        table == null ? List.of() : advice(table, spec),
        unmended);
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

  private void columnClauses(TableFacts table, List<String> clauses, List<String> unmended)
      throws SQLException {
    Map<String, ColumnChanges.Change> changes = columns.of(table.name());
    if (changes.isEmpty()) {
      return;
    }
    String createTable = createTable(table.name());
    for (Map.Entry<String, ColumnChanges.Change> of : changes.entrySet()) {
      ColumnDefinition definition = ColumnDefinition.of(createTable, of.getKey());
      if (definition == null) {
        unmended.add("the definition of column %s is not understood".formatted(of.getKey()));
        continue;
      }
      ColumnChanges.Change change = of.getValue();
      if (change.charset() != null) {
        definition = definition.in(change.charset(), change.collation());
      }
      clauses.add((change.notNull() ? definition.notNull() : definition).modify());
    }
  }

  // By JDBC itself: Jdbi would take ':' and '?' in a name for parameters.
  private String createTable(String table) throws SQLException {
    try (Statement statement = handle.getConnection().createStatement();
        ResultSet row = statement.executeQuery("SHOW CREATE TABLE " + JdbcValues.quoted(table))) {
      row.next();
      return row.getString(2);
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

  private static void versionClauses(
      TableFacts table, VersionColumn version, List<String> alter, List<String> clauses) {
    ColumnFacts there = table.column(Table.VERSION_COLUMN);
    if (there == null) {
      clauses.add("ADD COLUMN " + VERSION);
    } else if (version == VersionColumn.WRONG && there.generated()) {
      clauses.add("DROP COLUMN " + JdbcValues.quoted(there.name()));
      clauses.add("ADD COLUMN " + VERSION);
    } else if (version == VersionColumn.WRONG) {
      if (there.nullable()) {
        alter.add(
            "UPDATE %s SET %2$s = 0 WHERE %2$s IS NULL"
                .formatted(JdbcValues.quoted(table.name()), JdbcValues.quoted(there.name())));
      }
      clauses.add("CHANGE COLUMN %s %s".formatted(JdbcValues.quoted(there.name()), VERSION));
    }
  }

  /** Tables that are not asked about, with columns that foreign keys tie to those of these. */
  private void tied(String table, Set<String> all, List<String> alter, List<String> unmended)
      throws SQLException {
    if (columns.of(table).isEmpty()) {
      return;
    }
    for (String other : columns.tables()) {
      TableFacts facts = schema.table(other);
      if (facts != null && !all.contains(other) && altered.add(other)) {
        List<String> clauses = new ArrayList<>();
        columnClauses(facts, clauses, unmended);
        if (!clauses.isEmpty()) {
          alter.add(alter(other, clauses));
        }
      }
    }
  }

  private void foreignKeys(String table, Set<String> all, List<String> before, List<String> after) {
    for (ForeignKeyFacts key : columns.foreignKeys()) {
      boolean here =
          key.child().equals(table)
              || !all.contains(key.child()); // once, before any table is altered
      if (here && dropped.add(key)) {
        before.add(ForeignKeySql.drop(key));
        after.add(
            ForeignKeySql.add(
                schema,
                key,
                columns.ruleAfter(key, key.deleteRule()),
                columns.ruleAfter(key, key.updateRule())));
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
          && !(restricts(of.deleteRule()) && restricts(of.updateRule()))) {
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
}
