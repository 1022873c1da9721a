package io.gameq.mysql;

import io.gameq.catalog.Column;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.RowOp;
import io.gameq.catalog.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes rows so that an older version never replaces a newer one and a deleted row never comes
 * back, whatever the order, however often. Within the caller's transaction at READ COMMITTED;
 * thread-safe.
 *
 * <p>Tombstones are written before rows are deleted, and read, with a lock, after rows are put: of
 * a put and a delete of the same row in two transactions, the later one to commit sees the other.
 */
public final class GuardedWrites {
  /**
   * Multi-row statements have these sizes, so that few are prepared: 5,000 rows a statement gain
   * nothing over 1,000.
   */
  private static final int MOST_ROWS_PER_STATEMENT = 512;

  /** Above 65,535 placeholders the driver silently stops preparing on the server. */
  private static final int MOST_PLACEHOLDERS = 60_000;

  /** Far below max_allowed_packet, which is 64 MiB by default in MySQL 8 and 16 MiB in MariaDB. */
  private static final int MOST_BYTES_PER_STATEMENT = 4 << 20;

  private static final int MOST_DELETES_PER_STATEMENT = 64;

  private final Dialect dialect;
  private final Map<StatementKey, String> upserts = new ConcurrentHashMap<>();

  private record StatementKey(String table, long fingerprint, boolean otherUniqueKeys, int rows) {}

  /**
   * In which order puts and deletes go; the second cures a put that needs a unique value which a
   * delete gives up.
   */
  public enum Order {
    PUTS_FIRST,
    DELETES_FIRST
  }

  public GuardedWrites(Dialect dialect) {
    this.dialect = dialect;
  }

  /**
   * Writes the newest image of each row: puts with parents before children, deletes with children
   * before parents.
   *
   * @throws SQLException when MySQL refuses; the transaction must be rolled back
   */
  public void write(Connection connection, Collection<RowChange> changes, Order order)
      throws SQLException {
    Map<RowKey, RowChange> newest = new LinkedHashMap<>();
    changes.forEach(
        change ->
            newest.merge(
                change.key(), change, (a, b) -> b.image().version() > a.image().version() ? b : a));
    Map<Table, List<RowChange>> puts = new TreeMap<>(BY_RANK);
    Map<Table, List<RowChange>> deletes = new TreeMap<>(BY_RANK.reversed());
    for (RowChange change : newest.values()) {
      (change.image().op() == RowOp.DELETE ? deletes : puts)
          .computeIfAbsent(change.key().table(), t -> new ArrayList<>())
          .add(change);
    }
    for (List<RowChange> rows : deletes.values()) {
      writeTombstones(connection, rows);
    }
    if (order == Order.DELETES_FIRST) {
      deleteAll(connection, deletes);
    }
    for (Map.Entry<Table, List<RowChange>> of : puts.entrySet()) {
      put(connection, of.getKey(), of.getValue());
    }
    if (order == Order.PUTS_FIRST) {
      deleteAll(connection, deletes);
    }
  }

  private static final Comparator<Table> BY_RANK =
      Comparator.comparingInt(Table::foreignKeyRank).thenComparing(Table::name);

  // --- puts

  /**
   * Puts rows, takes out those that had been deleted, and makes sure of the rest. With other UNIQUE
   * keys an upsert may have met another row and changed nothing: such rows are put again as long as
   * that helps, since the other row may have given the value up in the same flush. What is left
   * then is refused, not forgotten.
   */
  private void put(Connection connection, Table table, List<RowChange> rows) throws SQLException {
    List<RowChange> next = rows;
    while (true) {
      upsert(connection, table, new ArrayList<>(next));
      List<RowKey> hidden = takeOutDeleted(connection, table, rows);
      if (!table.hasOtherUniqueKeys()) {
        return;
      }
      List<RowChange> blocked =
          unwritten(
              connection, table, rows.stream().filter(row -> !hidden.contains(row.key())).toList());
      if (blocked.isEmpty()) {
        return;
      }
      if (blocked.size() == next.size()) {
        throw new SQLIntegrityConstraintViolationException(
            "Duplicate entry: another row has a unique value of " + blocked.get(0).key(),
            "23000",
            1062);
      }
      next = blocked;
    }
  }

  private void upsert(Connection connection, Table table, List<RowChange> rows)
      throws SQLException {
    rows.sort(KeyOrder.BY_KEY);
    int most =
        Math.max(
            1, Math.min(MOST_ROWS_PER_STATEMENT, MOST_PLACEHOLDERS / (table.columns().size() + 1)));
    for (int from = 0; from < rows.size(); ) {
      int size = Integer.highestOneBit(Math.min(most, rows.size() - from));
      while (size > 1 && bytes(rows.subList(from, from + size)) > MOST_BYTES_PER_STATEMENT) {
        size /= 2;
      }
      upsertChunk(connection, table, rows.subList(from, from + size));
      from += size;
    }
  }

  private static long bytes(List<RowChange> rows) {
    long sum = 0;
    for (RowChange row : rows) {
      for (Object value : row.image().values()) {
        sum +=
            value instanceof byte[] b ? b.length : value instanceof String s ? 3L * s.length() : 9;
      }
    }
    return sum;
  }

