package io.gameq.mysql.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.JdbcValues.TemporalText;
import io.gameq.mysql.SpareValues;
import io.gameq.mysql.schema.CatalogReader.TableInspection;
import io.gameq.mysql.schema.CatalogReader.TableInspection.VersionColumn;
import io.gameq.mysql.schema.CatalogReader.TableSpec;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.ForeignKeyFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.rows.HandledRow.RowKey;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.ForeignKeys;
import io.gameq.rows.Table.SimilarNames;
import io.gameq.rows.Table.TableDefinition;
import io.gameq.rows.Table.UniqueKey;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.SqlText;
import io.gameq.rows.types.ColumnTypes.TextCharset;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Judges one table: collects why it cannot be managed, and builds its definition; one thread. */
final class TableInspector {
  private static final Pattern OWNER_KIND = Pattern.compile("[a-z][a-z0-9_]{0,31}");
  private static final Pattern CHAR_OR_VARCHAR =
      Pattern.compile("(?:var)?char\\b", Pattern.CASE_INSENSITIVE);
  private static final Pattern WITH_DIGITS =
      Pattern.compile("(?:float|double)\\(", Pattern.CASE_INSENSITIVE);
  private static final Pattern INTEGER = Pattern.compile("(?:tiny|small|medium|big)?int\\b.*");
  private static final Set<ColumnType.Kind> OWNER_KINDS =
      EnumSet.of(ColumnType.Kind.INTEGER, ColumnType.Kind.UNSIGNED_LONG, ColumnType.Kind.TEXT);

  private final SchemaSnapshot schema;
  private final TableSpec spec;
  private final List<StoredStatements> stored;
  private final List<Flaw> flaws = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final Map<String, Column> columns = new LinkedHashMap<>();
  private final Set<String> generated = new LinkedHashSet<>();
  private VersionColumn versionColumn = VersionColumn.MISSING;

  /** The judgement, and the definition when there is no reason against it. */
  record Result(
      TableInspection inspection, List<Flaw> flaws, @Nullable TableDefinition definition) {}

  private TableInspector(SchemaSnapshot schema, TableSpec spec, List<StoredStatements> stored) {
    this.schema = schema;
    this.spec = spec;
    this.stored = stored;
  }

  /**
   * The judgement of one table.
   *
   * @param stored what the database runs by itself; only warnings come of it
   */
  static Result inspect(SchemaSnapshot schema, TableSpec spec, List<StoredStatements> stored) {
    return new TableInspector(schema, schema.asNamedHere(spec), stored).inspect();
  }

  private Result inspect() {
    TableFacts table = schema.tables().get(spec.name());
    TableDefinition definition = null;
    if (table == null) {
      flaws.add(Flaw.ofTable(Flaw.Kind.CONFIGURATION, "no such table in this database" + meant()));
    } else {
      definition = inspect(table);
    }
    return new Result(
        new TableInspection(
            spec,
            flaws.stream().map(Flaw::reason).toList(),
            warnings,
            versionColumn,
            stored.stream()
                .filter(of -> of.writes(spec.name()))
                .map(StoredStatements::name)
                .toList()),
        List.copyOf(flaws),
        flaws.isEmpty() ? definition : null);
  }

  private String meant() {
    List<String> close = SimilarNames.close(spec.name(), schema.tables().keySet());
    if (close.isEmpty()) {
      return "";
    }
    return " (did you mean %s?%s)"
        .formatted(
            String.join(", ", close),
            close.get(0).equalsIgnoreCase(spec.name())
                ? " This server tells capitals from small letters"
                : "");
  }

