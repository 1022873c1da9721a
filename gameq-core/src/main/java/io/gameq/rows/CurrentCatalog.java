package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table.SimilarNames;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The catalogue as it was read last, read again where a row does not fit it. Thread-safe; one
 * thread reads at a time, and those that wait for it take what it read.
 */
public final class CurrentCatalog {
  private final Supplier<Catalog> reader;
  private volatile Read last;

  private record Read(Catalog catalog, long beganNanos) {}

  /**
   * Begins with a catalogue.
   *
   * @param reader reads it again; throws {@link io.gameq.MySqlException} when MySQL does not answer
   */
  public CurrentCatalog(Catalog first, Supplier<Catalog> reader) {
    this.reader = reader;
    this.last = new Read(first, System.nanoTime());
  }

  /** What was read last. */
  public Catalog get() {
    return last.catalog;
  }

  /**
   * A catalogue that was read after a moment, and so fits what was written before it.
   *
   * @param nanos of {@link System#nanoTime}
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public Catalog readAfter(long nanos) {
    synchronized (reader) {
      if (last.beganNanos - nanos < 0) {
        long began = System.nanoTime();
        last = new Read(reader.get(), began);
      }
      return last.catalog;
    }
  }

  /** When the last reading began, of {@link System#nanoTime}. */
  public long lastReadNanos() {
    return last.beganNanos;
  }

  /** All managed tables of a database; immutable, read again after ALTER TABLE. */
  public static final class Catalog {
    private final Map<String, Table> byName;
    private final List<Table> tables;
    private final Map<String, String> unmanaged;
    private final boolean foldsNames;

    /**
     * A catalogue.
     *
     * @param unmanaged tables that are registered but cannot be managed, and why
     * @param foldsNames whether the server takes names in capitals and in small letters for the
     *     same
     */
    public Catalog(List<Table> tables, Map<String, String> unmanaged, boolean foldsNames) {
      this.foldsNames = foldsNames;
      this.byName = foldsNames ? new TreeMap<>(String.CASE_INSENSITIVE_ORDER) : new TreeMap<>();
      for (Table table : tables) {
        byName.put(table.name(), table);
      }
      this.tables =
          tables.stream()
              .sorted(
                  Comparator.comparingInt((Table table) -> table.foreignKeys().rank())
                      .thenComparing(Table::name))
              .toList();
      this.unmanaged = Map.copyOf(unmanaged);
    }

    /**
     * This catalogue.
     *
     * @throws GameQueueException naming the registered tables that cannot be managed, and why
     */
    public Catalog requireManaged() {
      if (unmanaged.isEmpty()) {
        return this;
      }
      throw new GameQueueException(
          "%s cannot be managed: %s (who needs it no more removes it from gameq_table)"
              .formatted(
                  unmanaged.size() == 1 ? "a table" : unmanaged.size() + " tables",
                  new TreeMap<>(unmanaged)
                      .entrySet().stream()
                          .map(of -> of.getKey() + ": " + of.getValue())
                          .collect(Collectors.joining("; "))));
    }

    /**
     * The table of this name.
     *
     * @throws GameQueueException when it is not managed; the message says why, or which ones are
     */
    public Table table(String name) {
      Table table = name.equals(HandledRow.TABLE_NAME) ? HandledRow.TABLE : byName.get(name);
      if (table != null) {
        return table;
      }
      String reason = unmanaged.get(name);
      if (reason != null) {
        throw new GameQueueException("table %s cannot be managed: %s".formatted(name, reason));
      }
      throw new GameQueueException(
          "table %s is not managed by gameq%s"
              .formatted(name, SimilarNames.hint(name, byName.keySet())));
    }

    /** Whether there is a managed table of this name, or it is that of {@link HandledRow}. */
    public boolean manages(String name) {
      return byName.containsKey(name) || name.equals(HandledRow.TABLE_NAME);
    }

    /** All tables of the game, parents before children, then by name. */
    public List<Table> tables() {
      return tables;
    }

    /** The tables whose rows belong to owners of this kind, parents before children. */
    public List<Table> ownedBy(String kind) {
      return tables.stream().filter(t -> t.ownerKind().equals(kind)).toList();
    }

    /**
     * The tables of an owner's rows, parents before children.
     *
     * @throws GameQueueException when there are none, or its key is not exactly what they hold
     */
    public List<Table> tablesOf(OwnerId owner) {
      List<Table> its = ownedBy(owner.kind());
      if (its.isEmpty()) {
        Set<String> kinds = new TreeSet<>();
        tables.forEach(table -> kinds.add(table.ownerKind()));
        throw new GameQueueException(
            "no managed table has owners of kind '" + owner.kind() + "'; known kinds: " + kinds);
      }
      its.forEach(table -> table.ownerColumnValue(owner));
      return its;
    }

    /** Whether the server takes names of tables in capitals and in small letters for the same. */
    boolean foldsNames() {
      return foldsNames;
    }

    /** Tables that are registered in gameq_table but cannot be managed, and why. */
    public Map<String, String> unmanaged() {
      return unmanaged;
    }

    /**
     * Reads the text of a row key.
     *
     * @throws GameQueueException when it names no table, or one that is not managed; see {@link
     *     #table}
     */
    public RowKey rowKey(String text) {
      return new RowKey(table(RowKey.tableName(text)), text);
    }
  }
}