  private void upsertChunk(Connection connection, Table table, List<RowChange> rows)
      throws SQLException {
    String sql =
        upserts.computeIfAbsent(
            new StatementKey(
                table.name(), table.fingerprint(), table.hasOtherUniqueKeys(), rows.size()),
            key -> upsertSql(table, key.rows()));
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      List<Column> columns = table.columns();
      int at = 1;
      for (RowChange row : rows) {
        @Nullable Object[] values = row.image().values();
        for (int i = 0; i < values.length; i++) {
          JdbcValues.bind(statement, at++, columns.get(i), values[i]);
        }
        statement.setLong(at++, row.image().version());
      }
      statement.executeUpdate();
    }
  }

  /** gq_version is assigned last: assignments run in order, and the others compare with it. */
  private String upsertSql(Table table, int rows) {
    String name = JdbcValues.quoted(table.name());
    String version = JdbcValues.quoted(Table.VERSION_COLUMN);
    String columns =
        table.columns().stream()
            .map(c -> JdbcValues.quoted(c.name()))
            .collect(Collectors.joining(", "));
    String row =
        table.columns().stream()
            .map(JdbcValues::placeholder)
            .collect(Collectors.joining(", ", "(", ", ?)"));
    String newer = dialect.newValue(version) + " > " + name + "." + version;
    if (table.hasOtherUniqueKeys()) { // the duplicate may be another row, which must not change
      newer =
          newer
              + table.keyColumns().stream()
                  .map(
                      c ->
                          " AND "
                              + dialect.newValue(JdbcValues.quoted(c.name()))
                              + " = "
                              + name
                              + "."
                              + JdbcValues.quoted(c.name()))
                  .collect(Collectors.joining());
    }
    StringBuilder sql =
        new StringBuilder(
            "INSERT INTO %s (%s, %s) VALUES %s%s ON DUPLICATE KEY UPDATE "
                .formatted(
                    name, columns, version, (row + ",").repeat(rows - 1) + row, dialect.alias));
    for (Column column : table.columns()) {
      if (!table.keyColumns().contains(column)) {
        sql.append(assignment(name, JdbcValues.quoted(column.name()), newer)).append(", ");
      }
    }
    return sql.append(assignment(name, version, newer)).toString();
  }

  private String assignment(String table, String column, String newer) {
    return column
        + " = IF("
        + newer
        + ", "
        + dialect.newValue(column)
        + ", "
        + table
        + "."
        + column
        + ")";
  }

  /** Removes what was just put but had been deleted in a newer version; returns those keys. */
  private static List<RowKey> takeOutDeleted(
      Connection connection, Table table, List<RowChange> rows) throws SQLException {
    Map<RowKey, Long> tombstones =
        OwnerReader.tombstones(connection, table, rows.stream().map(RowChange::key).toList(), true);
    Map<RowKey, Long> deleted = new HashMap<>();
    for (RowChange row : rows) {
      Long tombstone = tombstones.get(row.key());
      if (tombstone != null && tombstone >= row.image().version()) {
        deleted.put(row.key(), tombstone);
      }
    }
    delete(connection, table, deleted);
    return List.copyOf(deleted.keySet());
  }

  private static List<RowChange> unwritten(Connection connection, Table table, List<RowChange> rows)
      throws SQLException {
    Map<RowKey, Long> versions =
        OwnerReader.rowVersions(connection, table, rows.stream().map(RowChange::key).toList());
    return rows.stream()
        .filter(row -> versions.getOrDefault(row.key(), -1L) < row.image().version())
        .toList();
  }

  // --- deletes

  private static void writeTombstones(Connection connection, List<RowChange> rows)
      throws SQLException {
    rows.sort(Comparator.comparing(row -> row.key().keyText()));
    for (List<RowChange> some : Sql.chunks(rows, MOST_ROWS_PER_STATEMENT)) {
      String row = "(?, ?, ?, ?, UTC_TIMESTAMP(3))";
      String sql =
          "INSERT INTO gameq_tombstone (table_name, row_key, owner, version, deleted_at) VALUES "
              + (row + ",").repeat(some.size() - 1)
              + row
              + " ON DUPLICATE KEY UPDATE owner = IF(VALUES(version) > version, VALUES(owner), owner),"
              + " deleted_at = IF(VALUES(version) > version, VALUES(deleted_at), deleted_at), version = GREATEST(version, VALUES(version))";
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        int at = 1;
        for (RowChange change : some) {
          statement.setString(at++, change.key().table().name());
          statement.setString(at++, change.key().keyText());
          statement.setString(at++, change.owner().encoded());
          statement.setLong(at++, change.image().version());
        }
        statement.executeUpdate();
      }
    }
  }

  private static void deleteAll(Connection connection, Map<Table, List<RowChange>> deletes)
      throws SQLException {
    for (Map.Entry<Table, List<RowChange>> of : deletes.entrySet()) {
      delete(
          connection,
          of.getKey(),
          of.getValue().stream()
              .collect(Collectors.toMap(RowChange::key, change -> change.image().version())));
    }
  }

  /** Deletes each row unless its version is newer than the one given. */
  private static void delete(Connection connection, Table table, Map<RowKey, Long> upTo)
      throws SQLException {
    List<RowKey> keys = upTo.keySet().stream().sorted(Comparator.comparing(RowKey::text)).toList();
    String row =
        "(" + Sql.keyEquals(table) + " AND " + JdbcValues.quoted(Table.VERSION_COLUMN) + " <= ?)";
    for (List<RowKey> some : Sql.chunks(keys, MOST_DELETES_PER_STATEMENT)) {
      String sql =
          "DELETE FROM "
              + JdbcValues.quoted(table.name())
              + " WHERE "
              + (row + " OR ").repeat(some.size() - 1)
              + row;
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        int at = 1;
        for (RowKey key : some) {
          at = Sql.bindKey(statement, at, table, key.parts());
          statement.setLong(at++, upTo.getOrDefault(key, 0L));
        }
        statement.executeUpdate();
      }
    }
  }
}