  private TableDefinition inspect(TableFacts table) {
    if (!table.isBaseTable()) {
      flaws.add(
          Flaw.other(
              "it is a %s, not a table".formatted(table.tableType().toLowerCase(Locale.ROOT))));
    } else if (!"InnoDB".equals(table.engine())) {
      flaws.add(
          Flaw.ofTable(Flaw.Kind.ENGINE, "its engine is %s: use InnoDB".formatted(table.engine())));
    }
    table.columns().forEach(this::column);
    List<String> primaryKey = primaryKey(table);
    owner(table);
    List<UniqueKey> uniqueKeys =
        table.otherUniqueKeys().stream().map(name -> uniqueKey(table, name)).toList();
    warn(table, uniqueKeys);
    return new TableDefinition(
        spec.name(),
        List.copyOf(columns.values()),
        generated,
        Set.of(),
        primaryKey,
        spec.ownerKind(),
        spec.ownerColumn(),
        uniqueKeys,
        ForeignKeys.NONE);
  }

  private UniqueKey uniqueKey(TableFacts table, String name) {
    List<String> key = new ArrayList<>();
    for (IndexPart part : table.indexParts()) {
      if (part.index().equals(name)) {
        String column = part.column();
        if (column == null || part.prefix() || !columns.containsKey(column)) {
          return new UniqueKey(name, List.of(), null);
        }
        key.add(column);
      }
    }
    List<String> primaryKey = table.primaryKey().stream().map(IndexPart::column).toList();
    String spare =
        key.stream()
            .filter(column -> !column.equals(spec.ownerColumn())) // an upsert compares it
            .filter(column -> !primaryKey.contains(column) && !isInForeignKey(column))
            .filter(column -> !isNumbered(column))
            .filter(column -> SpareValues.exist(Objects.requireNonNull(columns.get(column))))
            .findFirst()
            .orElse(null);
    return new UniqueKey(name, key, spare);
  }

  /** A large value in it would be where MySQL goes on counting. */
  private boolean isNumbered(String column) {
    return Objects.requireNonNull(columns.get(column)).onAbsence()
        instanceof ColumnDefault.Numbered;
  }

  /** On either side: MySQL refuses another value there, or hands it on. */
  private boolean isInForeignKey(String column) {
    return schema.foreignKeys().stream()
        .anyMatch(
            key ->
                (key.child().equals(spec.name()) && key.columns().contains(column))
                    || (key.parent().equals(spec.name()) && key.parentColumns().contains(column)));
  }

  private void column(ColumnFacts column) {
    if (column.name().equalsIgnoreCase(Table.VERSION_COLUMN)) {
      version(column);
      return;
    }
    if (column.generated()) {
      generated.add(column.name());
      return;
    }
    try {
      ColumnType type =
          ColumnTypes.parse(column.columnType(), column.charset(), column.collation());
      boolean text = type.kind() == ColumnType.Kind.TEXT;
      ColumnDefault onAbsence = ColumnDefaults.of(column, type, schema.mariaDb());
      columns.put(
          column.name(),
          new Column(
              spec.name() + "." + column.name(),
              column.name(),
              ColumnTypes.declaration(column.columnType(), text ? column.charset() : null),
              type,
              column.nullable(),
              onAbsence));
      if (isNumbered(column.name())) {
        warnings.add(
            ("column %s is AUTO_INCREMENT: gameq writes no row whose number MySQL"
                    + " invents, the game takes each from GameQueue.ids")
                .formatted(column.name()));
      }
    } catch (UnmanageableException e) {
      flaws.add(
          new Flaw(
              kindOfUnmanageable(column),
              column.name(),
              "column %s: %s".formatted(column.name(), e.getMessage())));
    }
  }

  private static Flaw.Kind kindOfUnmanageable(ColumnFacts column) {
    String charset = column.charset();
    if (charset != null && TextCharset.ofName(charset) == null) {
      return Flaw.Kind.CHARACTER_SET;
    }
    return WITH_DIGITS.matcher(column.columnType()).lookingAt()
        ? Flaw.Kind.DIGITS
        : Flaw.Kind.OTHER;
  }

  private void version(ColumnFacts column) {
    String type = column.columnType().toLowerCase(Locale.ROOT);
    boolean right =
        column.name().equals(Table.VERSION_COLUMN)
            && type.startsWith("bigint")
            && type.contains("unsigned")
            && !column.nullable()
            && "0".equals(column.defaultText())
            && !column.generated();
    versionColumn = right ? VersionColumn.PRESENT : VersionColumn.WRONG;
    if (!right) {
      flaws.add(
          new Flaw(
              INTEGER.matcher(type).matches() && !column.generated()
                  ? Flaw.Kind.VERSION_COLUMN
                  : Flaw.Kind.OTHER_VERSION_COLUMN,
              column.name(),
              "column %s is not BIGINT UNSIGNED NOT NULL DEFAULT 0: change it"
                  .formatted(Table.VERSION_COLUMN)));
    }
  }

