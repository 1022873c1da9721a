package io.gameq.mysql.flush;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.ErrorKind.NotOwnerException;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushPlan.Halves;
import io.gameq.mysql.flush.FlushPlan.HeldBack;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.FlushPlan.Patience;
import io.gameq.mysql.flush.FlushPlan.Written;
import io.gameq.mysql.flush.GuardedTransaction.NotConnectedException;
import io.gameq.mysql.flush.GuardedWrites.HandledTwiceException;
import io.gameq.mysql.flush.RowBisection.ManySlowRowsException;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.flush.RowBisection.TableRefusedException;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.HandledTable;
import io.gameq.mysql.tables.Locks;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.HandledRow;
import io.gameq.rows.Table;
import io.gameq.sign.Protocol.UnspokenProtocolException;
import io.gameq.term.Term;
import io.gameq.term.Term.TermMovedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The flush: one MySQL transaction that checks the sessions of all its owners, writes their rows,
 * and sets aside the rows that MySQL refuses. Thread-safe; each call takes a connection of its own.
 */
public final class FlushTransaction {
  private static final int MOST_TRIES = 10;

  /** Others were written so lately: what is slow is not MySQL as a whole. */
  private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private final MySql mysql;
  private final GuardedWrites writes;
  private final Patience patience;
  private final Consumer<ErrorKind> errors;
  private final MassRefusals massRefusals = new MassRefusals(System::nanoTime);
  private volatile long writtenNanos = System.nanoTime() - LATELY_NANOS;
  private final Map<String, Long> tablesWrittenNanos = new ConcurrentHashMap<>();

  /** What became of a flush. */
  public sealed interface Outcome {}

  /** Nothing was written, or it is not known whether a COMMIT passed: flushing again is safe. */
  public sealed interface Failure extends Outcome {
    String reason();
  }

  /**
   * Committed, but for owners that were left out whole.
   *
   * @param written all rows are in MySQL, or among those set aside or kept
   * @param notOwned a newer session owns: theirs does not count any more
   * @param fenced another handler's rows count of a message that they handled, or they handled one
   *     twice: their sessions were ended by this flush
   * @param heldBack a row was refused that another flush may make fit, or there is no room for dead
   *     letters
   */
  public record Committed(
      List<Written> written, List<OwnerRows> notOwned, List<Fenced> fenced, List<HeldBack> heldBack)
      implements Outcome {}

  /**
   * An owner whose session was ended.
   *
   * @param by the session that counts now, which nobody has
   * @param why names the message
   */
  public record Fenced(OwnerRows of, SessionId by, String why) {}

  /**
   * MySQL is away, read-only or full; nothing was written, or a COMMIT was lost: flushing again is
   * safe.
   *
   * @param midway the connection broke in the middle: one of the rows may be why, if MySQL answers
   */
  public record Outage(String reason, boolean midway) implements Failure {}

  /**
   * The rows were claimed from a Redis primary that does not count any more, or the protocol was
   * raised beyond this build; nothing was written.
   */
  public record Demoted(String reason) implements Failure {}

  /**
   * A table or a column is missing or closed to us, or most of its rows are refused; nothing was
   * written.
   */
  public record TableRefused(Table table, String reason) implements Failure {}

  /** Tables are locked as a whole; nothing was written. */
  public record TablesLocked(Set<String> tables, String reason) implements Failure {}

  /**
   * Somebody holds a lock on a row for long; nothing was written.
   *
   * @param owners who are locked, or have a row that is, as far as that is known
   */
  public record Locked(Set<OwnerId> owners, String reason) implements Failure {}

  /** Some statement takes MySQL long, also with few rows; nothing was written. */
  public record Slow(String reason) implements Failure {}

  /** An error that gameq does not know; nothing was written. */
  public record Failed(String reason) implements Failure {}

  public FlushTransaction(MySql mysql, GuardedWrites writes, Patience patience) {
    this(mysql, writes, patience, kind -> {});
  }

  /**
   * The same.
   *
   * @param errors is told of each error that MySQL answers, of statements and of single rows
   */
  public FlushTransaction(
      MySql mysql, GuardedWrites writes, Patience patience, Consumer<ErrorKind> errors) {
    this.mysql = mysql;
    this.writes = writes;
    this.patience = patience;
    this.errors = errors;
  }

