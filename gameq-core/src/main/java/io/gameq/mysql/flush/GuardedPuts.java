package io.gameq.mysql.flush;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.TombstoneTable;
import io.gameq.rows.RowKey;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Puts rows unless MySQL holds newer versions or newer deletes of them, and takes unique values
 * that they exchange off them for a moment. Used by one thread, in one transaction.
 */
final class GuardedPuts {
  /** Above 65,535 placeholders the driver silently stops preparing on the server. */
  private static final int MOST_PLACEHOLDERS = 60_000;

  static final int DUPLICATE = 1062;

  private final RowBisection bisection;
  private final RowOwnership custody;
  private final UpsertSql upserts;
  private final int mostBytesPerStatement;
  private final Connection connection;

  GuardedPuts(
      RowBisection bisection, RowOwnership custody, UpsertSql upserts, int mostBytesPerStatement) {
    this.bisection = bisection;
    this.custody = custody;
    this.upserts = upserts;
    this.mostBytesPerStatement = mostBytesPerStatement;
    this.connection = bisection.connection();
  }

  void putAll(Map<Table, List<RowChange>> puts) throws SQLException {
    for (Map.Entry<Table, List<RowChange>> of : puts.entrySet()) {
      put(of.getKey(), of.getValue());
    }
  }

  /**
   * Puts rows, takes out those that had been deleted, and makes sure of the rest. With other UNIQUE
   * keys a row may have been refused, or an upsert may have met another row and changed nothing:
   * such rows are put again as long as that helps, since the other row may have given the value up
   * in the same flush. What is left then is refused, not forgotten.
   */
  void put(Table table, List<RowChange> rows) throws SQLException {
    List<RowChange> next =
        table.foreignKeys().parents().contains(table.name()) ? notDeleted(table, rows) : rows;
    while (true) {
      int refusedBefore = bisection.refused().size();
      upsert(table, new ArrayList<>(next));
      Set<RowKey> hidden = takeOutDeleted(table, bisection.notRefused(rows));
      if (!table.hasOtherUniqueKeys()) {
        return;
      }
      List<RowRefusal> blocked = bisection.takeDuplicates(refusedBefore);
      List<RowChange> others = bisection.notRefused(rows);
      others = others.stream().filter(row -> !hidden.contains(row.key())).toList();
      Set<RowKey> duplicates = blocked.stream().map(r -> r.row().key()).collect(Collectors.toSet());
      unwritten(table, others).stream()
          .filter(row -> !duplicates.contains(row.key()))
          .forEach(row -> blocked.add(new RowRefusal(row, duplicate(row))));
      if (blocked.isEmpty()) {
        return;
      }
      if (blocked.size() == next.size() && !exchange(table, blocked)) {
        bisection.refused().addAll(blocked);
        return;
      }
      next = blocked.stream().map(RowRefusal::row).toList();
    }
  }

  /**
   * Writes those of the rows that hold each other's unique values, and takes them out of the list;
   * false when there are none, or one of them would be refused even so.
   */
  private boolean exchange(Table table, List<RowRefusal> blocked) throws SQLException {
    List<RowChange> written = new ArrayList<>();
    boolean all =
        bisection.allOrNone(
            () -> {
              int refusedBefore = bisection.refused().size();
              written.addAll(
                  new ExchangedValues(connection, table)
                      .takeOff(blocked.stream().map(RowRefusal::row).toList()));
              upsert(table, new ArrayList<>(written));
              return !written.isEmpty()
                  && bisection.refused().size() == refusedBefore
                  && unwritten(table, written).isEmpty();
            });
    if (all) {
      Set<RowKey> unused = takeOutDeleted(table, written);
      Set<RowKey> keys = written.stream().map(RowChange::key).collect(Collectors.toSet());
      blocked.removeIf(refusal -> keys.contains(refusal.row().key()));
    }
    return all;
  }

