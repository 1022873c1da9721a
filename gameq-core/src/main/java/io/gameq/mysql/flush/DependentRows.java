package io.gameq.mysql.flush;

import io.gameq.mysql.ErrorKind.RowChange;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.Sql;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Reference;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

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

  /** Rows by table, parents first where they are put, and last where they are deleted. */
  static final class TablesInOrder {
    /** By its columns as well: rows may have been decoded before and after a table was altered. */
    static final Comparator<Table> BY_RANK =
        Comparator.comparingInt((Table table) -> table.foreignKeys().rank())
            .thenComparing(Table::name)
            .thenComparingLong(Table::fingerprint);

    final Map<Table, List<RowChange>> puts = new TreeMap<>(BY_RANK);
    final Map<Table, List<RowChange>> deletes = new TreeMap<>(BY_RANK.reversed());

    /** Deletes that take rows of other tables along. */
    final Map<Table, List<RowChange>> cascades = new TreeMap<>(BY_RANK.reversed());

    TablesInOrder(List<RowChange> rows) {
      for (RowChange row : rows) {
        Map<Table, List<RowChange>> to =
            row.image().op() != RowOp.DELETE
                ? puts
                : row.key().table().foreignKeys().cascades() ? cascades : deletes;
        to.computeIfAbsent(row.key().table(), table -> new ArrayList<>()).add(row);
      }
    }
  }

  /**
   * Rows of one flush that refer to each other in a circle, as a new guild to its leader and he to
   * his guild: neither can be written first, nor deleted first. Their references are NULL for a
   * moment, within the transaction that writes them. Stateless.
   */
  static final class ForeignKeyCycles {
    /** Foreign keys: parent missing, child there; the old numbers of both. */
    private static final Set<Integer> ERRORS = Set.of(1452, 1451, 1216, 1217);

    private ForeignKeyCycles() {}

    /** Those that may wait for one of the others, and can do without it for a moment. */
    static List<RowRefusal> candidates(List<RowRefusal> refused) {
      List<RowRefusal> waiting =
          refused.stream()
              .filter(refusal -> ERRORS.contains(refusal.error().getErrorCode()))
              .filter(refusal -> refusal.row().image().handovers().isEmpty())
              .toList();
      Set<String> tables = tables(waiting.stream().map(RowRefusal::row).toList());
      boolean some =
          waiting.stream()
              .anyMatch(refusal -> !optional(refusal.row().key().table(), tables).isEmpty());
      return some ? waiting : List.of();
    }

    /** The columns of a table that refer to one of these tables, and may be NULL. */
    private static List<String> optional(Table table, Set<String> tables) {
      List<String> columns = new ArrayList<>();
      for (Reference reference : table.foreignKeys().references()) {
        String column = reference.optional();
        if (column != null && tables.contains(reference.parent()) && table.has(column)) {
          columns.add(column);
        }
      }
      return columns;
    }

    /** The puts among these as they are written first: without what they refer to. */
    static List<RowChange> withoutReferences(List<RowChange> rows) {
      Set<String> tables = tables(rows);
      List<RowChange> first = new ArrayList<>();
      for (RowChange row : rows) {
        RowImage image = row.image();
        BitSet nulls = new BitSet();
        if (image.op() != RowOp.DELETE) {
          for (String column : optional(row.key().table(), tables)) {
            int index = row.key().table().indexOf(column);
            nulls.set(index, image.names(index) && image.values()[index] != null);
          }
        }
        if (!nulls.isEmpty()) {
          first.add(new RowChange(row.owner(), row.key(), image.withNull(nulls), row.encoded()));
        }
      }
      return first;
    }

    /** Takes from rows that are to be deleted what they refer to. */
    static void detach(Connection connection, List<RowChange> rows) throws SQLException {
      Set<String> tables = tables(rows);
      for (RowChange row : rows) {
        Table table = row.key().table();
        List<String> columns =
            row.image().op() == RowOp.DELETE ? optional(table, tables) : List.of();
        if (columns.isEmpty()) {
          continue;
        }
        String sql =
            "UPDATE %s SET %s WHERE %s AND %s <= ?"
                .formatted(
                    JdbcValues.quoted(table.name()),
                    columns.stream()
                        .map(column -> JdbcValues.quoted(column) + " = NULL")
                        .collect(Collectors.joining(", ")),
                    Sql.keyEquals(table),
                    JdbcValues.quoted(Table.VERSION_COLUMN));
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
          int at = Sql.bindKey(statement, 1, table, row.key().parts());
          statement.setLong(at, row.image().version());
          statement.executeUpdate();
        }
      }
    }

    private static Set<String> tables(List<RowChange> rows) {
      return rows.stream().map(row -> row.key().table().name()).collect(Collectors.toSet());
    }
  }
}
