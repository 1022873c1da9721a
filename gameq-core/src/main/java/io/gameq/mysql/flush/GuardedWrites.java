package io.gameq.mysql.flush;

import io.gameq.mysql.Dialect;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.NotOwnerException;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.StatementLimits;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.TombstoneTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLTimeoutException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes rows so that an older version never replaces a newer one and a deleted row never comes
 * back, whatever the order, however often. Within the caller's transaction at READ COMMITTED;
 * thread-safe.
 *
 * <p>Tombstones are written before rows are deleted, and read, with a lock, after rows are put: of
 * a put and a delete of the same row in two transactions, the later one to commit sees the other.
 *
 * <p>A row that MySQL refuses is found by halving the statement that failed, in the same
 * transaction: InnoDB rolls back a refused statement, not the transaction. The other rows are
 * written.
 */
public final class GuardedWrites {
  /** Above 65,535 placeholders the driver silently stops preparing on the server. */
  private static final int MOST_PLACEHOLDERS = 60_000;

  private static final int MOST_DELETES_PER_STATEMENT = 64;

  private static final int MOST_ONE_BY_ONE = 64;

  private static final int NO_LIMIT = 0;

  /** Each takes seconds, in which the owner is locked. */
  private static final int MOST_SLOW_ROWS = 2;

  static final int DUPLICATE = 1062;
  private static final int CHILD_EXISTS = 1451;

  /** By its columns as well: rows may have been decoded before and after a table was altered. */
  private static final Comparator<Table> BY_RANK =
      Comparator.comparingInt(Table::foreignKeyRank)
          .thenComparing(Table::name)
          .thenComparingLong(Table::fingerprint);

  private static final Logger LOG = LoggerFactory.getLogger(GuardedWrites.class);

  private final UpsertSql upserts;
  private final int mostBytesPerStatement;

  private GuardedWrites(Dialect dialect, int mostBytesPerStatement) {
    this.upserts = new UpsertSql(dialect);
    this.mostBytesPerStatement = mostBytesPerStatement;
  }

  /**
   * In the words of this server, and in statements that it takes.
   *
   * @throws io.gameq.MySqlException when it does not answer
   */
  public static GuardedWrites on(MySql server) {
    return MySqlErrors.mysql(
        () ->
            server
                .jdbi()
                .withHandle(
                    handle ->
                        new GuardedWrites(
                            Dialect.of(server),
                            handle
                                    .createQuery("SELECT @@max_allowed_packet")
                                    .mapTo(Integer.class)
                                    .one()
                                / 2)));
  }

  /**
   * Writes the newest image of each row: puts with parents before children, then deletes with
   * children before parents; deletes that cascade come last of all, when no child waits to be moved
   * away. What is refused because of another row is tried again as long as other rows pass, and
   * unique values that rows exchange are taken off them for a moment. A row that is not its
   * session's to write is refused, see the package description. What an operator discarded is left
   * out.
   *
   * @param sessions those that count of each owner, locked: of those whose rows these are, and of
   *     {@link #others}
   * @param kinds errors that are taken for a row's and searched for it; others are thrown
   * @return the rows that MySQL refused, which are not written
   * @throws TableRefusedException when a table takes no row at all; the transaction must be rolled
   *     back
   * @throws SQLException for everything else; the transaction must be rolled back
   */
  public List<RowRefusal> write(
      Connection connection,
      Collection<RowChange> changes,
      Map<OwnerId, CountingSessions> sessions,
      Set<ErrorKind> kinds)
      throws SQLException {
    return write(connection, changes, sessions, kinds, StatementLimits.NONE);
  }

  /** The same in statements of limited size and duration. */
  public List<RowRefusal> write(
      Connection connection,
      Collection<RowChange> changes,
      Map<OwnerId, CountingSessions> sessions,
      Set<ErrorKind> kinds,
      StatementLimits limits)
      throws SQLException {
    RowOwnership custody = new RowOwnership(connection, sessions);
    List<List<RowChange>> turns = custody.decide(DiscardTable.notCovered(connection, changes));
    Writing writing = new Writing(connection, kinds, limits, custody);
    for (List<RowChange> turn : turns) {
      writing.write(turn);
    }
    custody.forgetSettled(writing.refused);
    return writing.refused;
  }

  /** Owners whose rows these may become or were: a transaction locks them with its own. */
  public static Set<OwnerId> others(Collection<RowChange> changes) {
    return RowOwnership.others(changes);
  }

  /** Rows by table, parents first where they are put, and last where they are deleted. */
  private static final class Sorted {
    final Map<Table, List<RowChange>> puts = new TreeMap<>(BY_RANK);
    final Map<Table, List<RowChange>> deletes = new TreeMap<>(BY_RANK.reversed());

