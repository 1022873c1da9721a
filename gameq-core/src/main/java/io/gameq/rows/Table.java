package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.PercentEncoding;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.Refusal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
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

  private final TableDefinition definition;
  private final Map<String, Integer> indexes = new HashMap<>();

  /** MySQL takes names of columns in capitals and in small letters for the same. */
  private final Map<String, Integer> indexesAnyCase = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  private final String encodedName;
  private final int[] primaryKey;
  private final boolean[] inKey;
  private final List<Column> keyColumns;
  private final List<ColumnType> types;
  private final List<ColumnType> keyTypes;
  private final int ownerIndex;
  private final OwnerColumn owners;
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
    this.owners = new OwnerColumn(name(), definition.ownerKind(), columns.get(ownerIndex));
    this.layout = Layout.text(columns);
    this.fingerprint = Layout.fingerprint(layout);
  }

  public String name() {
    return definition.name();
  }

  /** The name as row keys have it. */
  String encodedName() {
    return encodedName;
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
    return definition.hasSameKeys(other.definition);
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
    return owners.owner(value);
  }

  /** The owner that a value of the owner column names. */
  public OwnerId ownerOfValue(Object value) {
    return owners.owner(value);
  }

  /** Whether a row is this owner's; false as well when it names no owner at all. */
  public boolean isOwnedBy(OwnerId owner, @Nullable Object[] row) {
    Object value = row[ownerIndex];
    return value != null && owners.isNamedBy(value, owner);
  }

  /**
   * The canonical value that the owner column has in this owner's rows.
   *
   * @throws GameQueueException when the owner is of another kind, or its key is not exactly what
   *     the column holds: "042" for 42 would be a second owner of the same rows
   */
  public Object ownerColumnValue(OwnerId owner) {
    return owners.value(owner);
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
}
