package io.gameq.mysql.flush;

import io.gameq.mysql.ErrorKind.RowChange;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.Sql;
import io.gameq.mysql.flush.DependentRows.TablesInOrder;
import io.gameq.mysql.tables.TombstoneTable;
import io.gameq.rows.HandledRow.RowKey;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Deletes rows unless MySQL holds newer versions, each after its tombstone. Used by one thread, in
 * one transaction.
 */
final class GuardedDeletes {
  private static final int MOST_DELETES_PER_STATEMENT = 64;

  private static final int CHILD_EXISTS = 1451;

  private static final int NO_LIMIT = 0;

  private final RowBisection bisection;
  private final Connection connection;

  GuardedDeletes(RowBisection bisection) {
    this.bisection = bisection;
    this.connection = bisection.connection();
  }

  void tombstones(Map<Table, List<RowChange>> deletes) throws SQLException {
    for (List<RowChange> rows : deletes.values()) {
      TombstoneTable.write(connection, rows);
    }
  }

  /**
   * Refuses deletes that would take along a child whose put was refused: it was to be moved away.
   */
  Map<Table, List<RowChange>> withoutParentsOfRefused(Map<Table, List<RowChange>> cascades)
      throws SQLException {
    Set<String> parents = new HashSet<>();
    bisection
        .refused()
        .forEach(refusal -> parents.addAll(refusal.row().key().table().foreignKeys().parents()));
    Map<Table, List<RowChange>> rest = new TreeMap<>(TablesInOrder.BY_RANK.reversed());
    for (Map.Entry<Table, List<RowChange>> of : cascades.entrySet()) {
      if (parents.contains(of.getKey().name())) {
        for (RowChange row : of.getValue()) {
          bisection.refused().add(new RowRefusal(row, wouldCascade()));
          TombstoneTable.remove(connection, row);
        }
      } else {
        rest.put(of.getKey(), of.getValue());
      }
    }
    return rest;
  }

  void deleteAll(Map<Table, List<RowChange>> deletes) throws SQLException {
    for (Map.Entry<Table, List<RowChange>> of : deletes.entrySet()) {
      deleteAll(of.getKey(), of.getValue());
    }
  }

  /** A row whose delete is refused stays, and so it must not have a tombstone. */
  private void deleteAll(Table table, List<RowChange> rows) throws SQLException {
    Map<RowKey, Long> upTo =
        rows.stream()
            .collect(Collectors.toMap(RowChange::key, row -> row.image().version(), Math::max));
    rows.sort(Comparator.comparing(row -> row.key().text()));
    int refusedBefore = bisection.refused().size();
    for (List<RowChange> chunk : Sql.chunks(rows, MOST_DELETES_PER_STATEMENT)) {
      bisection.execute(
          table,
          chunk,
          some ->
              delete(
                  connection,
                  table,
                  some.stream().map(RowChange::key).toList(),
                  upTo,
                  bisection.limits().secondsFor(some.size())));
    }
    for (RowRefusal refusal :
        bisection.refused().subList(refusedBefore, bisection.refused().size())) {
      TombstoneTable.remove(connection, refusal.row());
    }
  }

  /** Deletes those that are there up to these versions, though they were just put. */
  static void takeOut(Connection connection, Table table, Map<RowKey, Long> deleted)
      throws SQLException {
    List<RowKey> keys =
        deleted.keySet().stream().sorted(Comparator.comparing(RowKey::text)).toList();
    for (List<RowKey> some : Sql.chunks(keys, MOST_DELETES_PER_STATEMENT)) {
      delete(connection, table, some, deleted, NO_LIMIT); // they are few, and not searched for
    }
  }

  private static SQLException wouldCascade() {
    return new SQLIntegrityConstraintViolationException(
        "not deleted: the delete would cascade to a table of which a row was refused in the same"
            + " flush",
        "23000",
        CHILD_EXISTS);
  }

  /** Deletes each row unless its version is newer than the one given. */
  private static void delete(
      Connection connection,
      Table table,
      List<RowKey> keys,
      Map<RowKey, Long> upTo,
      int mostSeconds)
      throws SQLException {
    String row = Sql.keyEquals(table) + " AND " + JdbcValues.quoted(Table.VERSION_COLUMN) + " <= ?";
    String sql =
        "DELETE FROM " + JdbcValues.quoted(table.name()) + " WHERE " + Sql.anyOf(row, keys.size());
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setQueryTimeout(mostSeconds);
      int at = 1;
      for (RowKey key : keys) {
        at = Sql.bindKey(statement, at, table, key.parts());
        statement.setLong(at++, upTo.getOrDefault(key, 0L));
      }
      statement.executeUpdate();
    }
  }
}
