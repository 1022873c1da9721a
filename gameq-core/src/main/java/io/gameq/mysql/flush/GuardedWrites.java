package io.gameq.mysql.flush;

import io.gameq.mysql.Dialect;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.HandledTwiceException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.StatementLimits;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.HandledTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.rows.HandledRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
    return server.ask(
        handle ->
            new GuardedWrites(
                Dialect.of(server),
                handle.createQuery("SELECT @@max_allowed_packet").mapTo(Integer.class).one() / 2));
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
    Collection<RowChange> left = DiscardTable.notCovered(connection, changes);
    List<RowChange> handled = left.stream().filter(row -> HandledRow.is(row.key())).toList();
    if (!handled.isEmpty()) {
      List<RowChange> ofOthers = HandledTable.write(connection, handled);
      if (!ofOthers.isEmpty()) {
        throw new HandledTwiceException(ofOthers);
      }
      left = left.stream().filter(row -> !HandledRow.is(row.key())).toList();
    }
    RowOwnership custody = new RowOwnership(connection, sessions);
    List<List<RowChange>> turns = custody.decide(left);
    RowBisection bisection = new RowBisection(connection, kinds, limits, custody.refused());
    DependentRows rows =
        new DependentRows(
            bisection, new GuardedPuts(bisection, custody, upserts, mostBytesPerStatement));
    for (List<RowChange> turn : turns) {
      rows.write(turn);
    }
    custody.forgetSettled(bisection.refused());
    return bisection.refused();
  }

  /** Owners whose rows these may become or were: a transaction locks them with its own. */
  public static Set<OwnerId> others(Collection<RowChange> changes) {
    return RowOwnership.others(changes);
  }
}
