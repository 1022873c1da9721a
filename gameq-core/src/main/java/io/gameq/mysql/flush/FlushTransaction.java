package io.gameq.mysql.flush;

import io.gameq.change.VersionClock;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlText;
import io.gameq.mysql.NotOwnerException;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.StatementLimits;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.mysql.tables.Locks;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.RowKey;
import io.gameq.rows.Table;
import io.gameq.term.Term;
import io.gameq.term.TermMovedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
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

  /** So long a slow row is tried when nobody else is written that it could be compared with. */
  private static final long ALONE_MILLIS = TimeUnit.MINUTES.toMillis(10);

  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final Set<ErrorKind> OF_ROWS = Set.of(ErrorKind.ROW, ErrorKind.CURABLE);
  private static final Set<ErrorKind> OF_ROWS_APART =
      Set.of(ErrorKind.ROW, ErrorKind.CURABLE, ErrorKind.SLOW);
  private static final Set<ErrorKind> LAST_RESORT =
      Set.of(ErrorKind.ROW, ErrorKind.CURABLE, ErrorKind.UNKNOWN);
  private static final Set<ErrorKind> LAST_RESORT_APART =
      Set.of(ErrorKind.ROW, ErrorKind.CURABLE, ErrorKind.SLOW, ErrorKind.UNKNOWN);

  /** A statement of 512 rows takes some tens of milliseconds. */
  private static final StatementLimits LIMITS = new StatementLimits(512, 4 << 20, 2, 2);

  /** Also over a link that takes seconds for a large statement. */
  private static final StatementLimits LIMITS_APART = new StatementLimits(64, 256 << 10, 2, 2);

  private final MySql mysql;
  private final GuardedWrites writes;
  private final Patience patience;
  private final MassRefusals massRefusals = new MassRefusals(System::nanoTime);
  private volatile long writtenNanos = System.nanoTime() - LATELY_NANOS;

  /**
   * When rows are given up.
   *
   * @param attempts how often an owner is tried, at least, before a row of it is set aside that
   *     another flush may yet make fit, or whose error is not known
   * @param millis how long it is tried, at least
   * @param halfMillis how long after its commit a row at most waits in Redis for the other half of
   *     a handover, when that may still come: its owner's other rows are flushed meanwhile
   * @param rowSeconds how long MySQL may take for such a row at its last try; below the silence
   *     after which a server counts as away
   * @param deadLetters most rows set aside in the whole database; at the limit owners with refused
   *     rows wait in Redis
   */
  public record Patience(
      int attempts, long millis, long halfMillis, int rowSeconds, int deadLetters) {}

  /** Whether other halves of handovers may still come. */
  public interface Halves {
    /** Nobody can be asked: none is waited for beyond the patience that every row has. */
    Halves UNKNOWN = (row, from) -> false;

    /**
     * Whether one of these owners may yet bring its half of a handover. Called without a
     * transaction; never throws for what a server answers.
     */
    boolean mayCome(RowKey row, Set<OwnerId> from);
  }

  /**
   * One owner's rows, with the session under which they were claimed.
   *
   * @param attempts how often they were claimed, this time included
   * @param refusedForMillis how long ago one of them was refused first; 0 if never
   * @param unreadable rows that are to be set aside without trying
   */
  public record OwnerRows(
      OwnerId owner,
      SessionId session,
      int attempts,
      long refusedForMillis,
      List<RowChange> rows,
      List<Refused> unreadable) {}

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
   * @param heldBack a row was refused that another flush may make fit, or there is no room for dead
   *     letters
   */
  public record Committed(List<Written> written, List<OwnerRows> notOwned, List<HeldBack> heldBack)
      implements Outcome {}

  /** An owner that was left out, and why. */
  public record HeldBack(OwnerRows of, String reason) {}

  /**
   * An owner that was flushed.
   *
   * @param kept rows that wait on in Redis for the other half of a handover
   */
  public record Written(OwnerRows of, List<Refused> setAside, List<RowChange> kept) {}

  /**
   * MySQL is away, read-only or full; nothing was written, or a COMMIT was lost: flushing again is
   * safe.
   *
   * @param midway the connection broke in the middle: one of the rows may be why, if MySQL answers
   */
  public record Outage(String reason, boolean midway) implements Failure {}

  /**
   * The rows were claimed from a Redis primary that does not count any more; nothing was written.
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
    this.mysql = mysql;
    this.writes = writes;
    this.patience = patience;
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
    return flush(new Plan(term, owners, false), halves);
  }

  /**
   * The same of an owner that may hold up others, apart from them: rows that take MySQL long are
   * searched for, and set aside when others pass.
   */
  public Outcome flushApart(long term, OwnerRows owner, Halves halves) {
    return flush(new Plan(term, List.of(owner), true), halves);
  }

  private Outcome flush(Plan plan, Halves halves) {
    int tries = 0;
    while (true) {
      plan.decide(halves);
      Connection connection;
      try {
        connection = mysql.connection();
      } catch (SQLException e) {
        return new Outage(MySqlText.of(e), false);
      }
      try (connection) {
        Outcome outcome = inTransaction(connection, plan);
        if (outcome != null) {
          return outcome;
        }
      } catch (TermMovedException e) {
        return new Demoted(String.valueOf(e.getMessage()));
      } catch (TableRefusedException e) {
        return new TableRefused(e.table(), MySqlText.of(e));
      } catch (SQLException e) {
        switch (ErrorKind.of(e)) {
          case TRY_AGAIN -> {
            if (e.getErrorCode() == LOCK_WAIT_TIMEOUT) {
              return locked(plan, e);
            }
            if (++tries == MOST_TRIES) {
              return new Locked(Set.of(), MySqlText.of(e));
            }
            TransactionTries.pauseAfter(tries);
          }
          case SLOW -> {
            if (e instanceof ManySlowRowsException many
                && plan.lastResort
                && isSlowByItself(plan.owners.get(0))) {
              plan.setAsideAlone(many.rows());
            } else if (!plan.takesSmallerStatements()) {
              return new Slow(MySqlText.of(e));
            }
          }
          case OUTAGE, SCHEMA -> { // of one of gameq's own tables
            mysql.evict(connection);
            return new Outage(MySqlText.of(e), String.valueOf(e.getSQLState()).startsWith("08"));
          }
          default -> {
            return new Failed(MySqlText.of(e));
          }
        }
      }
    }
  }

  /** A row is locked, or a whole table. */
  private Outcome locked(Plan plan, SQLException e) {
    List<RowKey> keys =
        plan.owners.stream().flatMap(of -> of.rows().stream()).map(RowChange::key).toList();
    Locks.Found found = Locks.look(mysql, plan.concerned(), keys);
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
                found.owners().contains(of.owner())
                    || !Collections.disjoint(found.owners(), GuardedWrites.others(of.rows()))
                    || of.rows().stream().anyMatch(row -> found.rows().contains(row.key())))
        .map(OwnerRows::owner)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** A row of an owner out of patience that waits for halves of these others. */
  private record Undecided(RowChange row, SessionId session, Set<OwnerId> awaited) {}

  /** What the next try is to do; learns from the one before. One thread. */
  private final class Plan {
    private final long term;
    private final List<OwnerRows> owners;
    private final List<HeldBack> heldBack = new ArrayList<>();

    /**
     * Rows that are kept, and those of owners held back, whose handovers the other owner's flush
     * may have to know of: also those that were not refused, else two owners that wait for each
     * other, each for another row, wait for ever.
     */
    private final IdentityHashMap<RowChange, SessionId> pending = new IdentityHashMap<>();

    private final List<Undecided> undecided = new ArrayList<>();
    private final Set<RowChange> kept = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<RowChange> inVain = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Rows to set aside without trying them again. */
    private final List<RowRefusal> slow = new ArrayList<>();

    private final boolean lastResort;
    private final Set<ErrorKind> kinds;
    private StatementLimits limits;

    Plan(long term, List<OwnerRows> owners, boolean apart) {
      this.term = term;
      this.owners = new ArrayList<>(owners);
      this.lastResort = owners.size() == 1 && isOutOfPatience(owners.get(0));
      if (apart) {
        this.kinds = lastResort ? LAST_RESORT_APART : OF_ROWS_APART;
        this.limits =
            lastResort ? LIMITS_APART.withSecondsOfOneRow(patience.rowSeconds()) : LIMITS_APART;
      } else {
        this.kinds = lastResort ? LAST_RESORT : OF_ROWS;
        this.limits = LIMITS;
      }
    }

    /** Whether the next try is one with smaller statements: MySQL may be slow as a whole. */
    boolean takesSmallerStatements() {
      List<RowChange> rows = owners.stream().flatMap(of -> of.rows().stream()).toList();
      boolean wereLarger =
          limits.rows() > LIMITS_APART.rows()
              && (rows.size() > LIMITS_APART.rows()
                  || rows.stream().mapToLong(row -> row.encoded().length).sum()
                      > LIMITS_APART.bytes());
      limits = LIMITS_APART;
      return wereLarger;
    }

    /**
     * Each slow row costs seconds: the next try sets those aside that were found, and keeps what
     * else their tables have, with the tables that these refer to or that refer to them.
     */
    void setAsideAlone(List<RowRefusal> rows) {
      slow.addAll(rows);
      Set<Table> tied = tiedToSlow();
      for (OwnerRows of : owners) {
        of.rows().stream()
            .filter(row -> tied.contains(row.key().table()))
            .forEach(row -> keep(row, of.session()));
      }
      slow.forEach(refusal -> kept.remove(refusal.row()));
    }

    private Set<Table> tiedToSlow() {
      Set<Table> others =
          owners.stream()
              .flatMap(of -> of.rows().stream())
              .map(row -> row.key().table())
              .collect(Collectors.toSet());
      Set<Table> tied = new HashSet<>();
      Deque<Table> next = new ArrayDeque<>();
      slow.forEach(refusal -> next.add(refusal.row().key().table()));
      while (!next.isEmpty()) {
        Table one = next.remove();
        tied.add(one);
        others.remove(one);
        others.stream().filter(other -> areTied(one, other)).forEach(next::add);
      }
      return tied;
    }

    /** One table may be there twice, as it was before it was altered and after. */
    private static boolean areTied(Table one, Table other) {
      return one.name().equals(other.name())
          || one.parents().contains(other.name())
          || other.parents().contains(one.name());
    }

    private void keep(RowChange row, SessionId session) {
      kept.add(row);
      if (!row.image().handovers().isEmpty()) {
        pending.put(row, session);
      }
    }

    /** Leaves an owner out of the next try; false when it is left out already. */
    boolean holdBack(OwnerRows of, String reason) {
      boolean was = owners.removeIf(owner -> owner.owner().equals(of.owner()));
      if (was) {
        heldBack.add(new HeldBack(of, reason));
        of.rows().stream()
            .filter(row -> !row.image().handovers().isEmpty())
            .forEach(row -> pending.put(row, of.session()));
      }
      return was;
    }

    /** All whose sessions are to be locked. */
    List<OwnerId> concerned() {
      Set<OwnerId> all = new LinkedHashSet<>();
      for (OwnerRows of : owners) {
        all.add(of.owner());
        all.addAll(GuardedWrites.others(of.rows()));
      }
      pending.keySet().forEach(row -> all.add(row.owner()));
      return List.copyOf(all);
    }

    /** Notes what owners held back know of handovers, if their sessions are still the newest. */
    void notePending(Connection connection, Map<OwnerId, CountingSessions> durable)
        throws SQLException {
      for (Map.Entry<RowChange, SessionId> of : pending.entrySet()) {
        if (CountingSessions.counts(durable.get(of.getKey().owner()), of.getValue())) {
          HandoverTable.write(connection, of.getValue(), of.getKey());
        }
      }
    }

    /** Decides whether rows that wait for other halves go on to do so. */
    void decide(Halves halves) {
      for (Undecided of : undecided) {
        RowChange row = of.row();
        long waited = System.currentTimeMillis() - VersionClock.millis(row.image().version());
        if (waited < patience.halfMillis() && halves.mayCome(row.key(), of.awaited())) {
          keep(row, of.session());
        } else {
          inVain.add(row);
        }
      }
      undecided.clear();
    }

    /** The rows of an owner to write: without those that are kept, whose handovers are noted. */
    List<RowChange> rowsToWrite(OwnerRows of) {
      if (kept.isEmpty() && slow.isEmpty()) {
        return of.rows();
      }
      Set<RowChange> left = Collections.newSetFromMap(new IdentityHashMap<>());
      slow.forEach(refusal -> left.add(refusal.row()));
      left.addAll(kept);
      return of.rows().stream().filter(row -> !left.contains(row)).toList();
    }

    Written written(OwnerRows of, List<RowRefusal> ofAll) {
      List<Refused> setAside = new ArrayList<>(of.unreadable());
      for (RowRefusal refusal : ofAll) {
        if (refusal.row().owner().equals(of.owner())) {
          setAside.add(refusal.asLetter(of.attempts()));
        }
      }
      return new Written(of, setAside, of.rows().stream().filter(kept::contains).toList());
    }

    /** Whether refusals call for another try, without some owners or some rows. */
    boolean changesFor(Map<OwnerId, OwnerRows> owned, List<RowRefusal> refusals) {
      boolean changed = false;
      for (RowRefusal refusal : refusals) {
        OwnerRows of = owned.get(refusal.row().owner());
        if (of == null || !refusal.isCurable()) {
          continue;
        }
        if (!isOutOfPatience(of) || isSlowAsAllAre(of, refusal)) {
          changed |= holdBack(of, refusal.row().key() + ": " + MySqlText.of(refusal.error()));
        } else if (refusal.error() instanceof NotOwnerException waits
            && waits.isPending()
            && !inVain.contains(refusal.row())) {
          undecided.add(new Undecided(refusal.row(), of.session(), waits.awaited()));
          changed = true;
        }
      }
      return changed;
    }
  }

  /** Then nothing is known against this row. */
  private boolean isSlowAsAllAre(OwnerRows of, RowRefusal refusal) {
    return ErrorKind.of(refusal.error()) == ErrorKind.SLOW && !isSlowByItself(of);
  }

  /** While nobody else commits, nobody shows that others pass. */
  private boolean isSlowByItself(OwnerRows of) {
    return wroteLately() || of.refusedForMillis() >= ALONE_MILLIS;
  }

  private boolean wroteLately() {
    return System.nanoTime() - writtenNanos < LATELY_NANOS;
  }

  private boolean isOutOfPatience(OwnerRows of) {
    return of.attempts() >= patience.attempts() && of.refusedForMillis() >= patience.millis();
  }

  /**
   * Whether an owner whose flush ends the connection has been tried for long enough, while others
   * were written.
   */
  public boolean isOutOfPatience(int attempts, long refusedForMillis) {
    return attempts >= patience.attempts()
        && refusedForMillis >= patience.millis()
        && wroteLately();
  }

  /** One try; null when it was rolled back and the plan changed. */
  private @Nullable Outcome inTransaction(Connection connection, Plan plan) throws SQLException {
    if (plan.owners.isEmpty() && plan.pending.isEmpty()) {
      return new Committed(List.of(), List.of(), plan.heldBack);
    }
    connection.setAutoCommit(false);
    try {
      Map<OwnerId, CountingSessions> durable =
          OwnerTable.lock(connection, plan.concerned(), plan.term);
      plan.notePending(connection, durable);
      Map<OwnerId, OwnerRows> owned = new LinkedHashMap<>();
      List<OwnerRows> notOwned = new ArrayList<>();
      List<RowChange> rows = new ArrayList<>();
      for (OwnerRows of : plan.owners) {
        if (CountingSessions.counts(durable.get(of.owner()), of.session())) {
          owned.put(of.owner(), of);
          rows.addAll(plan.rowsToWrite(of));
        } else {
          notOwned.add(of);
        }
      }
      Savepoint start = plan.lastResort ? connection.setSavepoint() : null;
      List<RowRefusal> refused = new ArrayList<>(plan.slow);
      refused.addAll(writes.write(connection, rows, durable, plan.kinds, plan.limits));
      List<RowRefusal> refusals = RowRefusal.withoutOutdated(connection, refused);
      List<Written> written =
          owned.values().stream().map(of -> plan.written(of, refusals)).toList();
      if (plan.changesFor(owned, refusals)) {
        connection.rollback();
        return null;
      }
      Table table = massRefusals.most(rows, refusals);
      if (table != null) {
        connection.rollback();
        return new TableRefused(table, mostRefused(table, refusals));
      }
      if (!setAside(connection, plan, written)) {
        connection.rollback();
        return null;
      }
      if (start != null) {
        connection.releaseSavepoint(start); // fails when an unknown error ended the transaction
      }
      connection.commit();
      if (written.stream()
          .anyMatch(of -> of.of().rows().size() > of.kept().size() && of.setAside().isEmpty())) {
        writtenNanos = System.nanoTime();
      }
      return new Committed(written, notOwned, plan.heldBack);
    } catch (SQLException | RuntimeException e) {
      // A lock wait timeout rolled back one statement, not the transaction.
      TransactionTries.rollBack(connection, e);
      throw e;
    }
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
  private boolean setAside(Connection connection, Plan plan, List<Written> written)
      throws SQLException {
    List<Refused> letters = written.stream().flatMap(of -> of.setAside().stream()).toList();
    Map<Refused, String> failed =
        DeadLetterTable.write(connection, letters, patience.deadLetters());
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
}
