package io.gameq.catalog;

import io.gameq.Encoding;
import io.gameq.GameQueueException;
import io.gameq.OwnerId;
import io.gameq.RowRefusedException;
import java.math.BigInteger;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All managed tables of a database; immutable, read again after ALTER TABLE. */
public final class Catalog {
  private final Map<String, Table> byName = new TreeMap<>();
  private final List<Table> tables;
  private final Map<String, String> unmanaged;

  /**
   * A catalogue.
   *
   * @param unmanaged tables that are registered but cannot be managed, and why
   */
  public Catalog(List<Table> tables, Map<String, String> unmanaged) {
    for (Table table : tables) {
      byName.put(table.name(), table);
    }
    this.tables =
        tables.stream()
            .sorted(Comparator.comparingInt(Table::foreignKeyRank).thenComparing(Table::name))
            .toList();
    this.unmanaged = Map.copyOf(unmanaged);
  }

  /**
   * The table of this name.
   *
   * @throws GameQueueException when it is not managed; the message says why, or which ones are
   */
  public Table table(String name) {
    Table table = byName.get(name);
    if (table != null) {
      return table;
    }
    String reason = unmanaged.get(name);
    if (reason != null) {
      throw new GameQueueException("table %s cannot be managed: %s".formatted(name, reason));
    }
    throw new GameQueueException(
        "table %s is not managed by gameq%s".formatted(name, Similar.hint(name, byName.keySet())));
  }

  /** All tables, parents before children, then by name. */
  public List<Table> tables() {
    return tables;
  }

  /** The tables whose rows belong to owners of this kind, parents before children. */
  public List<Table> ownedBy(String kind) {
    return tables.stream().filter(t -> t.ownerKind().equals(kind)).toList();
  }

  /** Tables that are registered in gameq_table but cannot be managed, and why. */
  public Map<String, String> unmanaged() {
    return unmanaged;
  }

  /**
   * Reads the text of a row key.
   *
   * @throws GameQueueException when its table is not managed; see {@link #table}
   */
  public RowKey rowKey(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      throw new GameQueueException("row key without a table");
    }
    return new RowKey(table(Encoding.unpercent(text.substring(0, colon))), text);
  }

  /**
   * The owner of a row, by the table's owner kind and the row's owner column.
   *
   * @throws GameQueueException when the owner column is empty or makes no owner id
   */
  public OwnerId ownerOf(Table table, @Nullable Object[] row) {
    Object value = row[table.ownerIndex()];
    if (value == null) {
      throw new RowRefusedException(table.ownerColumn().label() + ": NULL names no owner");
    }
    return OwnerId.of(table.ownerKind() + ":" + value);
  }

  /**
   * The canonical value that the owner column has in this owner's rows.
   *
   * @throws GameQueueException when the owner is of another kind, or its key is not exactly what
   *     the column holds: "042" for 42 would be a second owner of the same rows
   */
  public Object ownerColumnValue(Table table, OwnerId owner) {
    Column column = table.ownerColumn();
    if (!owner.kind().equals(table.ownerKind())) {
      throw new GameQueueException(
          "owner %s has no rows in table %s, whose owners are of kind %s"
              .formatted(owner, table, table.ownerKind()));
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
}
