package io.gameq.writer.mysql;

import com.zaxxer.hikari.HikariDataSource;
import io.gameq.OwnerId;
import io.gameq.SessionId;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.Table;
import io.gameq.commit.CountingSessions;
import io.gameq.commit.VersionClock;
import io.gameq.mysql.DeadLetterTable;
import io.gameq.mysql.DeadLetterTable.Refused;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.GuardedWrites;
import io.gameq.mysql.HandoverTable;
import io.gameq.mysql.NotOwnerException;
import io.gameq.mysql.OwnerTable;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.RowRefusal;
import io.gameq.mysql.TableRefusedException;
import io.gameq.term.Term;
import io.gameq.term.TermMovedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The flush: one MySQL transaction that checks the sessions of all its owners, writes their rows,
 * and sets aside the rows that MySQL refuses. Thread-safe; each call takes a connection of its own.
 */
public final class FlushTransaction {
  private static final int MOST_TRIES = 10;

  /** Each lasts innodb_lock_wait_timeout. */
  private static final int MOST_LOCK_WAITS = 2;

  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final Set<ErrorKind> OF_ROWS = Set.of(ErrorKind.ROW, ErrorKind.CURABLE);
  private static final Set<ErrorKind> LAST_RESORT =
      Set.of(ErrorKind.ROW, ErrorKind.CURABLE, ErrorKind.UNKNOWN);

  private final DataSource dataSource;
  private final GuardedWrites writes;
  private final Patience patience;

  /**
   * When rows are given up.
   *
   * @param attempts how often an owner is tried, at least, before a row of it is set aside that
   *     another flush may yet make fit, or whose error is not known
   * @param millis how long it is tried, at least
   * @param halfMillis how long after its commit a row at most waits in Redis for the other half of
   *     a handover, when that may still come: its owner's other rows are flushed meanwhile
   * @param deadLetters most rows set aside in the whole database; at the limit owners with refused
   *     rows wait in Redis
   */
  public record Patience(int attempts, long millis, long halfMillis, int deadLetters) {}

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
   * MySQL is away, read-only or locked; nothing was written, or a COMMIT was lost: flushing again
   * is safe.
   */
  public record Outage(String reason) implements Outcome {}

  /**
   * The rows were claimed from a Redis primary that does not count any more; nothing was written.
   */
  public record Demoted(String reason) implements Outcome {}

  /** A table or a column is missing or closed to us; nothing was written. */
  public record TableRefused(Table table, String reason) implements Outcome {}

  /** Somebody holds a lock on a row for long; nothing was written. */
  public record Locked(String reason) implements Outcome {}

  /** An error that gameq does not know; nothing was written. */
  public record Failed(String reason) implements Outcome {}

  public FlushTransaction(DataSource dataSource, GuardedWrites writes, Patience patience) {
    this.dataSource = dataSource;
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
    Plan plan = new Plan(term, new ArrayList<>(owners));
    int tries = 0;
    int lockWaits = 0;
    while (true) {
      plan.decide(halves);
      Connection connection;
      try {
        connection = dataSource.getConnection();
      } catch (SQLException e) {
        return new Outage(String.valueOf(e.getMessage()));
      }
      try (connection) {
        Outcome outcome = inTransaction(connection, plan);
        if (outcome != null) {
          return outcome;
        }
      } catch (TermMovedException e) {
        return new Demoted(String.valueOf(e.getMessage()));
      } catch (TableRefusedException e) {
        return new TableRefused(e.table(), String.valueOf(e.getMessage()));
      } catch (SQLException e) {
        switch (ErrorKind.of(e)) {
          case TRY_AGAIN -> {
            lockWaits += e.getErrorCode() == LOCK_WAIT_TIMEOUT ? 1 : 0;
            if (++tries == MOST_TRIES || lockWaits == MOST_LOCK_WAITS) {
              return new Locked(String.valueOf(e.getMessage()));
            }
            Tries.pauseAfter(tries);
          }
          case OUTAGE, SCHEMA -> { // of one of gameq's own tables
            evict(connection);
            return new Outage(String.valueOf(e.getMessage()));
          }
          default -> {
            return new Failed(String.valueOf(e.getMessage()));
          }
        }
      }
    }
  }

  /** The connection may lead to a server that was demoted: the next one is looked up afresh. */
  private void evict(Connection connection) {
    if (dataSource instanceof HikariDataSource pool) {
      pool.evictConnection(connection);
    }
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

    private final boolean lastResort;

    Plan(long term, List<OwnerRows> owners) {
      this.term = term;
      this.owners = owners;
      this.lastResort = owners.size() == 1 && isOutOfPatience(owners.get(0));
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
          kept.add(row);
          pending.put(row, of.session());
        } else {
          inVain.add(row);
        }
      }
      undecided.clear();
    }

    /** The rows of an owner to write: without those that are kept, whose handovers are noted. */
    List<RowChange> rowsToWrite(OwnerRows of) {
      return kept.isEmpty()
          ? of.rows()
          : of.rows().stream().filter(row -> !kept.contains(row)).toList();
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
        if (!isOutOfPatience(of)) {
          changed |= holdBack(of, refusal.row().key() + ": " + refusal.error().getMessage());
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

  private boolean isOutOfPatience(OwnerRows of) {
    return of.attempts() >= patience.attempts() && of.refusedForMillis() >= patience.millis();
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
      List<RowRefusal> refusals =
          RowRefusal.withoutOutdated(
              connection,
              writes.write(connection, rows, durable, plan.lastResort ? LAST_RESORT : OF_ROWS));
      List<Written> written =
          owned.values().stream().map(of -> plan.written(of, refusals)).toList();
      if (plan.changesFor(owned, refusals) || !setAside(connection, plan, written)) {
        connection.rollback();
        return null;
      }
      if (start != null) {
        connection.releaseSavepoint(start); // fails when an unknown error ended the transaction
      }
      connection.commit();
      return new Committed(written, notOwned, plan.heldBack);
    } catch (SQLException | RuntimeException e) {
      // A lock wait timeout rolled back one statement, not the transaction.
      Tries.rollBack(connection, e);
      throw e;
    }
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
