package io.gameq.mysql.flush;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.JdbcValues.SpareValues;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.TombstoneTable;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.Table.UniqueKey;
import io.gameq.rows.types.ColumnDefault;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Puts rows unless MySQL holds newer versions or newer deletes of them, and takes unique values
 * that they exchange off them for a moment. Used by one thread, in one transaction.
 */
final class GuardedPuts {
  /** Above 65,535 placeholders the driver silently stops preparing on the server. */
  private static final int MOST_PLACEHOLDERS = 60_000;

  static final int MOST_DELETES_PER_STATEMENT = 64;

  private static final int NO_LIMIT = 0;

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
    this.connection = bisection.connection;
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
      int refusedBefore = bisection.refused.size();
      upsert(table, next);
      Set<RowKey> hidden = takeOutDeleted(table, bisection.notRefused(rows));
      if (!table.hasOtherUniqueKeys()) {
        return;
      }
      List<RowRefusal> blocked = bisection.takeDuplicates(refusedBefore);
      List<RowChange> others = bisection.notRefused(rows);
      others = others.stream().filter(row -> !hidden.contains(row.key())).toList();
      Set<RowKey> duplicates = blocked.stream().map(r -> r.row().key()).collect(Collectors.toSet());
      unwritten(others).stream()
          .filter(row -> !duplicates.contains(row.key()))
          .forEach(row -> blocked.add(new RowRefusal(row, duplicate(row))));
      if (blocked.isEmpty()) {
        return;
      }
      if (blocked.size() == next.size() && !exchange(table, blocked)) {
        bisection.refused.addAll(blocked);
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
              int refusedBefore = bisection.refused.size();
              written.addAll(
                  new ExchangedValues(connection, table)
                      .takeOff(blocked.stream().map(RowRefusal::row).toList()));
              upsert(table, written);
              return !written.isEmpty()
                  && bisection.refused.size() == refusedBefore
                  && unwritten(written).isEmpty();
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
    requireZeroKept(table, rows);
    Map<Boolean, List<RowChange>> byHandover =
        rows.stream().collect(Collectors.partitioningBy(custody::isHandedOver));
    for (boolean handsOver : List.of(true, false)) {
      Map<Optional<BitSet>, List<RowChange>> alike = new LinkedHashMap<>();
      for (RowChange row : Objects.requireNonNull(byHandover.get(handsOver))) {
        alike
            .computeIfAbsent(Optional.ofNullable(row.image().named()), n -> new ArrayList<>())
            .add(row);
      }
      for (List<RowChange> some : alike.values()) {
        upsertAlike(table, some, handsOver);
      }
    }
  }

  private void upsertAlike(Table table, List<RowChange> rows, boolean handsOver)
      throws SQLException {
    // One order for all writers means no deadlocks, and neighbours share pages.
    int[] key = table.primaryKey();
    rows.sort((a, b) -> compareKeys(key, a, b));
    int mostOfTable = MOST_PLACEHOLDERS / (table.columns().size() + 1);
    int most = Math.max(1, Math.min(bisection.limits.rows(), mostOfTable));
    int mostBytes = Math.min(bisection.limits.bytes(), mostBytesPerStatement);
    for (int from = 0; from < rows.size(); ) {
      int left = Math.min(most, rows.size() - from);
      // Few sizes, since each is a statement to prepare: 1, 2, 3, 4, 6, 8, 12, 16, 24 ...
      int size = left - left % Math.max(1, Integer.highestOneBit(left) / 2);
      while (size > 1 && bytes(rows.subList(from, from + size)) > mostBytes) {
        size /= 2;
      }
      bisection.execute(
          table,
          rows.subList(from, from + size),
          some ->
              upserts.execute(
                  connection, table, some, handsOver, bisection.limits.secondsFor(some.size())));
      from += size;
    }
  }

  private static long bytes(List<RowChange> rows) {
    return rows.stream().mapToLong(row -> row.encoded().length).sum();
  }