    /** Deletes that take rows of other tables along. */
    final Map<Table, List<RowChange>> cascades = new TreeMap<>(BY_RANK.reversed());

    Sorted(List<RowChange> rows) {
      for (RowChange row : rows) {
        Map<Table, List<RowChange>> to =
            row.image().op() != RowOp.DELETE
                ? puts
                : row.key().table().cascades() ? cascades : deletes;
        to.computeIfAbsent(row.key().table(), table -> new ArrayList<>()).add(row);
      }
    }
  }

  /** Something that is done whole or not at all. */
  private interface Attempt {
    boolean succeeds() throws SQLException;
  }

  /** A statement over some rows of one table. */
  private interface Statement {
    void execute(List<RowChange> rows) throws SQLException;
  }

  /** One call of {@link #write}: used by its thread. */
  private final class Writing {
    private final Connection connection;
    private final Set<ErrorKind> kinds;
    private final StatementLimits limits;
    private final RowOwnership custody;
    private final List<RowRefusal> refused;
    private final List<RowRefusal> slow = new ArrayList<>();

    Writing(
        Connection connection, Set<ErrorKind> kinds, StatementLimits limits, RowOwnership custody) {
      this.connection = connection;
      this.kinds = kinds;
      this.limits = limits;
      this.custody = custody;
      this.refused = new ArrayList<>(custody.refused());
    }

    /** Rows of which no two have the same key. */
    void write(List<RowChange> rows) throws SQLException {
      Sorted sorted = new Sorted(rows);
      writeAllButCascades(sorted);
      repeat();
      if (!sorted.cascades.isEmpty()) {
        deleteAll(withoutParentsOfRefused(sorted.cascades));
        repeat();
      }
    }

    /**
     * Puts and deletes again what another row of the flush stood in the way of, such as an item in
     * a bag of the same table: as long as that helps.
     */
    private void repeat() throws SQLException {
      while (true) {
        List<RowChange> rows = takeCurable();
        if (rows.isEmpty() || (again(rows) == rows.size() && !breakCycles())) {
          return;
        }
      }
    }

    /** Writes rows that had been refused; returns how many were refused again. */
    private int again(List<RowChange> rows) throws SQLException {
      int before = refused.size();
      Sorted sorted = new Sorted(rows);
      writeAllButCascades(sorted);
      deleteAll(withoutParentsOfRefused(sorted.cascades));
      return refused.size() - before;
    }

    private void writeAllButCascades(Sorted sorted) throws SQLException {
      tombstones(sorted.deletes);
      tombstones(sorted.cascades);
      putAll(sorted.puts);
      deleteAll(sorted.deletes);
    }

    /** Writes rows that refer to each other in a circle; false when there are none. */
    private boolean breakCycles() throws SQLException {
      List<RowRefusal> circle = ForeignKeyCycles.candidates(refused);
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
      return allOrNone(
          () -> {
            refused.removeAll(circle);
            List<RowRefusal> others = List.copyOf(refused);
            List<RowChange> left = circle.stream().map(RowRefusal::row).toList();
            for (Map.Entry<Table, List<RowChange>> of :
                new Sorted(ForeignKeyCycles.withoutReferences(left)).puts.entrySet()) {
              upsert(of.getKey(), of.getValue());
            }
            ForeignKeyCycles.detach(connection, left);
            int tried;
            do {
              tried = left.size();
              refused.clear(); // at first of what was refused without its references
              refused.addAll(others); // a delete must not take along what these are rows of
              again(left);
              left = refused.stream().skip(others.size()).map(RowRefusal::row).toList();
            } while (!left.isEmpty() && left.size() < tried);
            stay.addAll(left);
            return left.isEmpty();
          });
    }

    /** Goes back to where it was, with what was refused then, unless the attempt succeeds. */
    private boolean allOrNone(Attempt attempt) throws SQLException {
      List<RowRefusal> refusedBefore = List.copyOf(refused);
      Savepoint before = connection.setSavepoint();
      try {
        if (attempt.succeeds()) {
          connection.releaseSavepoint(before);
          return true;
        }
      } catch (SQLException e) {
        if (!kinds.contains(ErrorKind.of(e)) || e instanceof ManySlowRowsException) {
          throw e;
        }
      } catch (RuntimeException e) { // a value that cannot be bound or read
        LOG.warn("rows that depend on each other are taken as refused", e);
      }
      connection.rollback(before);
      refused.clear();
      refused.addAll(refusedBefore);
      slow.retainAll(refusedBefore);
      return false;
    }

