package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ColumnType.Refusal;
import io.gameq.rows.types.ColumnTypes;
import io.gameq.rows.types.ColumnTypes.SqlText;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A managed table: its columns, its key, its owner, and what ties it to other tables; immutable.
 *
 * <p>A row is an array of canonical values ({@link CanonicalRow} makes them), one for each of
 * {@link #columns}, in that order; a key is an array of the primary key's values in the order of
 * the key.
 */
public final class Table {
  /** The column that holds the version of a row; gameq alone writes it. */
  public static final String VERSION_COLUMN = "gq_version";

  /** The table of {@link HandledRow}. */
  static final String HANDLED = "gameq_handled";

  private final TableDefinition definition;
  private final Map<String, Integer> indexes = new HashMap<>();

  /** MySQL takes names of columns in capitals and in small letters for the same. */
  private final Map<String, Integer> indexesAnyCase = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  /** The name as row keys have it. */
  final String encodedName;

  private final int[] primaryKey;
  private final boolean[] inKey;
  private final List<Column> keyColumns;
  final List<ColumnType> types;
  final List<ColumnType> keyTypes;
  private final int ownerIndex;
  private final String layout;
  private final long fingerprint;

  /**
   * Builds a table.
   *
   * @throws GameQueueException when the key or the owner column is not among the columns
   */
  public Table(TableDefinition definition) {
    this.definition = definition;
    this.encodedName = PercentEncoding.percent(definition.name());
    List<Column> columns = definition.columns();
    for (int i = 0; i < columns.size(); i++) {
      indexes.put(columns.get(i).name(), i);
      indexesAnyCase.put(columns.get(i).name(), i);
    }
    this.primaryKey = definition.primaryKey().stream().mapToInt(this::indexOf).toArray();
    this.keyColumns = definition.primaryKey().stream().map(this::column).toList();
    this.types = columns.stream().map(Column::type).toList();
    this.keyTypes = keyColumns.stream().map(Column::type).toList();
    this.inKey = new boolean[columns.size()];
    for (int index : primaryKey) {
      inKey[index] = true;
    }
    this.ownerIndex = indexOf(definition.ownerColumn());
    this.layout = Layout.text(columns);
    this.fingerprint = Layout.fingerprint(layout);
  }

  public String name() {
    return definition.name();
  }

  /** All columns that gameq writes, in their order in MySQL. */
  public List<Column> columns() {
    return definition.columns();
  }

  /** The primary key as indexes into {@link #columns}, in the order of the key. */
  public int[] primaryKey() {
    return primaryKey.clone();
  }

  /** The columns of the primary key, in the order of the key. */
  public List<Column> keyColumns() {
    return keyColumns;
  }

  /** Whether the column at this index is part of the primary key. */
  boolean isInKey(int index) {
    return inKey[index];
  }

  /** Whether the column at this index is part of the primary key, or names the owner. */
  public boolean namesRowOrOwner(int index) {
    return inKey[index] || index == ownerIndex;
  }

  /**
   * The canonical form of a value that the game puts into the column at this index.
   *
   * @throws io.gameq.RowRefusedException when the column cannot hold it
   */
  @Nullable Object canonical(int index, @Nullable Object in) {
    Column column = columns().get(index);
    return isInKey(index) ? column.canonicalExactly(in) : column.canonical(in);
  }

  public String ownerKind() {
    return definition.ownerKind();
  }

  public Column ownerColumn() {
    return columns().get(ownerIndex);
  }

  /** The index of the owner column into {@link #columns}. */
  public int ownerIndex() {
    return ownerIndex;
  }

  /**
   * Whether a row's primary key names its owner: then no other owner can have a row of that key.
   */
  public boolean isKeyedByOwner() {
    return inKey[ownerIndex];
  }

  /** True when another UNIQUE key exists, which ON DUPLICATE KEY UPDATE may hit by mistake. */
  public boolean hasOtherUniqueKeys() {
    return !definition.otherUniqueKeys().isEmpty();
  }

  /** The UNIQUE keys besides the primary key. */
  public List<UniqueKey> otherUniqueKeys() {
    return definition.otherUniqueKeys();
  }

  /** How foreign keys tie it to other tables. */
  public ForeignKeys foreignKeys() {
    return definition.foreignKeys();
  }

  /** CRC-32 of {@link #layout}, an unsigned 32-bit number. */
  public long fingerprint() {
    return fingerprint;
  }

  /** Names of the columns in a {@link #layout}. */
  public static List<String> namesInLayout(String layout) {
    return Layout.parse(layout).names();
  }

  /** The columns and their types as text, to be kept in gameq_layout. */
  public String layout() {
    return layout;
  }

  /**
   * The index of a column; its name may be in capitals or small letters, as in MySQL.
   *
   * @throws GameQueueException when the table has no such column that gameq writes
   */
  public int indexOf(String column) {
    Integer index = index(column);
    if (index == null) {
      throw new GameQueueException(unknown(column));
    }
    return index;
  }

  public boolean has(String column) {
    return index(column) != null;
  }

  private @Nullable Integer index(String column) {
    Integer index = indexes.get(column);
    return index == null ? indexesAnyCase.get(column) : index;
  }

  /** The column of this name; see {@link #indexOf}. */
  public Column column(String column) {
    return columns().get(indexOf(column));
  }

  /**
   * The column for ids that the game takes: the one that MySQL would number, else the only integer
   * of the key that is not the owner. Throws GameQueueException when there is not one.
   */
  public Column idColumn() {
    List<Column> numbered =
        columns().stream()
            .filter(column -> column.onAbsence() instanceof ColumnDefault.Numbered)
            .toList();
    List<Column> all =
        numbered.isEmpty()
            ? keyColumns.stream()
                .filter(column -> column.type().isInteger() && !column.equals(ownerColumn()))
                .toList()
            : numbered;
    if (all.size() != 1) {
      throw new GameQueueException(
          ("table %s has %s: ids are for a column with AUTO_INCREMENT, or for the only integer of"
                  + " the primary key beside the owner's column")
              .formatted(name(), all.isEmpty() ? "no column for ids" : "several columns for ids"));
    }
    return all.get(0);
  }

  /**
   * This table in the columns of an older definition of it, each as it is now; those that are gone
   * are as they were. This table itself when it has the same columns.
   */
  Table inColumnsOf(Table older) {
    List<Column> its = new ArrayList<>();
    for (Column column : older.columns()) {
      its.add(has(column.name()) ? column(column.name()) : column);
    }
    return its.equals(columns())
        ? this
        : new Table(definition.with(its, definition.dropped, definition.foreignKeys));
  }

  /** Whether key and owner are in the same columns. */
  boolean hasSameKeys(Table other) {
    return definition.primaryKey().equals(other.definition.primaryKey())
        && ownerKind().equals(other.ownerKind())
        && definition.ownerColumn().equals(other.definition.ownerColumn());
  }

  /** Whether it was announced that the table loses this column, or MySQL computes it by now. */
  boolean isDropped(String column) {
    return Stream.concat(definition.dropped().stream(), definition.generated().stream())
        .anyMatch(column::equalsIgnoreCase);
  }

  /** The primary key of a row. */
  public Object[] keyOf(@Nullable Object[] row) {
    Object[] key = new Object[primaryKey.length];
    for (int i = 0; i < key.length; i++) {
      Object part = row[primaryKey[i]];
      if (part == null) {
        throw Refusal.of(columns().get(primaryKey[i]).label(), "NULL in a primary key");
      }
      key[i] = part;
    }
    return key;
  }

  /**
   * The owner of a row, by the owner kind and the row's owner column.
   *
   * @throws GameQueueException when the owner column is empty or makes no owner id
   */
  public OwnerId ownerOf(@Nullable Object[] row) {
    Object value = row[ownerIndex];
    if (value == null) {
      throw new RowRefusedException(ownerColumn().label() + ": NULL names no owner");
    }
    return ownerOfValue(value);
  }

  /** The owner that a value of the owner column names. */
  public OwnerId ownerOfValue(Object value) {
    return OwnerId.of(ownerKind() + ":" + ownerColumn().type().ownerKey(value));
  }

  /** Whether a row is this owner's; false as well when it names no owner at all. */
  public boolean isOwnedBy(OwnerId owner, @Nullable Object[] row) {
    return isNamedBy(row[ownerIndex], owner);
  }

  /** Whether a value of the owner column names this owner. */
  public boolean isNamedBy(@Nullable Object value, OwnerId owner) {
    return value != null
        && owner.kind().equals(ownerKind())
        && ((value instanceof Long number && number >= 0)
            ? isDecimal(owner.key(), number)
            : owner.key().equals(ownerColumn().type().ownerKey(value)));
  }

  /** Whether a text is a number as Long.toString writes it; each put asks that. */
  private static boolean isDecimal(String text, long number) {
    long left = number;
    for (int i = text.length() - 1; i >= 0; i--) {
      if (text.charAt(i) != '0' + left % 10) {
        return false;
      }
      left /= 10;
    }
    boolean isShortest = text.length() == 1 || (!text.isEmpty() && text.charAt(0) != '0');
    return left == 0 && isShortest;
  }

  /**
   * The canonical value that the owner column has in this owner's rows.
   *
   * @throws GameQueueException when the owner is of another kind, or its key is not exactly what
   *     the column holds: "042" for 42 would be a second owner of the same rows
   */
  public Object ownerColumnValue(OwnerId owner) {
    if (!owner.kind().equals(ownerKind())) {
      throw new GameQueueException(
          "owner %s has no rows in table %s, whose owners are of kind %s"
              .formatted(owner, name(), ownerKind()));
    }
    Column column = ownerColumn();
    String problem = "write the key " + column.type().ownerKeyForm();
    try {
      Object value = column.type().canonical(column.type().ofOwnerKey(owner.key()), column.label());
      String unused = column.type().keyText(value, column.label()); // refuses spaces at the end
      if (column.type().ownerKey(value).equals(owner.key())) {
        return value;
      }
    } catch (RowRefusedException e) {
      problem = String.valueOf(e.getMessage());
    } catch (IllegalArgumentException e) {
      // another form
    }
    throw new GameQueueException(
        "owner id %s does not fit its column %s: %s".formatted(owner, column.label(), problem));
  }

  /** Why this is none of {@link #columns}. */
  String unknown(String column) {
    if (column.equalsIgnoreCase(VERSION_COLUMN)) {
      return "%s.%s is written by gameq alone".formatted(name(), column);
    }
    if (definition.generated().stream().anyMatch(column::equalsIgnoreCase)) {
      return "%s.%s is computed by MySQL: leave it out".formatted(name(), column);
    }
    return "table %s has no column %s%s"
        .formatted(
            name(),
            column,
            SimilarNames.hint(column, definition.columns().stream().map(Column::name).toList()));
  }

  @Override
  public String toString() {
    return name();
  }

  /**
   * A UNIQUE key of a table besides its primary key; immutable.
   *
   * @param columns that gameq writes, in their order; empty when a part of the key is an
   *     expression, a prefix, or a column that MySQL computes
   * @param spare the column of which a row can be given another value for a moment, so that rows
   *     can exchange theirs; null when MySQL would refuse that, or {@link #columns} is empty
   */
  public record UniqueKey(String name, List<String> columns, @Nullable String spare) {
    public UniqueKey {
      columns = List.copyOf(columns);
    }
  }

  /**
   * How foreign keys tie a table to others; immutable.
   *
   * @param rank 0 without a managed parent, else above every parent's: the order of inserts
   * @param references its foreign keys
   * @param parents names of the tables that it refers to
   * @param cascades whether deleting a row changes or deletes rows of other tables
   */
  public record ForeignKeys(
      int rank, List<Reference> references, Set<String> parents, boolean cascades) {
    /** Those of a table that refers to none, and that none refers to. */
    public static final ForeignKeys NONE = of(0, List.of(), false);

    public ForeignKeys {
      references = List.copyOf(references);
      parents = Set.copyOf(parents);
    }

    public static ForeignKeys of(int rank, List<Reference> references, boolean cascades) {
      return new ForeignKeys(
          rank,
          references,
          references.stream().map(Reference::parent).collect(Collectors.toUnmodifiableSet()),
          cascades);
    }
  }

  /** Finds the names that a mistyped one may have meant. Stateless. */
  public static final class SimilarNames {
    private static final int MAX_SUGGESTIONS = 3;

    private SimilarNames() {}

    /** {@code (did you mean a, b?)}, or all names when none is close. */
    public static String hint(String name, Collection<String> known) {
      List<String> close = close(name, known);
      return close.isEmpty()
          ? " (known: " + String.join(", ", known) + ")"
          : " (did you mean " + String.join(", ", close) + "?)";
    }

    /** The names that are close, the closest first. */
    public static List<String> close(String name, Collection<String> known) {
      String wanted = name.toLowerCase(Locale.ROOT);
      int tolerated = Math.max(2, name.length() / 3);
      return known.stream()
          .filter(k -> distance(wanted, k.toLowerCase(Locale.ROOT)) <= tolerated)
          .sorted(Comparator.comparingInt(k -> distance(wanted, k.toLowerCase(Locale.ROOT))))
          .limit(MAX_SUGGESTIONS)
          .toList();
    }

    /** Levenshtein's distance. */
    private static int distance(String a, String b) {
      int[] row = new int[b.length() + 1];
      for (int j = 0; j <= b.length(); j++) {
        row[j] = j;
      }
      for (int i = 1; i <= a.length(); i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b.length(); j++) {
          int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
          diagonal = row[j];
          row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
        }
      }
      return row[b.length()];
    }
  }

  /**
   * What a table is made of; immutable.
   *
   * @param columns all that gameq writes, in their order in MySQL: not those that MySQL generates,
   *     not gq_version
   * @param generated names of the columns that MySQL computes
   * @param dropped names of columns that the table had, or has, and that it is announced to lose
   * @param primaryKey names of the key columns in the order of the key
   */
  public record TableDefinition(
      String name,
      List<Column> columns,
      Set<String> generated,
      Set<String> dropped,
      List<String> primaryKey,
      String ownerKind,
      String ownerColumn,
      List<UniqueKey> otherUniqueKeys,
      ForeignKeys foreignKeys) {
    public TableDefinition {
      otherUniqueKeys = List.copyOf(otherUniqueKeys);
      columns = List.copyOf(columns);
      generated = Set.copyOf(generated);
      dropped = Set.copyOf(dropped);
      primaryKey = List.copyOf(primaryKey);
    }

    /** The same table, and columns that it is announced to lose. */
    public TableDefinition withDropped(Set<String> its) {
      return with(columns, its, foreignKeys);
    }

    /** The same table, and how foreign keys tie it to others. */
    public TableDefinition withForeignKeys(ForeignKeys its) {
      return with(columns, dropped, its);
    }

    private TableDefinition with(
        List<Column> itsColumns, Set<String> itsDropped, ForeignKeys itsForeignKeys) {
      return new TableDefinition(
          name,
          itsColumns,
          generated,
          itsDropped,
          primaryKey,
          ownerKind,
          ownerColumn,
          otherUniqueKeys,
          itsForeignKeys);
    }
  }

  /**
   * A column that gameq writes; immutable.
   *
   * @param label {@code table.column}, for messages
   * @param declaration COLUMN_TYPE, and the character set for text: part of the layout
   */
  public record Column(
      String label,
      String name,
      String declaration,
      ColumnType type,
      boolean nullable,
      ColumnDefault onAbsence) {

    /**
     * The canonical form of a value that the game puts; an empty Optional is NULL.
     *
     * @throws io.gameq.RowRefusedException when the column cannot hold it
     */
    public @Nullable Object canonical(@Nullable Object in) {
      Object given = given(in);
      return given == null ? null : type.canonical(given, label);
    }

    /**
     * The same, of a value of which nothing may be cut.
     *
     * @throws io.gameq.RowRefusedException when the column cannot hold it exactly
     */
    @Nullable Object canonicalExactly(@Nullable Object in) {
      Object given = given(in);
      return given == null ? null : type.canonicalExactly(given, label);
    }

    private @Nullable Object given(@Nullable Object in) {
      Object given = in instanceof Optional<?> optional ? optional.orElse(null) : in;
      if (given == null && !nullable) {
        throw Refusal.of(label, "NULL in a NOT NULL column");
      }
      return given;
    }

    /**
     * The value of a put that does not name this column.
     *
     * @throws io.gameq.RowRefusedException when it must be named
     */
    @Nullable Object absent(Clock clock) {
      if (onAbsence instanceof ColumnDefault.Constant constant) {
        // Not a copy: canonical values are never changed in place.
        return constant.value();
      }
      if (onAbsence instanceof ColumnDefault.Now now) {
        Instant moment = now.of(clock.instant());
        return type.valueClass() == Instant.class
            ? moment
            : LocalDateTime.ofInstant(moment, ZoneOffset.UTC);
      }
      throw Refusal.of(
          label,
          onAbsence instanceof ColumnDefault.Numbered
              ? "missing, and gameq writes no row whose number MySQL invents: take it from"
                  + " GameQueue.ids"
              : "missing, and the column has no default that gameq knows");
    }

    /** Whether MySQL itself gives the column a value in an INSERT that leaves it out. */
    public boolean mayBeLeftOut() {
      return !(onAbsence instanceof ColumnDefault.None);
    }

    /**
     * The value that the column has in a row from before it was added; null also where only MySQL
     * can tell.
     *
     * @throws io.gameq.RowRefusedException when MySQL has none either
     */
    @Nullable Object unnamed(Clock clock) {
      if (onAbsence instanceof ColumnDefault.OfMySql
          || onAbsence instanceof ColumnDefault.Numbered) {
        return nullable ? null : type.impliedDefault();
      }
      if (mayBeLeftOut()) {
        return absent(clock);
      }
      Object implied = type.impliedDefault();
      if (implied == null) {
        throw Refusal.of(label, "it has no default that rows from before it was added could take");
      }
      return implied;
    }
  }

  /**
   * A foreign key of a table; immutable.
   *
   * @param parent the table that it refers to
   * @param optional one of its columns that may be NULL: then the row refers to nothing, so that
   *     rows which refer to each other can be written one after the other; null when there is none
   */
  public record Reference(String parent, @Nullable String optional) {}

  /**
   * The column list that a row was encoded with, as text {@code name type,name type charset,...},
   * and the CRC-32 that names it; immutable.
   *
   * <p>Names are percent-encoded, so the first space ends them; a comma inside of quotes or
   * brackets belongs to a type.
   */
  record Layout(List<String> names, List<ColumnType> types) {

    static String text(List<Column> columns) {
      StringBuilder out = new StringBuilder();
      for (Column column : columns) {
        out.append(out.isEmpty() ? "" : ",");
        out.append(PercentEncoding.percent(column.name())).append(' ').append(column.declaration());
      }
      return out.toString();
    }

    /** An unsigned 32-bit number. */
    static long fingerprint(String text) {
      CRC32 crc = new CRC32();
      crc.update(text.getBytes(StandardCharsets.UTF_8));
      return crc.getValue();
    }

    static Layout parse(String text) {
      List<String> names = new ArrayList<>();
      List<ColumnType> types = new ArrayList<>();
      for (String column : split(text)) {
        int space = column.indexOf(' ');
        if (space < 0) {
          throw new GameQueueException("layout with a column without a type");
        }
        names.add(PercentEncoding.unpercent(column.substring(0, space)));
        types.add(ColumnTypes.ofDeclaration(column.substring(space + 1)));
      }
      return new Layout(names, types);
    }

    /** The place of a column, in capitals or small letters as MySQL compares them; -1 for none. */
    int indexOf(String column) {
      for (int i = 0; i < names.size(); i++) {
        if (names.get(i).equalsIgnoreCase(column)) {
          return i;
        }
      }
      return -1;
    }

    private static List<String> split(String text) {
      List<String> parts = new ArrayList<>();
      StringBuilder quoted = new StringBuilder();
      int from = 0;
      int depth = 0;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c == '\'') {
          i = SqlText.unquote(text, i + 1, quoted) - 1;
        } else if (c == '(') {
          depth++;
        } else if (c == ')') {
          depth--;
        } else if (c == ',' && depth == 0) {
          parts.add(text.substring(from, i));
          from = i + 1;
        }
      }
      parts.add(text.substring(from));
      return parts;
    }
  }
}