  private List<String> primaryKey(TableFacts table) {
    List<IndexPart> parts = table.primaryKey();
    if (parts.isEmpty() && table.isBaseTable()) {
      flaws.add(Flaw.ofTable(Flaw.Kind.NO_PRIMARY_KEY, "it has no primary key"));
    }
    List<String> names = new ArrayList<>();
    long shortest = 0;
    long longest = 0;
    for (IndexPart part : parts) {
      String name = String.valueOf(part.column());
      names.add(name);
      Column column = columns.get(name);
      if (part.prefix()) {
        flaws.add(
            new Flaw(
                Flaw.Kind.PREFIX_IN_KEY,
                name,
                "the primary key covers only a prefix of column %s".formatted(name)));
      } else if (generated.contains(name) || name.equalsIgnoreCase(Table.VERSION_COLUMN)) {
        flaws.add(Flaw.other("key column %s is not one that the game writes".formatted(name)));
      } else if (column != null) {
        String problem = column.type().keyProblem();
        if (problem != null) {
          flaws.add(ofKey(column, "key column %s: %s".formatted(name, problem)));
        }
        shortest += column.type().minKeyBytes();
        longest += column.type().maxKeyBytes() + 1L;
      }
    }
    checkLength(shortest, longest - 1);
    return names;
  }

  private void checkLength(long shortest, long longest) {
    if (shortest > RowKey.MAX_KEY_BYTES) {
      flaws.add(
          Flaw.other(
              "its primary key takes at least %s bytes encoded, the limit is %s"
                  .formatted(shortest, RowKey.MAX_KEY_BYTES)));
    } else if (longest > RowKey.MAX_KEY_BYTES) {
      warnings.add(
          ("a primary key can take up to %s bytes encoded: rows whose key takes more than"
                  + " %s are refused")
              .formatted(longest, RowKey.MAX_KEY_BYTES));
    }
  }

  /** A text that MySQL can compare as it is needs another collation, anything else a change. */
  private static Flaw ofKey(Column column, String reason) {
    boolean text = CHAR_OR_VARCHAR.matcher(column.declaration()).lookingAt();
    return new Flaw(text ? Flaw.Kind.COLLATION : Flaw.Kind.OTHER, column.name(), reason);
  }

  private void owner(TableFacts table) {
    if (!OWNER_KIND.matcher(spec.ownerKind()).matches()) {
      flaws.add(
          Flaw.ofTable(
              Flaw.Kind.CONFIGURATION,
              "owner kind '%s' is not a-z, then up to 31 of a-z 0-9 _"
                  .formatted(spec.ownerKind())));
    }
    String name = spec.ownerColumn();
    Column column = columns.get(name);
    if (table.column(name) == null) {
      List<String> close =
          SimilarNames.close(name, table.columns().stream().map(ColumnFacts::name).toList());
      flaws.add(
          Flaw.ofTable(
              Flaw.Kind.CONFIGURATION,
              "it has no owner column %s%s"
                  .formatted(
                      name, close.isEmpty() ? "" : " (did you mean %s?)".formatted(close.get(0)))));
    } else if (generated.contains(name)) {
      flaws.add(Flaw.other("owner column %s is generated".formatted(name)));
    } else if (column != null) {
      String problem = column.type().keyProblem();
      if (!OWNER_KINDS.contains(column.type().kind())) {
        flaws.add(
            Flaw.other(
                "owner column %s is %s: use an integer, CHAR or VARCHAR"
                    .formatted(name, column.declaration())));
      } else if (problem != null) {
        flaws.add(ofKey(column, "owner column %s: %s".formatted(name, problem)));
      }
      if (column.nullable()) {
        flaws.add(
            new Flaw(
                Flaw.Kind.NULLABLE,
                name,
                "owner column %s may be NULL: make it NOT NULL".formatted(name)));
      }
      if (!table.hasIndexThatBeginsWith(name)) {
        warnings.add(
            "no index begins with owner column %s: opening an owner reads the whole table"
                .formatted(name));
      }
    }
  }

