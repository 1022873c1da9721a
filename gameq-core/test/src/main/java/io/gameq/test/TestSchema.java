package io.gameq.test;

import io.gameq.GameQueueException;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.sf.jsqlparser.JSQLParserException;
import net.sf.jsqlparser.parser.CCJSqlParserUtil;
import net.sf.jsqlparser.statement.create.table.CheckConstraint;
import net.sf.jsqlparser.statement.create.table.ColDataType;
import net.sf.jsqlparser.statement.create.table.ColumnDefinition;
import net.sf.jsqlparser.statement.create.table.CreateTable;
import net.sf.jsqlparser.statement.create.table.ForeignKeyIndex;
import net.sf.jsqlparser.statement.create.table.Index;
import org.jspecify.annotations.Nullable;

/**
 * A game's tables, read from its CREATE TABLE statements in the dialect of MySQL 8, and judged as a
 * node judges what MySQL tells of them. Immutable; each method returns a changed copy.
 *
 * <p>Of a file the CREATE TABLE statements of managed tables are read, and other statements are
 * passed over; but an ALTER TABLE of a managed one is refused, since it is not carried out.
 *
 * <pre>{@code
 * TestSchema.of(Path.of("schema.sql")).table("item", "player", "owner_id")
 * }</pre>
 */
public final class TestSchema {
  private static final Pattern CREATE =
      Pattern.compile(
          "(?is)\\s*(CREATE|ALTER)\\s+TABLE\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?"
              + "(?:`?[\\w$]+`?\\s*\\.\\s*)?`?([\\w$]+)`?.*");

  /** The parser wants a name. */
  private static final Pattern UNNAMED_KEY =
      Pattern.compile("(?i)(?<!PRIMARY\\s)(?<!FOREIGN\\s)\\b(KEY|INDEX)\\s*\\(");

  /** Numbers with a display width, which MySQL 8 tells no more. */
  private static final Set<String> INTEGERS =
      Set.of("tinyint", "smallint", "mediumint", "int", "bigint");

  private static final Set<String> TEXTS =
      Set.of("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set");

  /** Other names of types, as information_schema has them. */
  private static final Map<String, String> SAME_TYPE =
      Map.of(
          "integer", "int",
          "bool", "tinyint(1)",
          "boolean", "tinyint(1)",
          "numeric", "decimal",
          "dec", "decimal",
          "fixed", "decimal",
          "double precision", "double",
          "real", "double");

  /** What a type is without its length. */
  private static final Map<String, String> LENGTHS =
      Map.of("char", "(1)", "binary", "(1)", "bit", "(1)", "decimal", "(10,0)");

  private static final Map<String, String> COLLATIONS =
      Map.of(
          "utf8mb4", "utf8mb4_0900_ai_ci",
          "utf8mb3", "utf8mb3_general_ci",
          "utf8", "utf8mb3_general_ci",
          "ascii", "ascii_general_ci",
          "latin1", "latin1_swedish_ci",
          "binary", "binary");

  private final String ddl;
  private final List<TableSpec> managed;

  /** Read once: that takes longer than a test. */
  private volatile @Nullable Catalog catalog;

  private TestSchema(String ddl, List<TableSpec> managed) {
    this.ddl = ddl;
    this.managed = List.copyOf(managed);
  }

  /** Of statements, each ended by a semicolon. */
  public static TestSchema of(String ddl) {
    return new TestSchema(ddl, List.of());
  }

