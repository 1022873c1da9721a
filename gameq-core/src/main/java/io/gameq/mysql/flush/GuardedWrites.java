package io.gameq.mysql.flush;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.flush.RowBisection.StatementLimits;
import io.gameq.mysql.flush.RowBisection.TableRefusedException;
import io.gameq.mysql.flush.UpsertSql.Dialect;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.HandledTable;
import io.gameq.mysql.tables.TombstoneTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Reference;
import io.gameq.topic.DeadLetter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

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
    int packet = server.list("SELECT @@max_allowed_packet", rs -> rs.getInt(1)).get(0);
    return new GuardedWrites(Dialect.of(server), packet / 2);
  }

  /**
   * Writes the newest image of each row: puts with parents before children, then deletes with
   * children before parents; deletes that cascade come last of all, when no child waits to be moved
   * away. What is refused because of another row is tried again as long as other rows pass, and
   * unique values that rows exchange are taken off them for a moment. A row that is not its
   * session's to write is refused, by the rules in {@link io.gameq.mysql}. What an operator
   * discarded is left out. Of each {@link HandledRow} it is decided first whether what was
   * committed with it counts.
   *
   * @param sessions those that count of each owner, locked: of those whose rows these are, and of
   *     {@link #others}
   * @param kinds errors that are taken for a row's and searched for it; others are thrown
   * @param limits of size and duration of its statements
   * @return the rows that MySQL refused, which are not written
   * @throws HandledTwiceException when another handler's rows count; the transaction must be rolled
   *     back
   * @throws TableRefusedException when a table takes no row at all; the transaction must be rolled
   *     back
   * @throws SQLException for everything else; the transaction must be rolled back
   */
  public List<RowRefusal> write(
      Connection connection,
      Collection<RowChange> changes,
      Map<OwnerId, CountingSessions> sessions,
      Set<ErrorKind> kinds,
      StatementLimits limits)
      throws SQLException {
    Map<Boolean, List<RowChange>> left =
        DiscardTable.notCovered(connection, changes).stream()
            .collect(Collectors.partitioningBy(row -> HandledRow.is(row.key())));
    List<RowChange> ofOthers = HandledTable.write(connection, left.getOrDefault(true, List.of()));
    if (!ofOthers.isEmpty()) {
      throw new HandledTwiceException(ofOthers);
    }
    RowOwnership custody = new RowOwnership(connection, sessions);
    List<List<RowChange>> turns = custody.decide(left.getOrDefault(false, List.of()));
    RowBisection bisection = new RowBisection(connection, kinds, limits, custody.refused);
    DependentRows rows =
        new DependentRows(
            bisection, new GuardedPuts(bisection, custody, upserts, mostBytesPerStatement));
    for (List<RowChange> turn : turns) {
      rows.write(turn);
    }
    custody.forgetSettled(bisection.refused);
    return bisection.refused;
  }

  /** Owners whose rows these may become or were: a transaction locks them with its own. */
  public static Set<OwnerId> others(Collection<RowChange> changes) {
    Set<OwnerId> others = new HashSet<>(0);
    for (RowChange row : changes) {
      row.image().handovers().forEach(of -> others.add(of.other()));
    }
    return others;
  }

  /**
   * Of messages that these rows tell of another handler's rows count: nothing that was committed
   * together with them, or on top of it, may be written.
   */
  public static final class HandledTwiceException extends SQLException {
    private static final long serialVersionUID = 1L;

    private final transient List<RowChange> refused;

    /** With the rows of {@code gameq_handled} that are refused, one at least. */
    public HandledTwiceException(List<RowChange> refused) {
      super(
          "another handler of message %s was flushed before, and its rows count"
              .formatted(HandledRow.message(refused.get(0).key())),
          "45000",
          DeadLetter.HANDLED_TWICE);
      this.refused = List.copyOf(refused);
    }

    public List<RowChange> refused() {
      return refused;
    }
  }

  /**
   * Writes rows of which some stand in the way of others: in the order of their foreign keys, again
   * as long as that helps, and at last those that refer to each other in a circle. Used by one
   * thread, in one transaction.
   */
  static final class DependentRows {
    private static final int CHILD_EXISTS = 1451;

    /** By its columns as well: rows may have been decoded before and after a table was altered. */
    private static final Comparator<Table> PARENTS_FIRST =
        Comparator.comparingInt((Table table) -> table.foreignKeys().rank())
            .thenComparing(Table::name)
            .thenComparingLong(Table::fingerprint);

    private final RowBisection bisection;
    private final GuardedPuts puts;
    private final Connection connection;

    DependentRows(RowBisection bisection, GuardedPuts puts) {
      this.bisection = bisection;
      this.puts = puts;
      this.connection = bisection.connection;
    }

    /** Rows of which no two have the same key. */
    void write(List<RowChange> rows) throws SQLException {
      List<RowChange> cascades = writeAllButCascades(rows);
      repeat();
      if (!cascades.isEmpty()) {
        delete(withoutParentsOfRefused(cascades));
        repeat();
      }
    }

    /**
     * Puts and deletes again what another row of the flush stood in the way of, such as an item in
     * a bag of the same table: as long as that helps.
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
      int before = bisection.refused.size();
      delete(withoutParentsOfRefused(writeAllButCascades(rows)));
      return bisection.refused.size() - before;
    }

    /** Returns the deletes that take rows of other tables along, with tombstones by now. */
    private List<RowChange> writeAllButCascades(List<RowChange> rows) throws SQLException {
      Map<Boolean, List<RowChange>> areDeletes =
          rows.stream().collect(Collectors.partitioningBy(row -> row.image().op() == RowOp.DELETE));
      List<RowChange> deletes = areDeletes.getOrDefault(true, List.of());
      TombstoneTable.write(connection, deletes);
      for (Map.Entry<Table, List<RowChange>> of :
          byTable(areDeletes.getOrDefault(false, List.of()), PARENTS_FIRST).entrySet()) {
        puts.put(of.getKey(), of.getValue());
      }
      Map<Boolean, List<RowChange>> cascade =
          deletes.stream()
              .collect(
                  Collectors.partitioningBy(row -> row.key().table().foreignKeys().cascades()));
      delete(cascade.getOrDefault(false, List.of()));
      return cascade.getOrDefault(true, List.of());
    }

    private static Map<Table, List<RowChange>> byTable(
        List<RowChange> rows, Comparator<Table> order) {
      return rows.stream()
          .collect(
              Collectors.groupingBy(
                  row -> row.key().table(),
                  () -> new TreeMap<>(order),
                  Collectors.toCollection(ArrayList::new)));
    }

    /**
     * Refuses deletes that would take along a child whose put was refused: it was to be moved away.
     */
    private List<RowChange> withoutParentsOfRefused(List<RowChange> cascades) throws SQLException {
      Set<String> parents =
          bisection.refused.stream()
              .flatMap(refusal -> refusal.row().key().table().foreignKeys().parents().stream())
              .collect(Collectors.toSet());
      List<RowChange> rest = new ArrayList<>();
      for (RowChange row : cascades) {
        if (parents.contains(row.key().table().name())) {
          bisection.refused.add(new RowRefusal(row, wouldCascade()));
          TombstoneTable.remove(connection, row);
        } else {
          rest.add(row);
        }
      }
      return rest;
    }

    private static SQLException wouldCascade() {
      return new SQLIntegrityConstraintViolationException(
          "not deleted: the delete would cascade to a table of which a row was refused in the same"
              + " flush",
          "23000",
          CHILD_EXISTS);
    }

    /**
     * Deletes rows unless MySQL holds newer versions, children first. A row whose delete is refused
     * stays, and so it must not have a tombstone.
     */
    private void delete(List<RowChange> deletes) throws SQLException {
      for (Map.Entry<Table, List<RowChange>> of :
          byTable(deletes, PARENTS_FIRST.reversed()).entrySet()) {
        Table table = of.getKey();
        List<RowChange> rows = of.getValue();
        rows.sort(Comparator.comparing(row -> row.key().text()));
        Map<RowKey, Long> upTo =
            rows.stream()
                .collect(Collectors.toMap(RowChange::key, row -> row.image().version(), Math::max));
        int refusedBefore = bisection.refused.size();
        for (List<RowChange> chunk : Sql.chunks(rows, GuardedPuts.MOST_DELETES_PER_STATEMENT)) {
          bisection.execute(
              table,
              chunk,
              some ->
                  GuardedPuts.delete(
                      connection,
                      table,
                      some.stream().map(RowChange::key).toList(),
                      upTo,
                      bisection.limits.secondsFor(some.size())));
        }
        List<RowRefusal> refused = bisection.refused;
        for (RowRefusal refusal : refused.subList(refusedBefore, refused.size())) {
          TombstoneTable.remove(connection, refusal.row());
        }
      }
    }

    /** Writes rows that refer to each other in a circle; false when there are none. */
    private boolean breakCycles() throws SQLException {
      List<RowRefusal> circle = ForeignKeyCycles.candidates(bisection.refused);
      while (!circle.isEmpty()) {
        Set<RowChange> stay = new HashSet<>();
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
            bisection.refused.removeAll(circle);
            List<RowRefusal> others = List.copyOf(bisection.refused);
            List<RowChange> left = circle.stream().map(RowRefusal::row).toList();
            for (Map.Entry<Table, List<RowChange>> of :
                byTable(ForeignKeyCycles.withoutReferences(left), PARENTS_FIRST).entrySet()) {
              puts.upsert(of.getKey(), of.getValue());
            }
            ForeignKeyCycles.detach(connection, left);
            int tried;
            do {
              tried = left.size();
              bisection.refused.clear(); // at first of what was refused without its references
              bisection.refused.addAll(
                  others); // a delete must not take along what these are rows of
              again(left);
              left = bisection.refused.stream().skip(others.size()).map(RowRefusal::row).toList();
            } while (!left.isEmpty() && left.size() < tried);
            stay.addAll(left);
            return left.isEmpty();
          });
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
      return waiting.stream().anyMatch(of -> !optional(of.row().key().table(), tables).isEmpty())
          ? waiting
          : List.of();
    }

    /** The columns of a table that refer to one of these tables, and may be NULL. */
    private static List<String> optional(Table table, Set<String> tables) {
      return table.foreignKeys().references().stream()
          .filter(reference -> tables.contains(reference.parent()))
          .map(Reference::optional)
          .filter(column -> column != null && table.has(column))
          .toList();
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
        List<Object> arguments = Sql.keyArguments(table, List.of(row.key()));
        arguments.add(row.image().version());
        Sql.execute(
            connection,
            "UPDATE %s SET %s WHERE %s AND %s <= ?"
                .formatted(
                    JdbcValues.quoted(table.name()),
                    columns.stream()
                        .map(column -> JdbcValues.quoted(column) + " = NULL")
                        .collect(Collectors.joining(", ")),
                    Sql.keyEquals(table),
                    JdbcValues.quoted(Table.VERSION_COLUMN)),
            arguments.toArray());
      }
    }

    private static Set<String> tables(List<RowChange> rows) {
      return rows.stream().map(row -> row.key().table().name()).collect(Collectors.toSet());
    }
  }
}