  /** One statement is for rows that name the same columns, which is nearly always all. */
  void upsert(Table table, List<RowChange> rows) throws SQLException {
    ZeroKeys.requireKept(connection, table, rows);
    List<RowChange> handedOver = new ArrayList<>();
    rows.removeIf(row -> custody.isHandedOver(row) && handedOver.add(row));
    upsert(table, handedOver, true);
    upsert(table, rows, false);
  }

  private void upsert(Table table, List<RowChange> rows, boolean handsOver) throws SQLException {
    if (rows.stream().allMatch(row -> row.image().named() == null)) {
      upsertAlike(table, rows, handsOver);
      return;
    }
    Map<Optional<BitSet>, List<RowChange>> alike = new LinkedHashMap<>();
    rows.forEach(
        row ->
            alike
                .computeIfAbsent(Optional.ofNullable(row.image().named()), n -> new ArrayList<>())
                .add(row));
    for (List<RowChange> some : alike.values()) {
      upsertAlike(table, some, handsOver);
    }
  }

  private void upsertAlike(Table table, List<RowChange> rows, boolean handsOver)
      throws SQLException {
    rows.sort(KeyOrder.of(table));
    int most =
        Math.max(
            1,
            Math.min(bisection.limits().rows(), MOST_PLACEHOLDERS / (table.columns().size() + 1)));
    int mostBytes = Math.min(bisection.limits().bytes(), mostBytesPerStatement);
    for (int from = 0; from < rows.size(); ) {
      int size = Integer.highestOneBit(Math.min(most, rows.size() - from));
      while (size > 1 && bytes(rows.subList(from, from + size)) > mostBytes) {
        size /= 2;
      }
      bisection.execute(
          table,
          rows.subList(from, from + size),
          some ->
              upserts.execute(
                  connection, table, some, handsOver, bisection.limits().secondsFor(some.size())));
      from += size;
    }
  }

  /** Removes what was just put but had been deleted in a newer version; returns those keys. */
  private Set<RowKey> takeOutDeleted(Table table, List<RowChange> rows) throws SQLException {
    if (TombstoneTable.hasNone(connection, table)) { // as of tables that only grow
      return Set.of();
    }
    Map<RowKey, Long> tombstones =
        TombstoneTable.read(connection, table, rows.stream().map(RowChange::key).toList(), true);
    Map<RowKey, Long> deleted = new HashMap<>();
    for (RowChange row : rows) {
      Long tombstone = tombstones.get(row.key());
      if (tombstone != null && tombstone >= row.image().version()) {
        deleted.put(row.key(), tombstone);
      }
    }
    GuardedDeletes.takeOut(connection, table, deleted);
    return deleted.keySet();
  }

  /**
   * Without what had been deleted in a newer version. What is put and taken out again must not
   * refer to each other.
   */
  private List<RowChange> notDeleted(Table table, List<RowChange> rows) throws SQLException {
    if (TombstoneTable.hasNone(connection, table)) {
      return rows;
    }
    Map<RowKey, Long> tombstones =
        TombstoneTable.read(connection, table, rows.stream().map(RowChange::key).toList(), false);
    return rows.stream()
        .filter(row -> tombstones.getOrDefault(row.key(), -1L) < row.image().version())
        .toList();
  }

  private List<RowChange> unwritten(Table table, List<RowChange> rows) throws SQLException {
    Map<RowKey, Long> versions =
        OwnerReader.rowVersions(connection, table, rows.stream().map(RowChange::key).toList());
    return rows.stream()
        .filter(row -> versions.getOrDefault(row.key(), -1L) < row.image().version())
        .toList();
  }

  private static long bytes(List<RowChange> rows) {
    long bytes = 0;
    for (RowChange row : rows) {
      bytes += row.encoded().length;
    }
    return bytes;
  }

  private static SQLException duplicate(RowChange row) {
    return new SQLIntegrityConstraintViolationException(
        "Duplicate entry: another row has a unique value of " + row.key(), "23000", DUPLICATE);
  }
}
