package io.gameq.rows;

import java.util.List;
import java.util.Set;

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

  /** The same table in other columns, which hold its key and its owner. */
  TableDefinition withColumns(List<Column> its) {
    return with(its, dropped, foreignKeys);
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

  /** Whether key and owner are in the same columns. */
  boolean hasSameKeys(TableDefinition other) {
    return primaryKey.equals(other.primaryKey)
        && ownerKind.equals(other.ownerKind)
        && ownerColumn.equals(other.ownerColumn);
  }
}