  private void warn(TableFacts table, List<UniqueKey> uniqueKeys) {
    if (!table.otherUniqueKeys().isEmpty()) {
      warnings.add(
          "other UNIQUE keys (%s): a row that breaks one is refused, and the flush is slower"
              .formatted(String.join(", ", table.otherUniqueKeys())));
    }
    for (UniqueKey key : uniqueKeys) {
      if (key.spare() == null) {
        warnings.add(
            ("rows that exchange values of the UNIQUE key %s in one flush become dead letters:"
                    + " %s")
                .formatted(key.name(), noSpare(key)));
      }
    }
    for (ForeignKeyFacts key : schema.foreignKeys()) {
      if (key.child().equals(spec.name())) {
        warnOf(key, "DELETE", key.deleteRule());
        warnOf(key, "UPDATE", key.updateRule());
      }
    }
    warnOfCircles();
    if (!table.triggers().isEmpty()) {
      warnings.add(
          "triggers (%s) run on every flush, also on one that changes nothing"
              .formatted(String.join(", ", table.triggers())));
    }
    stored.forEach(of -> warnings.addAll(of.warningsFor(spec.name())));
  }

  private static String noSpare(UniqueKey key) {
    return key.columns().isEmpty()
        ? "a part of it is an expression, a prefix, or a column that gameq does not write"
        : "none of its columns can have another value for a moment; one that is not the owner's, in"
            + " no primary or foreign key, and may be NULL or is an integer or a text, can";
  }

  /** Rows that need each other cannot be written one after the other. */
  private void warnOfCircles() {
    if (schema.leadsBackTo(spec.name(), key -> !schema.isOptional(key))) {
      warnings.add(
          "foreign keys of NOT NULL columns lead from this table back to it: rows that refer to"
              + " each other in a circle are refused, let one of the columns be NULL");
    }
    if (schema.leadsBackTo(spec.name(), key -> !key.child().equals(key.parent()))) {
      warnings.add(
          "foreign keys lead from this table by way of others back to it: rows that need each other"
              + " are written when one owner has them all; of two owners, commit one reference"
              + " later");
    }
  }

  private void warnOf(ForeignKeyFacts key, String event, String rule) {
    if (!rule.equals("RESTRICT") && !rule.equals("NO ACTION")) {
      warnings.add(
          ("foreign key %s to %s is ON %s %s: MySQL changes rows that gameq may still"
                  + " write, use RESTRICT")
              .formatted(key.name(), key.parent(), event, rule));
    }
  }

  /**
   * One reason why a table cannot be managed; immutable.
   *
   * @param column the one that it is about; empty when it is about the table
   */
  record Flaw(Kind kind, String column, String reason) {
    /** What is wrong, as far as a statement can mend it. */
    enum Kind {
      ENGINE,
      NO_PRIMARY_KEY,
      /** The primary key covers a prefix of the column. */
      PREFIX_IN_KEY,
      /** The column's collation takes different texts for the same. */
      COLLATION,
      /** A character set whose bytes gameq cannot count. */
      CHARACTER_SET,
      /** FLOAT or DOUBLE with digits in brackets, to which MySQL rounds. */
      DIGITS,
      /** An owner column that may be NULL. */
      NULLABLE,
      /** gq_version is there, a number, and wrong. */
      VERSION_COLUMN,
      /** gq_version is there and something else. */
      OTHER_VERSION_COLUMN,
      /**
       * Table, column or kind of owner are not those of the database: the configuration is wrong.
       */
      CONFIGURATION,
      /** No statement of ours mends it. */
      OTHER
    }

    static Flaw other(String reason) {
      return new Flaw(Kind.OTHER, "", reason);
    }

