package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.Ids;
import io.gameq.mysql.tables.IdTable;
import io.gameq.rows.Column;
import io.gameq.rows.Table;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnType;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** The ids of a node, one {@link Ids} for each table. Thread-safe. */
final class NodeIds {
  private static final int MOST = 1_000_000;

  private final IdTable table;
  private final NodeCalls calls;
  private final ConcurrentHashMap<String, IdRanges> byTable = new ConcurrentHashMap<>();

  NodeIds(IdTable table, NodeCalls calls) {
    this.table = table;
    this.calls = calls;
  }

  /** As {@link io.gameq.GameQueue#ids(String, int)}. */
  Ids of(Table of, int range) {
    if (range < 1 || range > MOST) {
      throw new GameQueueException(
          "a range of %d ids of %s: use 1 to %,d".formatted(range, of.name(), MOST));
    }
    IdRanges ids =
        byTable.computeIfAbsent(of.name(), name -> new IdRanges(taking(of, range), range, calls));
    ids.prepare();
    return ids;
  }

  private LongSupplier taking(Table of, int range) {
    Column column = column(of);
    return () -> {
      long first = table.take(of.name(), column.name(), range);
      var unused = column.canonical(Math.addExact(first, range - 1)); // throws when it is full
      return first;
    };
  }

  /** The column that MySQL would number, else the only integer of the key that is not the owner. */
  private static Column column(Table of) {
    List<Column> numbered =
        of.columns().stream()
            .filter(column -> column.onAbsence() instanceof ColumnDefault.Numbered)
            .toList();
    List<Column> all =
        numbered.isEmpty()
            ? of.keyColumns().stream()
                .filter(column -> isInteger(column) && !column.equals(of.ownerColumn()))
                .toList()
            : numbered;
    if (all.size() != 1) {
      throw new GameQueueException(
          ("table %s has %s: ids are for a column with AUTO_INCREMENT, or for the only integer of"
                  + " the primary key beside the owner's column")
              .formatted(
                  of.name(), all.isEmpty() ? "no column for ids" : "several columns for ids"));
    }
    return all.get(0);
  }

  private static boolean isInteger(Column column) {
    ColumnType.Kind kind = column.type().kind();
    return kind == ColumnType.Kind.INTEGER || kind == ColumnType.Kind.UNSIGNED_LONG;
  }
}
