package io.gameq.mysql.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.JdbcValues.SpareValues;
import io.gameq.mysql.schema.SchemaSnapshot.ColumnFacts;
import io.gameq.mysql.schema.SchemaSnapshot.IndexPart;
import io.gameq.mysql.schema.SchemaSnapshot.TableFacts;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.EncodedRow.RowKey;
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
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
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
public final class TableInspector {
  private static final Pattern OWNER_KIND = Pattern.compile("[a-z][a-z0-9_]{0,31}");
  private static final Pattern CHAR_OR_VARCHAR =
      Pattern.compile("(?:var)?char\\b", Pattern.CASE_INSENSITIVE);
  private final SchemaSnapshot schema;
  private final TableSpec spec;
  private final List<Flaw> flaws = new ArrayList<>();
  private final Map<String, Column> columns = new LinkedHashMap<>();
  private final Set<String> generated = new LinkedHashSet<>();
  private VersionColumn versionColumn = VersionColumn.MISSING;

  /**
   * The judgement.
   *
   * @param spec as the database names table and column, where it has them
   * @param flaws why it cannot be managed; empty when it can
   * @param definition null where there is no such table; it counts when there are no flaws
   */
  public record Result(
      TableSpec spec,
      List<Flaw> flaws,
      VersionColumn versionColumn,
      @Nullable TableDefinition definition) {
    public Result {
      flaws = List.copyOf(flaws);
    }
  }

  /** The state of gq_version. */
  public enum VersionColumn {
    PRESENT,
    /** To be added by 'schema migrate'. */
    MISSING,
    /** There, but not BIGINT UNSIGNED NOT NULL DEFAULT 0; also one of the flaws. */
    WRONG
  }

  /**
   * One reason why a table cannot be managed; immutable.
   *
   * @param column the one that it is about; empty when it is about the table
   */
  public record Flaw(Kind kind, String column, String reason) {
    /** What 'schema check --fix-sql' can change. */
    public enum Kind {
      ENGINE,
      NO_PRIMARY_KEY,
      /** The column's collation takes different texts for the same. */
      COLLATION,
      /** An owner column that may be NULL. */
      NULLABLE,
      /** Somebody has to decide. */
      OTHER
    }
  }

  private TableInspector(SchemaSnapshot schema, TableSpec spec) {
    this.schema = schema;
    this.spec = spec;
  }

  /** The judgement of one table. */
  public static Result inspect(SchemaSnapshot schema, TableSpec spec) {
    return new TableInspector(schema, asNamedHere(schema, spec)).inspect();
  }

  /** The same, with table and column named as the database names them, where it has them. */
  private static TableSpec asNamedHere(SchemaSnapshot schema, TableSpec spec) {
    TableFacts table = schema.table(spec.name());
    if (table == null) {
      return spec;
    }
    ColumnFacts column = table.column(spec.ownerColumn());
    return new TableSpec(
        table.name(), spec.ownerKind(), column == null ? spec.ownerColumn() : column.name());
  }

  private Result inspect() {
    TableFacts table = schema.tables().get(spec.name());
    TableDefinition definition = null;
    if (table == null) {
      other(
          "no such table in %s%s: correct the configuration, or grant this user the right to it"
              .formatted(schema.name(), meant()));
    } else {
      definition = inspect(table);
    }
    return new Result(spec, flaws, versionColumn, definition);
  }

  private void flaw(Flaw.Kind kind, String column, String reason) {
    flaws.add(new Flaw(kind, column, reason));
  }

