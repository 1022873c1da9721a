package io.gameq.mysql.flush;

import io.gameq.mysql.RowChange;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Rows by table, parents first where they are put, and last where they are deleted. */
final class TablesInOrder {
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