    /**
     * Executes a statement; when MySQL refuses it, its halves, down to the rows that it refuses.
     */
    private void execute(Table table, List<RowChange> rows, Statement statement)
        throws SQLException {
      try {
        executeOnce(rows, statement);
      } catch (SQLException e) {
        if (ErrorKind.of(e) == ErrorKind.SCHEMA) {
          throw new TableRefusedException(table, e);
        }
        if (!kinds.contains(ErrorKind.of(e))) {
          throw e;
        }
        boolean isSlow = ErrorKind.of(e) == ErrorKind.SLOW;
        if (isSlow && slow.size() == MOST_SLOW_ROWS) {
          throw new ManySlowRowsException(slow, e);
        }
        if (rows.size() == 1) {
          RowChange row = rows.get(0);
          RowRefusal refusal = new RowRefusal(row, reason(row, e));
          refused.add(refusal);
          if (isSlow) {
            slow.add(refusal);
          }
          return;
        }
        // A slow row costs the whole timeout in every statement that has it; rows that are not slow
        // cost little alone.
        boolean oneByOne = isSlow && rows.size() <= MOST_ONE_BY_ONE;
        int part = oneByOne ? 1 : (rows.size() + 1) / 2;
        for (int from = 0; from < rows.size(); from += part) {
          execute(table, rows.subList(from, Math.min(rows.size(), from + part)), statement);
        }
      }
    }

    private SQLException reason(RowChange row, SQLException e) {
      if (UpsertSql.isOfAnotherOwner(e)) {
        return NotOwnerException.of(row, "another owner");
      }
      return ErrorKind.of(e) == ErrorKind.SLOW
          ? new SQLTimeoutException(
              "it takes MySQL longer than %d s, as a slow trigger does: %s"
                  .formatted(limits.secondsOfOneRow(), e.getMessage()),
              e.getSQLState(),
              e.getErrorCode(),
              e)
          : e;
    }

    private void executeOnce(List<RowChange> rows, Statement statement) throws SQLException {
      try {
        statement.execute(rows);
      } catch (RuntimeException e) { // a value that cannot be bound
        throw new SQLException("a value cannot be bound: " + e.getClass().getSimpleName(), e);
      }
    }

    private List<RowChange> notRefused(List<RowChange> rows) {
      if (refused.isEmpty()) {
        return rows;
      }
      Set<RowChange> those = Collections.newSetFromMap(new IdentityHashMap<>());
      refused.forEach(refusal -> those.add(refusal.row()));
      return rows.stream().filter(row -> !those.contains(row)).toList();
    }

    void tombstones(Map<Table, List<RowChange>> deletes) throws SQLException {
      for (List<RowChange> rows : deletes.values()) {
        TombstoneTable.write(connection, rows);
      }
    }

    /** Takes the rows that another row may have stood in the way of out of those refused. */
    private List<RowChange> takeCurable() {
      List<RowChange> rows = new ArrayList<>();
      refused.removeIf(
          refusal ->
              ErrorKind.of(refusal.error()) == ErrorKind.CURABLE
                  && !(refusal.error() instanceof NotOwnerException)
                  && rows.add(refusal.row()));
      return rows;
    }

    /**
     * Refuses deletes that would take along a child whose put was refused: it was to be moved away.
     */
    Map<Table, List<RowChange>> withoutParentsOfRefused(Map<Table, List<RowChange>> cascades)
        throws SQLException {
      Set<String> parents = new HashSet<>();
      refused.forEach(refusal -> parents.addAll(refusal.row().key().table().parents()));
      Map<Table, List<RowChange>> rest = new TreeMap<>(BY_RANK.reversed());
      for (Map.Entry<Table, List<RowChange>> of : cascades.entrySet()) {
        if (parents.contains(of.getKey().name())) {
          for (RowChange row : of.getValue()) {
            refused.add(new RowRefusal(row, wouldCascade()));
            TombstoneTable.remove(connection, row);
          }
        } else {
          rest.put(of.getKey(), of.getValue());
        }
      }
      return rest;
    }

    // --- puts

    void putAll(Map<Table, List<RowChange>> puts) throws SQLException {
      for (Map.Entry<Table, List<RowChange>> of : puts.entrySet()) {
        put(of.getKey(), of.getValue());
      }
    }

