package io.gameq.mysql.flush;

import io.gameq.mysql.RowChange;
import io.gameq.rows.Table;
import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes rows of which some stand in the way of others: in the order of their foreign keys, again
 * as long as that helps, and at last those that refer to each other in a circle. Used by one
 * thread, in one transaction.
 */
final class DependentRows {
  private final RowBisection bisection;
  private final GuardedPuts puts;
  private final GuardedDeletes deletes;

  DependentRows(RowBisection bisection, GuardedPuts puts) {
    this.bisection = bisection;
    this.puts = puts;
    this.deletes = new GuardedDeletes(bisection);
  }

  /** Rows of which no two have the same key. */
  void write(List<RowChange> rows) throws SQLException {
    TablesInOrder sorted = new TablesInOrder(rows);
    writeAllButCascades(sorted);
    repeat();
    if (!sorted.cascades.isEmpty()) {
      deletes.deleteAll(deletes.withoutParentsOfRefused(sorted.cascades));
      repeat();
    }
  }

  /**
   * Puts and deletes again what another row of the flush stood in the way of, such as an item in a
   * bag of the same table: as long as that helps.
   */
  private void repeat() throws SQLException {
    while (true) {
      List<RowChange> rows = bisection.takeCurable();
      if (rows.isEmpty() || (again(rows) == rows.size() && !breakCycles())) {
        return;
      }
    }
  }

  /** Writes rows that had been refused; returns how many were refused again. */
  private int again(List<RowChange> rows) throws SQLException {
    int before = bisection.refused().size();
    TablesInOrder sorted = new TablesInOrder(rows);
    writeAllButCascades(sorted);
    deletes.deleteAll(deletes.withoutParentsOfRefused(sorted.cascades));
    return bisection.refused().size() - before;
  }

  private void writeAllButCascades(TablesInOrder sorted) throws SQLException {
    deletes.tombstones(sorted.deletes);
    deletes.tombstones(sorted.cascades);
    puts.putAll(sorted.puts);
    deletes.deleteAll(sorted.deletes);
  }

  /** Writes rows that refer to each other in a circle; false when there are none. */
  private boolean breakCycles() throws SQLException {
    List<RowRefusal> circle = ForeignKeyCycles.candidates(bisection.refused());
    while (!circle.isEmpty()) {
      Set<RowChange> stay = Collections.newSetFromMap(new IdentityHashMap<>());
      if (breakCycle(circle, stay)) {
        return true;
      }
      circle =
          stay.isEmpty()
              ? List.of()
              : ForeignKeyCycles.candidates(
                  circle.stream().filter(refusal -> !stay.contains(refusal.row())).toList());
    }
    return false;
  }

  /** Writes all or none of these, and tells which are refused even so. */
  private boolean breakCycle(List<RowRefusal> circle, Set<RowChange> stay) throws SQLException {
    return bisection.allOrNone(
        () -> {
          bisection.refused().removeAll(circle);
          List<RowRefusal> others = List.copyOf(bisection.refused());
          List<RowChange> left = circle.stream().map(RowRefusal::row).toList();
          for (Map.Entry<Table, List<RowChange>> of :
              new TablesInOrder(ForeignKeyCycles.withoutReferences(left)).puts.entrySet()) {
            puts.upsert(of.getKey(), of.getValue());
          }
          ForeignKeyCycles.detach(bisection.connection(), left);
          int tried;
          do {
            tried = left.size();
            bisection.refused().clear(); // at first of what was refused without its references
            bisection
                .refused()
                .addAll(others); // a delete must not take along what these are rows of
            again(left);
            left = bisection.refused().stream().skip(others.size()).map(RowRefusal::row).toList();
          } while (!left.isEmpty() && left.size() < tried);
          stay.addAll(left);
          return left.isEmpty();
        });
  }
}