  private static int compareKeys(int[] key, RowChange a, RowChange b) {
    for (int index : key) {
      int order = compare(a.image().values()[index], b.image().values()[index]);
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  @SuppressWarnings(
      "unchecked") // canonical values of one column have one type, which is comparable or byte[]
  private static int compare(@Nullable Object a, @Nullable Object b) {
    return a instanceof byte[] bytes
        ? Arrays.compareUnsigned(bytes, (byte[]) Objects.requireNonNull(b))
        : ((Comparable<Object>) Objects.requireNonNull(a)).compareTo(Objects.requireNonNull(b));
  }

  /**
   * Makes sure, before a zero is written to an AUTO_INCREMENT column, that MySQL keeps it: a proxy
   * may have moved the connection to a session that gameq did not set up. Within a transaction it
   * keeps one session.
   *
   * @throws SQLTransientConnectionException when MySQL would invent a number: an outage, not a
   *     fault of the rows
   */
  private void requireZeroKept(Table table, List<RowChange> rows) throws SQLException {
    List<Column> columns = table.columns();
    int[] numbered =
        IntStream.range(0, columns.size())
            .filter(i -> columns.get(i).onAbsence() instanceof ColumnDefault.Numbered)
            .toArray();
    for (int column : numbered) {
      if (rows.stream().anyMatch(row -> isZero(row.image().values()[column])) && !isZeroKept()) {
        throw new SQLTransientConnectionException(
            ("the session's sql_mode lacks %s, and a row of %s has the key 0: a proxy dropped what"
                    + " gameq set; have it keep session variables, or connect to MySQL itself")
                .formatted(MySqlPool.ZERO_IS_A_VALUE, table.name()));
      }
    }
  }

  private static boolean isZero(@Nullable Object value) {
    return value instanceof Number number && number.doubleValue() == 0;
  }

  private boolean isZeroKept() throws SQLException {
    String mode = Sql.first(connection, "SELECT @@SESSION.sql_mode", rs -> rs.getString(1));
    return mode != null && mode.contains(MySqlPool.ZERO_IS_A_VALUE);
  }

  /** Removes what was just put but had been deleted in a newer version; returns those keys. */
  private Set<RowKey> takeOutDeleted(Table table, List<RowChange> rows) throws SQLException {
    if (TombstoneTable.hasNone(connection, table)) { // as of tables that only grow
      return Set.of();
    }
    Map<RowKey, Long> tombstones = tombstones(rows, true);
    Map<RowKey, Long> deleted = new TreeMap<>(Comparator.comparing(RowKey::text));
    for (RowChange row : rows) {
      Long tombstone = tombstones.get(row.key());
      if (tombstone != null && tombstone >= row.image().version()) {
        deleted.put(row.key(), tombstone);
      }
    }
    for (List<RowKey> some :
        Sql.chunks(List.copyOf(deleted.keySet()), MOST_DELETES_PER_STATEMENT)) {
      delete(connection, table, some, deleted, NO_LIMIT); // they are few, and not searched for
    }
    return deleted.keySet();
  }

  /** Deletes each row unless its version is newer than the one given. */
  static void delete(
      Connection connection,
      Table table,
      List<RowKey> keys,
      Map<RowKey, Long> upTo,
      int mostSeconds)
      throws SQLException {
    String row = Sql.keyEquals(table) + " AND " + JdbcValues.quoted(Table.VERSION_COLUMN) + " <= ?";
    List<@Nullable Object> arguments = new ArrayList<>();
    for (RowKey key : keys) {
      arguments.addAll(Sql.keyArguments(table, List.of(key)));
      arguments.add(upTo.getOrDefault(key, 0L));
    }
    Sql.executeWithin(
        connection,
        mostSeconds,
        "DELETE FROM %s WHERE %s"
            .formatted(JdbcValues.quoted(table.name()), Sql.anyOf(row, keys.size())),
        arguments.toArray());
  }

  /**
   * Without what had been deleted in a newer version. What is put and taken out again must not
   * refer to each other.
   */
  private List<RowChange> notDeleted(Table table, List<RowChange> rows) throws SQLException {
    return TombstoneTable.hasNone(connection, table)
        ? rows
        : newerThan(tombstones(rows, false), rows);
  }

  private Map<RowKey, Long> tombstones(List<RowChange> rows, boolean locked) throws SQLException {
    return TombstoneTable.read(connection, rows.stream().map(RowChange::key).toList(), locked);
  }

  private List<RowChange> unwritten(List<RowChange> rows) throws SQLException {
    List<RowKey> keys = rows.stream().map(RowChange::key).toList();
    return newerThan(OwnerReader.rowVersions(connection, keys, ""), rows);
  }

  private static List<RowChange> newerThan(Map<RowKey, Long> versions, List<RowChange> rows) {
    return rows.stream()
        .filter(row -> versions.getOrDefault(row.key(), -1L) < row.image().version())
        .toList();
  }

  private static SQLException duplicate(RowChange row) {
    return new SQLIntegrityConstraintViolationException(
        "Duplicate entry: another row has a unique value of " + row.key(),
        "23000",
        RowBisection.DUPLICATE);
  }

  /**
   * Rows of one flush that exchange values of a UNIQUE key, as two items that swap their slots:
   * each upsert meets a row that has not given its value up yet. Such rows get a spare value for a
   * moment, within the transaction that writes them.
   */
  static final class ExchangedValues {
    /** A random value may be taken already. */
    private static final int MOST_TRIES = 20;

    private final Connection connection;
    private final Table table;
    private final Random random = new Random();

    /** A row that holds a value which another one is to get. */
    private record Holder(RowKey row, UniqueKey key) {}

    ExchangedValues(Connection connection, Table table) {
      this.connection = connection;
      this.table = table;
    }

    /**
     * Takes the values off those of the rows that stand in each other's way and wait for nobody
     * else: all of them can be written then.
     *
     * @param blocked rows that MySQL did not write, since other rows have their unique values
     * @return those that can be written now; what throws may leave some values taken off
     */
    List<RowChange> takeOff(List<RowChange> blocked) throws SQLException {
      Map<RowKey, List<Holder>> waiting = new HashMap<>();
      for (RowChange row : blocked) {
        waiting.put(row.key(), holdersOfWhatIsFor(row));
      }
      waiting.values().removeIf(List::isEmpty); // what blocks it cannot be seen
      boolean some = true;
      while (some) { // who waits for a row that is not among them, or for one who does so, stays
        some =
            waiting
                .values()
                .removeIf(of -> of.stream().anyMatch(holder -> !waiting.containsKey(holder.row())));
      }
      Set<Holder> holders =
          waiting.values().stream().flatMap(List::stream).collect(Collectors.toSet());
      for (Holder holder : holders) {
        String spare = holder.key().spare();
        if (spare == null || !isWrittenBy(spare, holder.row(), blocked)) {
          return List.of();
        }
        giveSpareValue(holder.row(), table.column(spare));
      }
      return blocked.stream().filter(row -> waiting.containsKey(row.key())).toList();
    }

    /** Whether what is written of a row gives the column its value again. */
    private boolean isWrittenBy(String column, RowKey row, List<RowChange> changes) {
      return table.has(column)
          && changes.stream()
              .filter(change -> change.key().equals(row))
              .allMatch(change -> change.image().names(table.indexOf(column)));
    }

    private List<Holder> holdersOfWhatIsFor(RowChange row) throws SQLException {
      List<Holder> holders = new ArrayList<>();
      for (UniqueKey key : table.otherUniqueKeys()) {
        RowKey holder = key.columns().isEmpty() ? null : holderOfWhatIsFor(row, key);
        if (holder != null && !holder.equals(row.key())) {
          holders.add(new Holder(holder, key));
        }
      }
      return holders;
    }

    /** Null as well when the row does not say what it will have: then it stays blocked. */
    private @Nullable RowKey holderOfWhatIsFor(RowChange row, UniqueKey key) throws SQLException {
      List<@Nullable Object> arguments = new ArrayList<>();
      for (String column : key.columns()) {
        int index = table.has(column) ? table.indexOf(column) : -1;
        Object value = index < 0 ? null : row.image().values()[index];
        if (value == null || !row.image().names(index)) {
          return null;
        }
        arguments.add(JdbcValues.parameter(table.column(column), value));
      }
      return Sql.first(
          connection,
          "SELECT %s FROM %s WHERE %s"
              .formatted(
                  JdbcValues.selectExpressions(table.keyColumns()),
                  JdbcValues.quoted(table.name()),
                  key.columns().stream()
                      .map(column -> JdbcValues.quoted(column) + " = ?")
                      .collect(Collectors.joining(" AND "))),
          rs -> JdbcValues.readKey(rs, 1, table),
          arguments.toArray());
    }

    private void giveSpareValue(RowKey row, Column column) throws SQLException {
      String sql =
          "UPDATE %s SET %s = %s WHERE %s"
              .formatted(
                  JdbcValues.quoted(table.name()),
                  JdbcValues.quoted(column.name()),
                  column.type().jdbc().placeholder(),
                  Sql.keyEquals(table));
      for (int tries = 1; ; tries++) {
        List<@Nullable Object> arguments = new ArrayList<>();
        arguments.add(JdbcValues.parameter(column, SpareValues.next(column, random)));
        arguments.addAll(Sql.keyArguments(table, List.of(row)));
        try {
          Sql.execute(connection, sql, arguments.toArray());
          return;
        } catch (SQLException e) {
          if (e.getErrorCode() != RowBisection.DUPLICATE || tries == MOST_TRIES) {
            throw e;
          }
        }
      }
    }
  }
}