  /**
   * Writes the rows of all owners whose sessions still count. Never throws for what MySQL answers.
   */
  public Outcome flush(List<OwnerRows> owners) {
    return flush(Term.NOT_KNOWN, owners, Halves.UNKNOWN);
  }

  /**
   * The same of rows that were claimed from Redis.
   *
   * @param term the number of the primary's term, {@link Term#NOT_KNOWN} when it hides who it is
   */
  public Outcome flush(long term, List<OwnerRows> owners, Halves halves) {
    return flush(plan(term, owners, false), halves);
  }

  /**
   * The same of an owner that may hold up others, apart from them: rows that take MySQL long are
   * searched for, and set aside when others pass.
   */
  public Outcome flushApart(long term, OwnerRows owner, Halves halves) {
    return flush(plan(term, List.of(owner), true), halves);
  }

  private FlushPlan plan(long term, List<OwnerRows> owners, boolean isApart) {
    return new FlushPlan(term, owners, isApart, patience, this::wroteLately, this::wroteInto);
  }

  private Outcome flush(FlushPlan plan, Halves halves) {
    try {
      return GuardedTransaction.run(
          mysql,
          writes,
          (failure, conflicts) -> changesFor(plan, failure, conflicts),
          () -> plan.decide(halves),
          transaction -> write(transaction, plan));
    } catch (TermMovedException | UnspokenProtocolException e) {
      return new Demoted(String.valueOf(e.getMessage()));
    } catch (TableRefusedException e) {
      return new TableRefused(e.table(), MySqlText.of(e));
    } catch (NotConnectedException e) {
      errors.accept(ErrorKind.OUTAGE);
      return new Outage(MySqlText.of(e), false);
    } catch (SQLException e) {
      return failed(plan, e);
    }
  }

  /** Whether the next try may pass. */
  private boolean changesFor(FlushPlan plan, SQLException e, int conflicts) {
    if (e instanceof HandledTwiceException handledTwice) {
      plan.refuse(handledTwice);
      return true;
    }
    errors.accept(ErrorKind.of(e));
    return switch (ErrorKind.of(e)) {
      case TRY_AGAIN -> e.getErrorCode() != LOCK_WAIT_TIMEOUT && conflicts < MOST_TRIES;
      case SLOW -> {
        if (e instanceof ManySlowRowsException many && plan.mayBeSetAsideAsSlow()) {
          plan.setAsideAlone(many.rows());
          yield true;
        }
        yield plan.takesSmallerStatements();
      }
      default -> false;
    };
  }

  private Outcome failed(FlushPlan plan, SQLException e) {
    return switch (ErrorKind.of(e)) {
      case TRY_AGAIN ->
          e.getErrorCode() == LOCK_WAIT_TIMEOUT
              ? locked(plan, e)
              : new Locked(Set.of(), MySqlText.of(e));
      case SLOW -> new Slow(MySqlText.of(e));
      case OUTAGE, SCHEMA -> // of one of gameq's own tables
          new Outage(MySqlText.of(e), String.valueOf(e.getSQLState()).startsWith("08"));
      default -> new Failed(MySqlText.of(e));
    };
  }

  /** A row is locked, or a whole table. */
  private Outcome locked(FlushPlan plan, SQLException e) {
    Locks.Found found =
        Locks.look(
            mysql,
            plan.concerned().stream().map(OwnerId::base).distinct().toList(),
            plan.rows().map(RowChange::key).toList());
    String reason = MySqlText.of(e);
    if (found.everything()) {
      return new Outage("nothing can be written: " + reason, false);
    }
    return found.tables().isEmpty()
        ? new Locked(lockedOf(plan.owners, found), reason)
        : new TablesLocked(
            found.tables(), "locked as a whole, by ALTER TABLE or LOCK TABLES: " + reason);
  }