  /** Of a file in UTF-8. Throws UncheckedIOException when it cannot be read. */
  public static TestSchema of(Path file) {
    try {
      return of(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException("the schema " + file + " cannot be read", e);
    }
  }

  /**
   * With a managed table, as {@code gameq-writer schema migrate} registers it.
   *
   * @param ownerKind the kind of the owner ids, as {@code player}
   * @param ownerColumn the column that holds the key of the owner id
   */
  public TestSchema table(String name, String ownerKind, String ownerColumn) {
    List<TableSpec> more = new ArrayList<>(managed);
    more.add(new TableSpec(name, ownerKind, ownerColumn));
    return new TestSchema(ddl, more);
  }

  /**
   * The tables.
   *
   * @throws GameQueueException naming the table, and column, that cannot be read or managed
   */
  Catalog catalog() {
    Catalog known = catalog;
    if (known == null) {
      known = read();
      catalog = known;
    }
    return known;
  }

  private Catalog read() {
    Map<String, TableFacts> tables = new LinkedHashMap<>();
    List<ForeignKeyFacts> foreignKeys = new ArrayList<>();
    for (String statement : statements(ddl)) {
      Matcher matcher = CREATE.matcher(statement);
      if (matcher.matches() && isManaged(matcher.group(2))) {
        if (matcher.group(1).equalsIgnoreCase("alter")) {
          throw new GameQueueException(
              "the schema alters table %s, which is not carried out here: give the table as SHOW"
                      .formatted(matcher.group(2))
                  + " CREATE TABLE prints it");
        }
        OneTable read = new OneTable(parse(matcher.group(2), statement));
        tables.put(read.name, read.facts());
        foreignKeys.addAll(read.foreignKeys);
      }
    }
    return CatalogReader.of(
            new SchemaSnapshot("the schema of the test", false, false, tables, foreignKeys),
            managed,
            Map.of())
        .requireManaged();
  }

  List<TableSpec> managed() {
    return managed;
  }

  /** All statements, as they are. */
  List<String> statements() {
    return statements(ddl).stream().filter(of -> !of.isBlank()).toList();
  }

  private boolean isManaged(String table) {
    return managed.stream().anyMatch(of -> of.name().equals(table));
  }

  private static CreateTable parse(String table, String statement) {
    try {
      int[] unnamed = {0};
      String named =
          UNNAMED_KEY
              .matcher(statement)
              .replaceAll(key -> key.group(1) + " unnamed_" + ++unnamed[0] + " (");
      if (CCJSqlParserUtil.parse(named) instanceof CreateTable create) {
        return create;
      }
    } catch (JSQLParserException e) {
      GameQueueException why =
          notRead(table, String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
      why.initCause(e);
      throw why;
    }
    throw notRead(table, "it is not one with a list of columns");
  }

  private static GameQueueException notRead(String what, String why) {
    return new GameQueueException(
        "the CREATE TABLE of %s cannot be read (%s): give it as SHOW CREATE TABLE prints it, or"
                .formatted(what, why)
            + " leave that out");
  }

  /** The statements without comments. */
  private static List<String> statements(String ddl) {
    List<String> all = new ArrayList<>();
    StringBuilder one = new StringBuilder();
    char quote = 0;
    for (int i = 0; i < ddl.length(); i++) {
      char c = ddl.charAt(i);
      if (quote != 0) {
        one.append(c);
        if (c == '\\' && quote != '`' && i + 1 < ddl.length()) {
          one.append(ddl.charAt(++i));
        } else if (c == quote) {
          quote = 0;
        }
      } else if (c == '\'' || c == '"' || c == '`') {
        quote = c;
        one.append(c);
      } else if (c == '#' || ddl.startsWith("-- ", i) || ddl.startsWith("--\n", i)) {
        i = end(ddl, "\n", i) - 1;
        one.append('\n');
      } else if (ddl.startsWith("/*", i)) {
        i = end(ddl, "*/", i + 2) - 1;
        one.append(' ');
      } else if (c == ';') {
        all.add(one.toString());
        one.setLength(0);
      } else {
        one.append(c);
      }
    }
    all.add(one.toString());
    return all;
  }

  private static int end(String text, String mark, int from) {
    int at = text.indexOf(mark, from);
    return at < 0 ? text.length() : at + mark.length();
  }

  private static String unquoted(String name) {
    return name.startsWith("`") ? name.substring(1, name.length() - 1) : name;
  }

  /** One CREATE TABLE, told as information_schema tells of it. */
  private static final class OneTable {
    final String name;
    final List<ForeignKeyFacts> foreignKeys = new ArrayList<>();
    private final CreateTable create;
    private final List<ColumnFacts> columns = new ArrayList<>();
    private final List<IndexPart> indexParts = new ArrayList<>();
    private final Set<String> notNull = new HashSet<>();

    OneTable(CreateTable create) {
      this.create = create;
      this.name = unquoted(create.getTable().getName());
    }

    TableFacts facts() {
      for (Index index : create.getIndexes() == null ? List.<Index>of() : create.getIndexes()) {
        index(index);
      }
      create.getColumnDefinitions().forEach(this::column);
      if (columns.stream().noneMatch(of -> of.name().equalsIgnoreCase(Table.VERSION_COLUMN))) {
        columns.add( // as 'schema migrate' adds it
            new ColumnFacts(
                Table.VERSION_COLUMN, "bigint unsigned", null, null, false, "0", "", false));
      }
      String engine = option("ENGINE");
      return new TableFacts(
          name,
          "BASE TABLE",
          engine == null || engine.equalsIgnoreCase("innodb") ? "InnoDB" : engine,
          columns,
          indexParts,
          List.of());
    }

    private @Nullable String option(String... names) {
      List<String> words = create.getTableOptionsStrings();
      for (String option : names) {
        for (int i = 0; words != null && i < words.size() - 1; i++) {
          if (words.get(i).equalsIgnoreCase(option)) {
            boolean isAssigned = words.get(i + 1).equals("=") && i + 2 < words.size();
            return words.get(i + (isAssigned ? 2 : 1));
          }
        }
      }
      return null;
    }

    private void index(Index index) {
      String type = String.valueOf(index.getType()).toUpperCase(Locale.ROOT);
      if (index instanceof CheckConstraint) {
        return; // MySQL refuses rows by it, which memory does not
      }
      if (index instanceof ForeignKeyIndex key) {
        foreignKeys.add(
            new ForeignKeyFacts(
                String.valueOf(key.getName()),
                name,
                key.getColumnsNames().stream().map(TestSchema::unquoted).toList(),
                unquoted(key.getTable().getName()),
                key.getReferencedColumnNames().stream().map(TestSchema::unquoted).toList(),
                rule(key, "DELETE"),
                rule(key, "UPDATE")));
      } else if (type.startsWith("PRIMARY")) {
        parts("PRIMARY", true, index);
      } else {
        String itsName = index.getName() == null ? null : unquoted(index.getName());
        String first = unquoted(index.getColumns().get(0).getColumnName());
        parts(itsName == null ? first : itsName, type.startsWith("UNIQUE"), index);
      }
    }

    private static String rule(ForeignKeyIndex key, String event) {
      Matcher rule =
          Pattern.compile("(?i)ON " + event + " (CASCADE|SET NULL|SET DEFAULT)")
              .matcher(key.toString());
      return rule.find() ? rule.group(1).toUpperCase(Locale.ROOT) : "NO ACTION";
    }

    private void parts(String index, boolean isUnique, Index of) {
      int position = 1;
      for (Index.ColumnParams part : of.getColumns()) {
        Matcher matcher =
            Pattern.compile("`?([\\w$]+)`?\\s*(\\(\\s*\\d+\\s*\\))?").matcher(part.toString());
        boolean isColumn = matcher.lookingAt();
        String column = isColumn ? matcher.group(1) : null;
        boolean isPrefix = isColumn && matcher.group(2) != null;
        indexParts.add(new IndexPart(index, isUnique, position++, column, isPrefix));
        if (index.equals("PRIMARY") && column != null) {
          notNull.add(column.toLowerCase(Locale.ROOT));
        }
      }
    }

    private void column(ColumnDefinition of) {
      String column = unquoted(of.getColumnName());
      Words words = new Words(name + "." + column, of.getColumnSpecs());
      ColDataType declared = of.getColDataType();
      String charset = declared.getCharacterSet();
      String collation = null;
      String defaultText = null;
      String extra = "";
      boolean nullable = !notNull.contains(column.toLowerCase(Locale.ROOT));
      boolean generated = false;
      boolean unsigned = false;
      while (words.hasNext()) {
        String word = words.next();
        switch (word.toUpperCase(Locale.ROOT)) {
          case "NOT" -> {
            words.expect("NULL");
            nullable = false;
          }
          case "NULL", "VISIBLE", "INVISIBLE", "STORED", "VIRTUAL", "ZEROFILL", "ALWAYS" -> {}
          case "UNSIGNED" -> unsigned = true;
          case "AUTO_INCREMENT" -> extra += " auto_increment";
          case "PRIMARY" -> {
            words.skip("KEY");
            indexParts.add(new IndexPart("PRIMARY", true, 1, column, false));
            nullable = false;
          }
          case "KEY" -> {
            indexParts.add(new IndexPart("PRIMARY", true, 1, column, false));
            nullable = false;
          }
          case "UNIQUE" -> {
            words.skip("KEY");
            indexParts.add(new IndexPart(column, true, 1, column, false));
          }
          case "COLLATE" -> collation = words.next();
          case "CHARSET" -> charset = words.next();
          case "CHARACTER" -> {
            words.expect("SET");
            charset = words.next();
          }
          case "COMMENT" -> words.next();
          case "CHECK" -> words.next();
          case "ON" -> {
            words.expect("UPDATE");
            words.next();
            words.skipParenthesis();
            extra += " on update CURRENT_TIMESTAMP";
          }
          case "GENERATED", "AS" -> {
            generated = true;
            words.skipParenthesis();
          }
          case "DEFAULT" -> {
            String given = words.next();
            if (given.toUpperCase(Locale.ROOT).matches("(CURRENT_TIMESTAMP|NOW|LOCALTIME.*)")) {
              defaultText = "CURRENT_TIMESTAMP" + words.skipParenthesis().replace("()", "");
              extra += " DEFAULT_GENERATED";
            } else if (given.startsWith("(")) {
              defaultText = given;
              extra += " DEFAULT_GENERATED";
            } else {
              defaultText = value(given);
            }
          }
          default -> throw words.notUnderstood(word);
        }
      }
      String type = type(declared, unsigned);
      boolean isText = TEXTS.contains(type.replaceFirst("\\W.*", ""));
      if (isText && collation == null) {
        collation = charset == null ? option("COLLATE") : null;
        charset = charset == null && collation == null ? option("CHARSET", "SET") : charset;
        charset = charset == null && collation == null ? "utf8mb4" : charset;
        collation = collation == null ? defaultCollation(column, charset) : collation;
      }
      if (isText && charset == null) {
        charset = String.valueOf(collation).replaceFirst("_.*", "");
      }
      columns.add(
          new ColumnFacts(
              column,
              type,
              isText ? charset : null,
              isText ? collation : null,
              nullable,
              defaultText,
              extra,
              generated));
    }

    private String defaultCollation(String column, @Nullable String charset) {
      String known = charset == null ? null : COLLATIONS.get(charset.toLowerCase(Locale.ROOT));
      if (known == null) {
        throw notRead(name + "." + column, "its collation is not known, write COLLATE");
      }
      return known;
    }

    /** As COLUMN_TYPE has it. */
    private static String type(ColDataType declared, boolean unsigned) {
      String written = declared.getDataType();
      String type = written.toLowerCase(Locale.ROOT).replaceAll("\\s+\\(", "(").trim();
      List<String> arguments = declared.getArgumentsStringList();
      if (arguments != null && !arguments.isEmpty()) {
        type += "(" + String.join(",", arguments) + ")";
      }
      String suffix = unsigned ? " unsigned" : "";
      if (type.endsWith(" unsigned")) {
        suffix = " unsigned";
        type = type.substring(0, type.length() - suffix.length()).trim();
      }
      type = type.replace(", ", ",");
      int open = type.indexOf('(');
      String base = open < 0 ? type : type.substring(0, open);
      String length = open < 0 ? "" : type.substring(open);
      String known = SAME_TYPE.getOrDefault(base, base);
      if (INTEGERS.contains(known) && !(known.equals("tinyint") && length.equals("(1)"))) {
        length = "";
      }
      if (length.isEmpty() && LENGTHS.containsKey(known)) {
        length = LENGTHS.get(known);
      } else if (known.equals("decimal") && !length.contains(",")) {
        length = length.replace(")", ",0)");
      }
      return known + length + suffix;
    }

    /** As COLUMN_DEFAULT has it: a value, not SQL. */
    private static @Nullable String value(String sql) {
      if (sql.equalsIgnoreCase("NULL")) {
        return null;
      }
      if (sql.equalsIgnoreCase("TRUE") || sql.equalsIgnoreCase("FALSE")) {
        return sql.equalsIgnoreCase("TRUE") ? "1" : "0";
      }
      boolean isQuoted = sql.length() > 1 && (sql.startsWith("'") || sql.startsWith("\""));
      return isQuoted
          ? sql.substring(1, sql.length() - 1).replace("''", "'").replace("\\'", "'")
          : sql;
    }
  }

  /** The words behind the type of a column. */
  private static final class Words {
    private final String column;
    private final List<String> words;
    private int at;

    Words(String column, @Nullable List<String> words) {
      this.column = column;
      this.words = words == null ? List.of() : words;
    }

    boolean hasNext() {
      return at < words.size();
    }

    String next() {
      if (!hasNext()) {
        throw notUnderstood("the end");
      }
      return words.get(at++);
    }

    void expect(String word) {
      String found = next();
      if (!found.equalsIgnoreCase(word)) {
        throw notUnderstood(found);
      }
    }

    void skip(String word) {
      at += hasNext() && words.get(at).equalsIgnoreCase(word) ? 1 : 0;
    }

    String skipParenthesis() {
      return hasNext() && words.get(at).startsWith("(") ? next() : "";
    }

    GameQueueException notUnderstood(String word) {
      return notRead(column, "at '" + word + "'");
    }
  }
}
