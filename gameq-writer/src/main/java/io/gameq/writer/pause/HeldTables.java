package io.gameq.writer.pause;

import io.gameq.rows.Catalog;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * Which rows stay in Redis while tables are paused: those of the tables, those of tables that refer
 * to them, whose parents may be among the former, and deletes in tables that they refer to, whose
 * children may be. Immutable.
 *
 * @param waiting tables of which all rows wait
 * @param keeping tables of which deletes wait
 */
public record HeldTables(Set<String> waiting, Set<String> keeping) {
  private static final HeldTables NONE = new HeldTables(Set.of(), Set.of());

  public HeldTables {
    waiting = Set.copyOf(waiting);
    keeping = Set.copyOf(keeping);
  }

  /** By the foreign keys of a catalogue, however many steps they take. */
  public static HeldTables of(Collection<String> paused, Catalog catalog) {
    if (paused.isEmpty()) {
      return NONE;
    }
    Set<String> waiting = new HashSet<>(paused);
    Set<String> keeping = new HashSet<>(paused);
    boolean more = true;
    while (more) { // foreign keys may go round in circles
      more = false;
      for (Table table : catalog.tables()) {
        Set<String> parents = table.foreignKeys().parents();
        if (parents.stream().anyMatch(waiting::contains)) {
          more |= waiting.add(table.name());
        }
        if (keeping.contains(table.name())) {
          more |= keeping.addAll(parents);
        }
      }
    }
    return new HeldTables(waiting, keeping);
  }

  /** Whether such a row of a table waits. */
  public boolean holds(String table, RowOp op) {
    return waiting.contains(table) || (op == RowOp.DELETE && keeping.contains(table));
  }

  /** Whether no row waits. */
  public boolean isEmpty() {
    return waiting.isEmpty();
  }
}