    static Flaw ofTable(Kind kind, String reason) {
      return new Flaw(kind, "", reason);
    }

    /** True when {@code schema check --fix-sql} has a statement for its kind. */
    boolean isMendable() {
      return kind != Kind.OTHER && kind != Kind.CONFIGURATION;
    }
  }

  /**
   * Reads a column's default from information_schema, where MySQL gives a value and MariaDB gives
   * SQL. Stateless.
   *
   * <p>What cannot be told for certain the game must give.
   */
  static final class ColumnDefaults {
    private static final Pattern NOW = Pattern.compile("(?i)current_timestamp(?:\\((\\d?)\\))?");
    private static final Pattern NUMBER = Pattern.compile("-?[0-9.]+(?:[eE][-+]?[0-9]+)?");
    private static final Pattern BITS = Pattern.compile("b'([01]*)'");

    private ColumnDefaults() {}

    static ColumnDefault of(ColumnFacts column, ColumnType type, boolean mariaDb) {
      if (column.extraHas("auto_increment")) {
        return ColumnDefault.NUMBERED;
      }
      String text = column.defaultText();
      if (text == null || (mariaDb && text.equals("NULL"))) {
        return column.nullable() ? ColumnDefault.NULL : ColumnDefault.NONE;
      }
      boolean sql = mariaDb || column.extraHas("default_generated");
      Matcher now = NOW.matcher(text);
      if (sql && now.matches()) {
        String digits = now.group(1);
        return isDateTime(type)
            ? new ColumnDefault.Now(
                digits == null || digits.isEmpty() ? 0 : Integer.parseInt(digits))
            : ColumnDefault.OF_MYSQL;
      }
      String literal = sql ? literal(text) : text;
      Object value = literal == null || (sql && !mariaDb) ? null : constant(literal, type, mariaDb);
      return value == null ? ColumnDefault.OF_MYSQL : new ColumnDefault.Constant(value);
    }

    private static boolean isDateTime(ColumnType type) {
      return type.kind() == ColumnType.Kind.TIMESTAMP || type.kind() == ColumnType.Kind.DATETIME;
    }

    /** The value of a SQL literal, or null for any other expression. */
    private static @Nullable String literal(String sql) {
      if (NUMBER.matcher(sql).matches() || BITS.matcher(sql).matches()) {
        return sql;
      }
      if (!sql.startsWith("'") || !sql.endsWith("'")) {
        return null;
      }
      List<String> strings = SqlText.quoted(sql);
      return strings.size() == 1 ? strings.get(0) : null;
    }

    private static @Nullable Object constant(String text, ColumnType type, boolean mariaDb) {
      try {
        Object value =
            switch (type.kind()) {
              case INTEGER, UNSIGNED_LONG, DECIMAL -> new BigDecimal(text);
              case BIT -> bits(text);
              case FLOAT -> Float.valueOf(text);
              case DOUBLE -> Double.valueOf(text);
              case TEXT, JSON, ENUM, SET -> text;
              case BINARY -> bytes(text, mariaDb);
              case DATE -> LocalDate.parse(text);
              case DATETIME -> LocalDateTime.parse(text.replace(' ', 'T'));
              case TIME -> TemporalText.duration(text);
              // In the time zone of the session that created the column, which nobody knows any
              // more.
              case TIMESTAMP -> null;
            };
        return value == null ? null : type.canonical(value, "default");
      } catch (GameQueueException | IllegalArgumentException | DateTimeException e) {
        return null;
      }
    }

    private static @Nullable BigInteger bits(String text) {
      Matcher bits = BITS.matcher(text);
      return bits.matches() ? new BigInteger("0" + bits.group(1), 2) : null;
    }

    private static byte @Nullable [] bytes(String text, boolean mariaDb) {
      if (!mariaDb) {
        return text.toLowerCase(Locale.ROOT).startsWith("0x")
            ? HexFormat.of().parseHex(text.substring(2))
            : text.isEmpty() ? new byte[0] : null;
      }
      byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
      return new String(ascii, StandardCharsets.US_ASCII).equals(text) ? ascii : null;
    }
  }
}