    /**
     * Puts rows, takes out those that had been deleted, and makes sure of the rest. With other
     * UNIQUE keys a row may have been refused, or an upsert may have met another row and changed
     * nothing: such rows are put again as long as that helps, since the other row may have given
     * the value up in the same flush. What is left then is refused, not forgotten.
     */
    void put(Table table, List<RowChange> rows) throws SQLException {
      List<RowChange> next =
          table.parents().contains(table.name()) ? notDeleted(table, rows) : rows;
      while (true) {
        int refusedBefore = refused.size();
        upsert(table, new ArrayList<>(next));
        Set<RowKey> hidden = takeOutDeleted(table, notRefused(rows));
        if (!table.hasOtherUniqueKeys()) {
          return;
        }
        List<RowRefusal> blocked = takeDuplicates(refusedBefore);
        List<RowChange> others = notRefused(rows);
        others = others.stream().filter(row -> !hidden.contains(row.key())).toList();
        Set<RowKey> duplicates =
            blocked.stream().map(r -> r.row().key()).collect(Collectors.toSet());
        unwritten(table, others).stream()
            .filter(row -> !duplicates.contains(row.key()))
            .forEach(row -> blocked.add(new RowRefusal(row, duplicate(row))));
        if (blocked.isEmpty()) {
          return;
        }
        if (blocked.size() == next.size() && !exchange(table, blocked)) {
          refused.addAll(blocked);
          return;
        }
        next = blocked.stream().map(RowRefusal::row).toList();
      }
    }

    /**
     * Writes those of the rows that hold each other's unique values, and takes them out of the
     * list; false when there are none, or one of them would be refused even so.
     */
    private boolean exchange(Table table, List<RowRefusal> blocked) throws SQLException {
      List<RowChange> written = new ArrayList<>();
      boolean all =
          allOrNone(
              () -> {
                int refusedBefore = refused.size();
                written.addAll(
                    new ExchangedValues(connection, table)
                        .takeOff(blocked.stream().map(RowRefusal::row).toList()));
                upsert(table, new ArrayList<>(written));
                return !written.isEmpty()
                    && refused.size() == refusedBefore
                    && unwritten(table, written).isEmpty();
              });
      if (all) {
        Set<RowKey> unused = takeOutDeleted(table, written);
        Set<RowKey> keys = written.stream().map(RowChange::key).collect(Collectors.toSet());
        blocked.removeIf(refusal -> keys.contains(refusal.row().key()));
      }
      return all;
    }

    /** Takes the refusals for a duplicate, from the given one on, out of those that stand. */
    private List<RowRefusal> takeDuplicates(int from) {
      List<RowRefusal> since = refused.subList(from, refused.size());
      List<RowRefusal> duplicates = new ArrayList<>();
      since.removeIf(refusal -> isDuplicate(refusal) && duplicates.add(refusal));
      return duplicates;
    }

    /** One statement is for rows that name the same columns, which is nearly always all. */
    private void upsert(Table table, List<RowChange> rows) throws SQLException {
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
          Math.max(1, Math.min(limits.rows(), MOST_PLACEHOLDERS / (table.columns().size() + 1)));
      int mostBytes = Math.min(limits.bytes(), mostBytesPerStatement);
      for (int from = 0; from < rows.size(); ) {
        int size = Integer.highestOneBit(Math.min(most, rows.size() - from));
        while (size > 1 && bytes(rows.subList(from, from + size)) > mostBytes) {
          size /= 2;
        }
        execute(
            table,
            rows.subList(from, from + size),
            some ->
                upserts.execute(
                    connection, table, some, handsOver, limits.secondsFor(some.size())));
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
      List<RowKey> keys = sorted(deleted.keySet());
      for (List<RowKey> some : Sql.chunks(keys, MOST_DELETES_PER_STATEMENT)) {
        delete(connection, table, some, deleted, NO_LIMIT); // they are few, and not searched for
      }
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

    // --- deletes

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
      int refusedBefore = refused.size();
      for (List<RowChange> chunk : Sql.chunks(rows, MOST_DELETES_PER_STATEMENT)) {
        execute(
            table,
            chunk,
            some ->
                delete(
                    connection,
                    table,
                    some.stream().map(RowChange::key).toList(),
                    upTo,
                    limits.secondsFor(some.size())));
      }
      for (RowRefusal refusal : refused.subList(refusedBefore, refused.size())) {
        TombstoneTable.remove(connection, refusal.row());
      }
    }
  }

  private static long bytes(List<RowChange> rows) {
    long bytes = 0;
    for (RowChange row : rows) {
      bytes += row.encoded().length;
    }
    return bytes;
  }

  private static boolean isDuplicate(RowRefusal refusal) {
    return refusal.error().getErrorCode() == DUPLICATE;
  }

  private static SQLException duplicate(RowChange row) {
    return new SQLIntegrityConstraintViolationException(
        "Duplicate entry: another row has a unique value of " + row.key(), "23000", DUPLICATE);
  }

  private static SQLException wouldCascade() {
    return new SQLIntegrityConstraintViolationException(
        "not deleted: the delete would cascade to a table of which a row was refused in the same"
            + " flush",
        "23000",
        CHILD_EXISTS);
  }

  private static List<RowKey> sorted(Collection<RowKey> keys) {
    return keys.stream().sorted(Comparator.comparing(RowKey::text)).toList();
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
