package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.Refusal;
import java.math.BigInteger;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A managed table: its columns, key and owner, and the check that a row fits them; immutable.
 *
 * <p>A row is an array of canonical values, one for each of {@link #columns}, in that order; a key
 * is an array of the primary key's values in the order of the key.
 */
public final class Table {
  /** The column that holds the version of a row; gameq alone writes it. */
  public static final String VERSION_COLUMN = "gq_version";

  private final Definition definition;
  private final Map<String, Integer> indexes = new HashMap<>();
  private final int[] primaryKey;
  private final boolean[] inKey;
  private final List<Column> keyColumns;
  private final List<ColumnType> types;
  private final List<ColumnType> keyTypes;
  private final int ownerIndex;
  private final String layout;
  private final long fingerprint;
  private final Set<String> parents;

  /**
   * What a table is made of.
   *
   * @param columns all that gameq writes, in their order in MySQL: not those that MySQL generates,
   *     not gq_version
   * @param generated names of the columns that MySQL computes
   * @param primaryKey names of the key columns in the order of the key
   * @param foreignKeyRank 0 without a managed parent, else above every parent's
   * @param references its foreign keys
   * @param cascades whether deleting a row changes or deletes rows of other tables
   */
  public record Definition(
      String name,
      List<Column> columns,
      Set<String> generated,
      List<String> primaryKey,
      String ownerKind,
      String ownerColumn,
      List<UniqueKey> otherUniqueKeys,
      int foreignKeyRank,
      List<Reference> references,
      boolean cascades) {
    public Definition {
      references = List.copyOf(references);
      otherUniqueKeys = List.copyOf(otherUniqueKeys);
      columns = List.copyOf(columns);
      generated = Set.copyOf(generated);
      primaryKey = List.copyOf(primaryKey);
    }

    /** The same table in other columns, which hold its key and its owner. */
    Definition withColumns(List<Column> its) {
      return new Definition(
          name,
          its,
          generated,
          primaryKey,
          ownerKind,
          ownerColumn,
          otherUniqueKeys,
          foreignKeyRank,
          references,
          cascades);
    }

    /** The same table, and how foreign keys tie it to others. */
    public Definition withForeignKeys(int rank, List<Reference> itsReferences, boolean itCascades) {
      return new Definition(
          name,
          columns,
          generated,
          primaryKey,
          ownerKind,
          ownerColumn,
          otherUniqueKeys,
          rank,
          itsReferences,
          itCascades);
    }
  }

  /**
   * Builds a table.
   *
   * @throws GameQueueException when the key or the owner column is not among the columns
   */
  public Table(Definition definition) {
    this.definition = definition;
    List<Column> columns = definition.columns();
    for (int i = 0; i < columns.size(); i++) {
      indexes.put(columns.get(i).name(), i);
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
    this.parents =
        definition.references().stream()
            .map(Reference::parent)
            .collect(Collectors.toUnmodifiableSet());
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

  List<ColumnType> types() {
    return types;
  }

  List<ColumnType> keyTypes() {
    return keyTypes;
  }

  int keyLength() {
    return primaryKey.length;
  }

  /** The index into {@link #columns} of this part of the key. */
  int keyIndex(int part) {
    return primaryKey[part];
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

  /** Names of the tables that this one refers to by foreign keys. */
  public Set<String> parents() {
    return parents;
  }

  /** Its foreign keys. */
  public List<Reference> references() {
    return definition.references();
  }

  /** Whether deleting a row changes or deletes rows of other tables. */
  public boolean cascades() {
    return definition.cascades();
  }

  /** 0 without a managed parent, else above every parent's: the order of inserts. */
  public int foreignKeyRank() {
    return definition.foreignKeyRank();
  }

  /** CRC-32 of {@link #layout}, an unsigned 32-bit number. */
  public long fingerprint() {
    return fingerprint;
  }

  /** The columns and their types as text, to be kept in gameq_layout. */
  public String layout() {
    return layout;
  }

  /**
   * The index of a column.
   *
   * @throws GameQueueException when the table has no such column that gameq writes
   */
  public int indexOf(String column) {
    Integer index = indexes.get(column);
    if (index == null) {
      throw new GameQueueException(unknown(column));
    }
    return index;
  }

  public boolean has(String column) {
    return indexes.containsKey(column);
  }

  /** The column of this name; see {@link #indexOf}. */
  public Column column(String column) {
    return columns().get(indexOf(column));
  }

  /**
   * The full row of a put that names its columns; one that is absent takes its default.
   *
   * @throws RowRefusedException when a column is unknown, generated, missing without a default, or
   *     does not hold its value
   */
  public @Nullable Object[] canonicalRow(Map<String, ?> values, Clock clock) {
    for (String name : values.keySet()) {
      if (!indexes.containsKey(name)) {
        throw new RowRefusedException(unknown(name));
      }
    }
    @Nullable Object[] row = new @Nullable Object[columns().size()];
    for (int i = 0; i < row.length; i++) {
      Column column = columns().get(i);
      Object in = values.get(column.name());
      row[i] =
          in != null || values.containsKey(column.name()) ? column.canonical(in) : absent(i, clock);
    }
    return row;
  }

  /**
   * The row of values that are already in the order of {@link #columns}; null means NULL.
   *
   * @throws RowRefusedException when a column does not hold its value
   */
  public @Nullable Object[] canonicalRow(@Nullable Object[] values) {
    if (values.length != columns().size()) {
      throw new RowRefusedException(
          "%s: %d values for %d columns".formatted(name(), values.length, columns().size()));
    }
    @Nullable Object[] row = new @Nullable Object[values.length];
    for (int i = 0; i < row.length; i++) {
      row[i] = columns().get(i).canonical(values[i]);
    }
    return row;
  }

  /** What the column at this index takes when a put does not name it. */
  @Nullable Object absent(int index, Clock clock) {
    if (inKey[index]) {
      throw Refusal.of(columns().get(index).label(), "missing, and part of the primary key");
    }
    return columns().get(index).absent(clock);
  }

  /**
   * What the column at this index has in a row that does not name it.
   *
   * @throws RowRefusedException when it must be named
   */
  @Nullable Object unnamed(int index, Clock clock) {
    if (inKey[index] || index == ownerIndex) {
      throw Refusal.of(
          columns().get(index).label(), "missing, and part of the primary key or the owner column");
    }
    return columns().get(index).unnamed(clock);
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
    return its.equals(columns()) ? this : new Table(definition.withColumns(its));
  }

  /** Whether key and owner are in the same columns. */
  boolean hasSameKeys(Table other) {
    return definition.primaryKey().equals(other.definition.primaryKey())
        && ownerKind().equals(other.ownerKind())
        && definition.ownerColumn().equals(other.definition.ownerColumn());
  }

  /**
   * The canonical primary key.
   *
   * @param parts in the order of the key
   * @throws RowRefusedException when the number of parts is wrong or one does not fit its column
   */
  public Object[] canonicalKey(@Nullable Object... parts) {
    if (parts.length != primaryKey.length) {
      throw new RowRefusedException(
          "%s: %d key parts given, the primary key is (%s)"
              .formatted(name(), parts.length, String.join(", ", definition.primaryKey())));
    }
    Object[] key = new Object[parts.length];
    for (int i = 0; i < key.length; i++) {
      Column column = columns().get(primaryKey[i]);
      Object part = column.canonical(parts[i]);
      if (part == null) {
        throw Refusal.of(column.label(), "NULL in a primary key");
      }
      key[i] = part;
    }
    return key;
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
    return OwnerId.of(ownerKind() + ":" + value);
  }

  /** Whether a row is this owner's; false as well when it names no owner at all. */
  public boolean isOwnedBy(OwnerId owner, @Nullable Object[] row) {
    Object value = row[ownerIndex];
    return value != null
        && owner.kind().equals(ownerKind())
        && owner.key().equals(value.toString());
  }

  /**
   * The canonical value that the owner column has in this owner's rows.
   *
   * @throws GameQueueException when the owner is of another kind, or its key is not exactly what
   *     the column holds: "042" for 42 would be a second owner of the same rows
   */
  public Object ownerColumnValue(OwnerId owner) {
    Column column = ownerColumn();
    if (!owner.kind().equals(ownerKind())) {
      throw new GameQueueException(
          "owner %s has no rows in table %s, whose owners are of kind %s"
              .formatted(owner, name(), ownerKind()));
    }
    Object in = owner.key();
    if (column.type().kind() != ColumnType.Kind.TEXT) {
      try {
        in = new BigInteger(owner.key());
      } catch (NumberFormatException e) {
        throw notTheKey(owner, column, e);
      }
    }
    Object value;
    try {
      value = column.type().canonical(in, column.label());
      if (!column.type().keyText(value, column.label()).equals(owner.key())) {
        throw notTheKey(owner, column, null);
      }
    } catch (RowRefusedException e) {
      throw notTheKey(owner, column, e);
    }
    return value;
  }

  private static GameQueueException notTheKey(
      OwnerId owner, Column column, @Nullable Exception cause) {
    String message =
        "owner id %s does not fit its column %s: %s"
            .formatted(
                owner,
                column.label(),
                cause instanceof RowRefusedException
                    ? cause.getMessage()
                    : column.type().kind() == ColumnType.Kind.TEXT
                        ? "the column would store another text"
                        : "write the key as a decimal number without leading zeros");
    return cause == null ? new GameQueueException(message) : new GameQueueException(message, cause);
  }

  private String unknown(String column) {
    if (column.equals(VERSION_COLUMN)) {
      return "%s.%s is written by gameq alone".formatted(name(), column);
    }
    if (definition.generated().contains(column)) {
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
}