  private void other(String reason) {
    flaw(Flaw.Kind.OTHER, "", reason);
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
      other("it is a %s, not a table".formatted(table.tableType().toLowerCase(Locale.ROOT)));
    } else if (!"InnoDB".equals(table.engine())) {
      flaw(Flaw.Kind.ENGINE, "", "its engine is %s: use InnoDB".formatted(table.engine()));
    }
    table.columns().forEach(this::column);
    List<String> primaryKey = primaryKey(table);
    owner(table);
    List<UniqueKey> uniqueKeys =
        table.otherUniqueKeys().stream().map(name -> uniqueKey(table, name)).toList();
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
      boolean text = type.isText();
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
    } catch (UnmanageableException e) {
      other("column %s: %s".formatted(column.name(), e.getMessage()));
    }
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
      other(
          ("column %s is not BIGINT UNSIGNED NOT NULL DEFAULT 0: make it that, or rename it where"
                  + " it is the game's, and 'schema migrate' adds another")
              .formatted(column.name()));
    }
  }

  private List<String> primaryKey(TableFacts table) {
    List<IndexPart> parts = table.primaryKey();
    if (parts.isEmpty() && table.isBaseTable()) {
      flaw(Flaw.Kind.NO_PRIMARY_KEY, "", "it has no primary key");
    }
    List<String> names = new ArrayList<>();
    long shortest = 0;
    for (IndexPart part : parts) {
      String name = String.valueOf(part.column());
      names.add(name);
      Column column = columns.get(name);
      if (part.prefix()) {
        other(
            ("the primary key covers only a prefix of column %1$s: make it cover all of it (MySQL"
                    + " takes 3072 bytes in all), with a type of that length; SELECT"
                    + " MAX(CHAR_LENGTH(%2$s)) FROM %3$s says which it needs")
                .formatted(name, JdbcValues.quoted(name), JdbcValues.quoted(table.name())));
      } else if (generated.contains(name) || name.equalsIgnoreCase(Table.VERSION_COLUMN)) {
        other("key column %s is not one that the game writes".formatted(name));
      } else if (column != null) {
        compared(column, "key");
        shortest += column.type().minKeyBytes();
      }
    }
    if (shortest > RowKey.MAX_KEY_BYTES) {
      other(
          "its primary key takes at least %s bytes encoded, the limit is %s"
              .formatted(shortest, RowKey.MAX_KEY_BYTES));
    }
    return names;
  }

  /** A text needs another collation to be compared as it is, anything else another type. */
  private void compared(Column column, String role) {
    String problem = column.type().keyProblem();
    if (problem != null) {
      boolean text = CHAR_OR_VARCHAR.matcher(column.declaration()).lookingAt();
      flaw(
          text ? Flaw.Kind.COLLATION : Flaw.Kind.OTHER,
          column.name(),
          "%s column %s: %s".formatted(role, column.name(), problem));
    }
  }

  private void owner(TableFacts table) {
    if (!OWNER_KIND.matcher(spec.ownerKind()).matches()) {
      other(
          "owner kind '%s' is not a-z, then up to 31 of a-z 0-9 _: correct the configuration"
              .formatted(spec.ownerKind()));
    }
    String name = spec.ownerColumn();
    Column column = columns.get(name);
    if (table.column(name) == null) {
      List<String> close =
          SimilarNames.close(name, table.columns().stream().map(ColumnFacts::name).toList());
      other(
          "it has no owner column %s%s: correct the configuration"
              .formatted(
                  name, close.isEmpty() ? "" : " (did you mean %s?)".formatted(close.get(0))));
    } else if (generated.contains(name)) {
      other("owner column %s is generated".formatted(name));
    } else if (column != null) {
      if (column.type().ownerKeyForm() == null) {
        other(
            "owner column %s is %s: use an integer, CHAR, VARCHAR or BINARY(16)"
                .formatted(name, column.declaration()));
      } else {
        compared(column, "owner");
      }
      if (column.nullable()) {
        flaw(
            Flaw.Kind.NULLABLE,
            name,
            "owner column %s may be NULL: make it NOT NULL".formatted(name));
      }
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

    private static final Set<Class<?>> MOMENTS = Set.of(Instant.class, LocalDateTime.class);

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
        return MOMENTS.contains(type.valueClass())
            ? new ColumnDefault.Now(
                digits == null || digits.isEmpty() ? 0 : Integer.parseInt(digits))
            : ColumnDefault.OF_MYSQL;
      }
      String literal = sql ? literal(text) : text;
      Object value = literal == null || (sql && !mariaDb) ? null : constant(literal, type, mariaDb);
      return value == null ? ColumnDefault.OF_MYSQL : new ColumnDefault.Constant(value);
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
        Object value = type.ofDefault(text, mariaDb);
        return value == null ? null : type.canonical(value, "default");
      } catch (GameQueueException | IllegalArgumentException | DateTimeException e) {
        return null;
      }
    }
  }

  /**
   * A table to be managed, registered in gameq_table or about to be.
   *
   * @param ownerKind the kind of the owner ids, as {@code player}
   * @param ownerColumn the column that holds the key of the owner id
   */
  public record TableSpec(String name, String ownerKind, String ownerColumn) {}
}