  private static Set<OwnerId> lockedOf(List<OwnerRows> owners, Locks.Found found) {
    return owners.stream()
        .filter(
            of ->
                found.owners().contains(of.owner().base())
                    || !Collections.disjoint(found.owners(), GuardedWrites.others(of.rows()))
                    || of.rows().stream().anyMatch(row -> found.rows().contains(row.key())))
        .map(OwnerRows::owner)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Rows that the flush tried, but for those that MySQL refused, passed. */
  private void noteWritten(List<RowChange> rows, List<RowRefusal> refusals) {
    Set<RowChange> refused = refusals.stream().map(RowRefusal::row).collect(Collectors.toSet());
    long now = System.nanoTime();
    String last = "";
    for (RowChange row : rows) {
      String table = row.key().table().name();
      if (!table.equals(last) && !refused.contains(row)) {
        tablesWrittenNanos.put(table, now);
        last = table;
      }
    }
  }

  private boolean wroteInto(Table table) {
    Long nanos = tablesWrittenNanos.get(table.name());
    return nanos != null && System.nanoTime() - nanos < LATELY_NANOS;
  }

  private boolean wroteLately() {
    return System.nanoTime() - writtenNanos < LATELY_NANOS;
  }

  /**
   * Whether an owner whose flush ends the connection has been tried for long enough, while others
   * were written.
   */
  public boolean isOutOfPatience(int attempts, long refusedForMillis) {
    return patience.isOver(attempts, refusedForMillis) && wroteLately();
  }

  /** One try; null when the plan has changed: nothing is committed then. */
  private @Nullable Outcome write(GuardedTransaction transaction, FlushPlan plan)
      throws SQLException {
    if (plan.isEmpty()) {
      return new Committed(List.of(), List.of(), List.of(), plan.heldBack);
    }
    transaction.lock(plan.concerned(), plan.term);
    plan.notePending(transaction);
    Map<OwnerId, OwnerRows> owned = new LinkedHashMap<>();
    List<OwnerRows> notOwned = new ArrayList<>();
    List<OwnerRows> second = new ArrayList<>();
    List<RowChange> rows = new ArrayList<>();
    for (OwnerRows of : plan.owners) {
      if (!transaction.counts(of.owner(), of.session())) {
        notOwned.add(of);
      } else if (!plan.refusedOf(of.owner()).isEmpty()) {
        second.add(of);
      } else {
        owned.put(of.owner(), of);
        rows.addAll(plan.rowsToWrite(of));
      }
    }
    Connection connection = transaction.connection();
    Savepoint start = plan.isLastResort ? connection.setSavepoint() : null;
    List<RowRefusal> refused = new ArrayList<>(plan.slow);
    refused.addAll(transaction.write(rows, plan.kinds, plan.limits));
    List<Fenced> fenced = fence(transaction, plan, second);
    if (fenced.size() < second.size()) {
      return null;
    }
    List<RowRefusal> refusals = RowRefusal.withoutOutdated(connection, refused);
    refusals.forEach(refusal -> errors.accept(ErrorKind.of(refusal.error())));
    List<Written> written = owned.values().stream().map(of -> plan.written(of, refusals)).toList();
    if (plan.changesFor(owned, refusals)) {
      return null;
    }
    Table table = massRefusals.most(rows, refusals);
    if (table != null) {
      return new TableRefused(table, mostRefused(table, refusals));
    }
    if (!setAside(transaction, plan, written)) {
      return null;
    }
    if (start != null) {
      connection.releaseSavepoint(start); // fails when an unknown error ended the transaction
    }
    transaction.commit();
    noteWritten(rows, refused);
    if (written.stream()
        .anyMatch(of -> of.of().rows().size() > of.kept().size() && of.setAside().isEmpty())) {
      writtenNanos = System.nanoTime();
    }
    return new Committed(written, notOwned, fenced, plan.heldBack);
  }

  /**
   * Ends the sessions of second handlers, and of those that were first and second. Of a second only
   * once the first's rows are written: where these do not count any more, the second's do, and it
   * is missing from what is returned. One at a time is taken again: two that each are second to the
   * other would be refused together once more.
   */
  private static List<Fenced> fence(
      GuardedTransaction transaction, FlushPlan plan, List<OwnerRows> second) throws SQLException {
    List<Fenced> fenced = new ArrayList<>();
    for (OwnerRows of : second) {
      List<RowChange> refused = plan.refusedOf(of.owner());
      if (!plan.hasBoth(of.owner())) {
        refused = HandledTable.ofOthers(transaction.connection(), refused);
      }
      if (refused.isEmpty()) {
        plan.takeAgain(of.owner());
        return fenced;
      }
      SessionId by = transaction.fence(of.owner());
      String why =
          plan.hasBoth(of.owner())
              ? "it has the rows of two handlers of message "
                  + HandledRow.message(refused.get(0).key())
              : MySqlText.of(new HandledTwiceException(refused));
      fenced.add(new Fenced(of, by, why));
    }
    return fenced;
  }

  private static String mostRefused(Table table, List<RowRefusal> refusals) {
    return refusals.stream()
        .filter(refusal -> refusal.row().key().table().equals(table))
        .findFirst()
        .map(
            one ->
                "MySQL refuses most of its rows, as %s: %s"
                    .formatted(one.row().key(), MySqlText.of(one.error())))
        .orElseThrow();
  }

  /** Writes dead letters; false when one cannot be written: its owner is held back. */
  private boolean setAside(GuardedTransaction transaction, FlushPlan plan, List<Written> written)
      throws SQLException {
    List<Refused> letters = written.stream().flatMap(of -> of.setAside().stream()).toList();
    Map<Refused, String> failed =
        DeadLetterTable.write(transaction.connection(), letters, patience.deadLetters());
    for (Written of : written) {
      for (Refused letter : of.setAside()) {
        String because = failed.get(letter);
        if (because != null) {
          plan.holdBack(
              of.of(),
              "%s:%s: %s; and %s"
                  .formatted(letter.table(), letter.rowKey(), letter.errorText(), because));
        }
      }
    }
    return failed.isEmpty();
  }

  /**
   * Tells a table of which MySQL refuses most rows, as after a wrong CHECK or a column that was
   * shrunk, from single bad rows. Thread-safe.
   */
  static final class MassRefusals {
    /** So many may be single bad rows, whatever share of their table's rows they are. */
    private static final int FEWEST = 100;

    /** What fewer owners do wrong is their matter alone: others' rows do not wait for it. */
    private static final int FEWEST_OWNERS = 3;

    private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    private final Map<String, Count> counts = new HashMap<>();

    /** Of one table; a table that is refused is not counted afresh until its rows pass. */
    private static final class Count {
      private final long sinceNanos;
      private final Set<OwnerId> owners = new HashSet<>();
      private boolean isMass;
      private int written;
      private int refused;

      Count(long sinceNanos) {
        this.sinceNanos = sinceNanos;
      }
    }

    MassRefusals(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
    }

    /** Of rows that were written but for those refused: a table of which most are refused. */
    synchronized @Nullable Table most(Collection<RowChange> rows, List<RowRefusal> refusals) {
      if (refusals.isEmpty() && counts.isEmpty()) {
        return null;
      }
      Map<Table, List<RowRefusal>> refused =
          refusals.stream()
              .filter(refusal -> !(refusal.error() instanceof NotOwnerException))
              .filter(refusal -> !(refusal.error() instanceof HandledTwiceException))
              .collect(Collectors.groupingBy(refusal -> refusal.row().key().table()));
      Map<Table, Long> tried =
          rows.stream()
              .collect(Collectors.groupingBy(row -> row.key().table(), Collectors.counting()));
      for (Map.Entry<Table, Long> of : tried.entrySet()) {
        List<OwnerId> ofTable =
            refused.getOrDefault(of.getKey(), List.of()).stream()
                .map(refusal -> refusal.row().owner())
                .toList();
        int written = (int) (of.getValue() - ofTable.size());
        if (isMass(of.getKey().name(), written, ofTable)) {
          return of.getKey();
        }
      }
      return null;
    }

    /**
     * Counts what a flush wrote and MySQL refused of a table; whether to refuse the table itself.
     *
     * @param refused the owner of each row that was refused
     */
    synchronized boolean isMass(String table, int written, List<OwnerId> refused) {
      long now = nanoTime.getAsLong();
      Count count = counts.get(table);
      if (count != null
          && (count.isMass ? written > refused.size() : now - count.sinceNanos >= WINDOW_NANOS)) {
        counts.remove(table);
        count = null;
      }
      if (count == null) {
        if (refused.isEmpty()) {
          return false;
        }
        count = new Count(now);
        counts.put(table, count);
      }
      count.written += written;
      count.refused += refused.size();
      if (count.owners.size() < FEWEST_OWNERS) {
        count.owners.addAll(refused);
      }
      count.isMass |=
          count.refused >= FEWEST
              && count.refused > count.written
              && count.owners.size() >= FEWEST_OWNERS;
      return count.isMass && !refused.isEmpty();
    }
  }
}
