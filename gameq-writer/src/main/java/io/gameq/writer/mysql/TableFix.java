package io.gameq.writer.mysql;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.mysql.schema.TableInspector.Flaw;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.Table;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What ends the flaws of a table; immutable. A statement gives it InnoDB, a primary key, a binary
 * collation or NOT NULL, and gq_version with these. All else is told in words.
 *
 * @param mended flaws that the statements end
 * @param unmended flaws for which there is no statement, with what to change by hand
 * @param notes what the statements cost and change
 * @param statements of this table, and of tables that foreign keys tie to its columns
 */
public record TableFix(
    TableSpec table,
    List<String> mended,
    List<String> unmended,
    List<String> notes,
    List<String> statements) {

  /**
   * The fixes of some tables, in their order. Servers alter no column of a foreign key, so keys
   * that are in the way are dropped before and made again afterwards.
   */
  public record Script(List<String> dropKeys, List<TableFix> tables, List<String> addKeys) {

    /** All that is to run, in its order. */
    List<String> statements() {
      return Stream.of(
              dropKeys.stream(),
              tables.stream().flatMap(fix -> fix.statements().stream()),
              addKeys.stream())
          .flatMap(statements -> statements)
          .toList();
    }
  }

  /** Whether something stands against the table. */
  public boolean isNeeded() {
    return !mended.isEmpty() || !unmended.isEmpty();
  }

  private static String inBrackets(List<String> columns) {
    return columns.stream().map(TableFix::quoted).collect(Collectors.joining(", ", "(", ")"));
  }

  private static String quoted(String name) {
    return JdbcValues.quoted(name);
  }

  private static boolean isText(ColumnFacts column) {
    // Values of ENUM and SET stay apart in every collation.
    return column.columnType().matches("(?i)(var)?char\\b.*") && column.charset() != null;
  }

  /** Whether a key can have the column, as it is or once it has a binary collation. */
  public static boolean isComparable(ColumnFacts column) {
    String charset = column.charset();
    try {
      return ColumnTypes.parse(
                  column.columnType(), charset, charset == null ? null : charset + "_bin")
              .keyProblem()
          == null;
    } catch (UnmanageableException e) {
      return false;
    }
  }

  /** The fixes of some tables, made together: a column changes once, whoever needs it. */
  static final class Fixes {
    private static final int MOST_SECONDS = 10;

    private final Handle handle;
    private final SchemaSnapshot schema;
    private final List<TableInspection> tables;
    private final Map<String, Set<String>> binary = new LinkedHashMap<>(); // text columns
    private final Map<String, String> notNull = new HashMap<>(); // owner columns
    private final Map<String, PrimaryKey> keys = new HashMap<>();
    private final Map<String, String> rowsInTheWay = new HashMap<>();
    private final Set<ForeignKeyFacts> keysInTheWay = new LinkedHashSet<>();
    private final Set<String> altered = new HashSet<>();

    Fixes(Handle handle, SchemaSnapshot schema, List<TableInspection> tables) {
      this.handle = handle;
      this.schema = schema;
      this.tables = tables;
    }

    /** In the order of the tables; reads SHOW CREATE TABLE of those that change. */
    Script script() throws SQLException {
      for (TableInspection of : tables) {
        TableFacts table = schema.table(of.spec().name());
        if (table != null && table.isBaseTable()) {
          for (Flaw flaw : of.flaws()) {
            plan(of, table, flaw);
          }
        }
      }
      List<TableFix> fixes = new ArrayList<>();
      for (TableInspection of : tables) {
        fixes.add(fix(of, schema.table(of.spec().name())));
      }
      return new Script(
          keysInTheWay.stream()
              .map(
                  key ->
                      "ALTER TABLE %s DROP FOREIGN KEY %s"
                          .formatted(quoted(key.child()), quoted(key.name())))
              .toList(),
          fixes,
          keysInTheWay.stream().map(this::addKey).toList());
    }

    /** Notes what a flaw changes, in this table and in others. */
    private void plan(TableInspection of, TableFacts table, Flaw flaw) throws SQLException {
      String name = table.name();
      switch (flaw.kind()) {
        case COLLATION -> compareAsItIs(table, flaw.column());
        case NULLABLE -> {
          String query = "FROM %s WHERE %s IS NULL".formatted(quoted(name), quoted(flaw.column()));
          if (finds(query)) {
            rowsInTheWay.put(name, "SELECT * " + query);
          } else {
            notNull.put(name, flaw.column());
            keysInTheWay.addAll(keysOf(table, flaw.column()));
          }
        }
        case NO_PRIMARY_KEY -> {
          boolean isPartitioned = createTable(name).contains("PARTITION BY");
          PrimaryKey key = PrimaryKey.of(table, of.spec().ownerColumn(), isPartitioned);
          if (key != null) {
            keys.put(name, key);
            key.columns().forEach(column -> compareAsItIs(table, column));
          }
        }
        default -> {}
      }
    }

    private String addKey(ForeignKeyFacts key) {
      int dot = schema.table(key.parent()) == null ? key.parent().indexOf('.') : -1;
      return ("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY %s REFERENCES %s %s ON DELETE %s ON"
              + " UPDATE %s")
          .formatted(
              quoted(key.child()),
              quoted(key.name()),
              inBrackets(key.columns()),
              (dot < 0 ? "" : quoted(key.parent().substring(0, dot)) + ".")
                  + quoted(key.parent().substring(dot + 1)),
              inBrackets(key.parentColumns()),
              rule(key, key.deleteRule()),
              rule(key, key.updateRule()));
    }

    private String rule(ForeignKeyFacts key, String rule) {
      String owner = notNull.get(key.child());
      return rule.equals("SET NULL") && owner != null && key.columns().contains(owner)
          ? "RESTRICT"
          : rule;
    }

    /** The foreign keys that a column is in, on either side. */
    private List<ForeignKeyFacts> keysOf(TableFacts table, String column) {
      return schema.foreignKeys().stream()
          .filter(
              key ->
                  (key.child().equals(table.name()) && key.columns().contains(column))
                      || (key.parent().equals(table.name())
                          && key.parentColumns().contains(column)))
          .toList();
    }

    /** Whether there are such rows, or may be: a table is read whole where no index helps. */
    private boolean finds(String query) throws SQLException {
      String sql = "SELECT 1 " + query + " LIMIT 1";
      try {
        return !Sql.listWithin(handle.getConnection(), MOST_SECONDS, sql, rs -> true).isEmpty();
      } catch (SQLException e) {
        if (ErrorKind.of(e) != ErrorKind.SLOW) {
          throw e;
        }
        return true;
      }
    }

    private TableFix fix(TableInspection of, @Nullable TableFacts table) throws SQLException {
      List<String> mended = new ArrayList<>();
      List<String> unmended = new ArrayList<>();
      List<String> notes = new ArrayList<>();
      List<String> statements = new ArrayList<>();
      List<String> clauses = new ArrayList<>();
      for (Flaw flaw : of.flaws()) {
        String byHand = table == null ? "" : byHand(flaw, table.name());
        if (byHand != null) {
          unmended.add(flaw.reason() + byHand);
          continue;
        }
        mended.add(flaw.reason());
        if (flaw.kind() == Flaw.Kind.ENGINE && table != null) {
          clauses.add("ENGINE=InnoDB");
          // MyISAM numbers also the second column of a key, InnoDB only the first.
          table.columns().stream()
              .filter(column -> column.extraHas("auto_increment"))
              .filter(column -> !table.hasIndexThatBeginsWith(column.name()))
              .forEach(column -> clauses.add("ADD INDEX " + inBrackets(List.of(column.name()))));
        }
      }
      if (table != null && table.isBaseTable()) {
        PrimaryKey key = keys.get(table.name());
        if (key != null) {
          notes.add(key.note());
          clauses.add(key.clause());
        }
        alter(table, clauses, statements, notes);
        if (binary.containsKey(table.name())) {
          tied(statements, notes);
        }
      }
      return new TableFix(of.spec(), mended, unmended, notes, statements);
    }

    /** What to do by hand about a flaw; null where statements end it. */
    private @Nullable String byHand(Flaw flaw, String table) {
      return switch (flaw.kind()) {
        case ENGINE, COLLATION -> null;
        case NULLABLE ->
            rowsInTheWay.containsKey(table)
                ? ": first give rows without an owner one, or delete them; %s finds them"
                    .formatted(rowsInTheWay.get(table))
                : null;
        case NO_PRIMARY_KEY ->
            keys.containsKey(table)
                ? null
                : ": it is partitioned, so the key must have the columns of the partitioning;"
                    + " choose those that differ in every row";
        case OTHER -> "";
      };
    }

    /** Gives a text column a binary collation, and all columns that foreign keys tie to it. */
    private void compareAsItIs(@Nullable TableFacts table, String column) {
      ColumnFacts facts = table == null ? null : table.column(column);
      if (table == null
          || facts == null
          || !isText(facts)
          || String.valueOf(facts.collation()).endsWith("_bin")
          || !binary.computeIfAbsent(table.name(), name -> new HashSet<>()).add(column)) {
        return;
      }
      for (ForeignKeyFacts key : keysOf(table, column)) {
        keysInTheWay.add(key);
        for (int i = 0; i < key.columns().size(); i++) {
          String ofChild = key.columns().get(i);
          String ofParent = key.parentColumns().get(i);
          if (key.child().equals(table.name()) && ofChild.equals(column)) {
            compareAsItIs(schema.table(key.parent()), ofParent);
          }
          if (key.parent().equals(table.name()) && ofParent.equals(column)) {
            compareAsItIs(schema.table(key.child()), ofChild);
          }
        }
      }
    }

    private void alter(
        TableFacts table, List<String> clauses, List<String> statements, List<String> notes)
        throws SQLException {
      Set<String> texts = binary.getOrDefault(table.name(), Set.of());
      String owner = notNull.get(table.name());
      for (ColumnFacts column : table.columns()) {
        boolean isOwner = column.name().equals(owner);
        boolean isText = texts.contains(column.name());
        if (isText) {
          notes.add(
              ("from then on 'Bob' and 'bob' are two values of column %s, in WHERE and in its keys"
                      + " as well")
                  .formatted(column.name()));
        }
        if (isOwner
            && keysOf(table, column.name()).stream()
                .anyMatch(key -> !rule(key, key.deleteRule()).equals(key.deleteRule()))) {
          notes.add(
              "a foreign key would set the owner to NULL: it restricts from then on, so the game"
                  + " deletes these rows, or gives them away, before their owner goes");
        }
        if (isText || isOwner) {
          clauses.add("MODIFY COLUMN " + definition(table, column, isText, isOwner));
        }
      }
      if (clauses.isEmpty() || !altered.add(table.name())) {
        return;
      }
      if (table.column(Table.VERSION_COLUMN) == null && isAsked(table)) {
        clauses.add(
            "ADD COLUMN %s BIGINT UNSIGNED NOT NULL DEFAULT 0".formatted(Table.VERSION_COLUMN));
      }
      notes.add(
          Sql.list(
                  handle.getConnection(),
                  "SELECT CONCAT('copies table ', TABLE_NAME, ' (rows: about ', FORMAT(TABLE_ROWS,"
                      + " 0), '; ', FORMAT(CEIL((DATA_LENGTH + INDEX_LENGTH) / 1048576), 0),"
                      + " ' MiB), and who writes it waits meanwhile') FROM"
                      + " information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME"
                      + " = ?",
                  rs -> rs.getString(1),
                  table.name())
              .get(0));
      statements.add(
          "ALTER TABLE %s\n  %s".formatted(quoted(table.name()), String.join(",\n  ", clauses)));
    }

    private boolean isAsked(TableFacts table) {
      return tables.stream().anyMatch(of -> of.spec().name().equals(table.name()));
    }

    /** Tables that are not asked about, with columns that foreign keys tie to those of this one. */
    private void tied(List<String> statements, List<String> notes) throws SQLException {
      for (String name : binary.keySet()) {
        TableFacts other = schema.table(name);
        if (other != null && !isAsked(other) && !altered.contains(name)) {
          notes.add("table %s changes too: foreign keys tie their columns".formatted(name));
          alter(other, new ArrayList<>(), statements, notes);
        }
      }
    }

    private static final Pattern DEFINITION =
        Pattern.compile(
            "(?<type>\\w+(?:\\([^'()]*\\))?(?: unsigned)?(?: zerofill)?)"
                + "(?<charset>(?: CHARACTER SET \\w+)?(?: COLLATE \\w+)?)"
                + "(?<null> NOT NULL| NULL)?(?<nothing> DEFAULT NULL)?(?<rest>.*?),?");

    /** As SHOW CREATE TABLE has it, so that default, comment and checks stay. */
    private String definition(TableFacts table, ColumnFacts column, boolean isText, boolean isOwner)
        throws SQLException {
      String name = quoted(column.name());
      String line =
          createTable(table.name())
              .lines()
              .map(String::strip)
              .filter(of -> of.startsWith(name + " "))
              .findFirst()
              .orElse("");
      Matcher parts =
          DEFINITION.matcher(line.substring(Math.min(line.length(), name.length() + 1)));
      if (!parts.matches()) {
        throw new SQLException("definition of %s is not understood: %s".formatted(name, line));
      }
      String nulls =
          Objects.requireNonNullElse(parts.group("null"), "")
              + Objects.requireNonNullElse(parts.group("nothing"), "");
      return name
          + " "
          + parts.group("type")
          + (isText
              ? " CHARACTER SET %1$s COLLATE %1$s_bin".formatted(column.charset())
              : parts.group("charset"))
          + (isOwner ? " NOT NULL" : nulls)
          + parts.group("rest");
    }

    // Not as a Jdbi query: Jdbi would take ':' and '?' in a name for parameters.
    private String createTable(String table) throws SQLException {
      String sql = "SHOW CREATE TABLE " + quoted(table);
      return Sql.list(handle.getConnection(), sql, rs -> rs.getString(2)).get(0);
    }
  }

  /** The primary key that a table without one can have. */
  private record PrimaryKey(List<String> columns, String clause, String note) {
    /** A UNIQUE key whose columns always have a value, else the numbered column, else a new one. */
    static @Nullable PrimaryKey of(TableFacts table, String ownerColumn, boolean partitioned) {
      for (String name : table.otherUniqueKeys()) {
        List<IndexPart> parts =
            table.indexParts().stream().filter(part -> part.index().equals(name)).toList();
        if (parts.stream().allMatch(part -> isFit(table, part, ownerColumn))) {
          return of(
              parts.stream().map(part -> String.valueOf(part.column())).toList(),
              "its UNIQUE key %s becomes the primary key: drop it where no foreign key needs it"
                  .formatted(name));
        }
      }
      if (partitioned) { // the key must have the columns of the partitioning
        return null;
      }
      for (ColumnFacts column : table.columns()) {
        if (column.extraHas("auto_increment")) {
          return of(
              List.of(column.name()),
              "its numbered column %s becomes the primary key".formatted(column.name()));
        }
      }
      String name =
          Stream.of("id", table.name() + "_id", "row_id", "gameq_row_id")
              .filter(free -> table.column(free) == null)
              .findFirst()
              .orElseThrow();
      return new PrimaryKey(
          List.of(),
          "ADD COLUMN %s BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY"
              .formatted(quoted(name)),
          ("a proposal: a new column %s numbers the rows, and from then on the game gives each"
                  + " new row its number; where some columns together differ in every row, make"
                  + " these the primary key instead")
              .formatted(name));
    }

    private static PrimaryKey of(List<String> columns, String note) {
      return new PrimaryKey(columns, "ADD PRIMARY KEY " + inBrackets(columns), note);
    }

    private static boolean isFit(TableFacts table, IndexPart part, String ownerColumn) {
      ColumnFacts column = part.column() == null ? null : table.column(part.column());
      return column != null
          && !part.prefix()
          && !column.generated()
          && (!column.nullable() || column.name().equals(ownerColumn))
          && isComparable(column);
    }
  }
}
