package io.gameq.node;

import io.gameq.OwnerHeldException;
import io.gameq.OwnershipLostException;
import io.gameq.RedisUnavailableException;
import io.gameq.config.Takeover;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.NodeSigns.OpenOwners;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.Table;
import io.gameq.term.Term.TermMovedException;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerViews;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The open of one owner, between two of its steps: what it knows by then. Immutable; each step is
 * one operation of one server, and returns the next state.
 *
 * <pre>
 * state       its step                                                          then
 * Begun       waits until the node has healed; what Redis holds must be readable Connected
 * Connected   raises the epoch in MySQL                                          Raised
 *               unless the owner is open elsewhere: reads its sessions           Seen or Free
 * Seen        asks Redis whether the node that has the owner is alive            Free
 * Free        raises the epoch in MySQL if the sessions are still those          Raised
 * Raised      open.lua: the session owns, and adopts what is unflushed           Taken, Missing,
 *                                                                                InWal or Refused
 * Refused     a newer session owns in Redis: asks MySQL whether that is lost     Begun, higher
 * Missing     puts back what an attempt before had adopted, and Redis lost since PutBack
 * PutBack     healed.lua: nothing of that is still to come                       Taken or InWal
 * Taken       appends the adopted rows to this node's WAL                        InWal
 * InWal       sets the session open and reads MySQL, in one snapshot             Loaded, or Begun
 * Loaded      GET own: does Redis still have the session?                        Open, or Begun
 * Open        nothing is left to do on a server
 * </pre>
 *
 * <p>The connection is taken before the epoch is raised, and an attempt ends with it: a writer may
 * have finished the open and flush under its epoch what Redis lost since; only a new epoch stops
 * that flush. Until open.lua has run, the session before this one still counts, and an open that
 * ends dethrones nobody. A process that dies in an open leaves a session that is opening; a writer
 * finishes it.
 */
public sealed interface OpenState {
  /**
   * A Redis that is ahead of MySQL's epochs (after a MySQL failover) is caught up with in one
   * attempt; more means a race.
   */
  int MOST_ATTEMPTS = 3;

  /** The first state. */
  static OpenState of(OpenRequest wanted) {
    return of(wanted, null);
  }

  /** The same after an open that failed: what was {@link #unfinished} then is put back. */
  static OpenState of(OpenRequest wanted, @Nullable Lost lost) {
    return new Begun(new Attempt(wanted, 1, 0, null, lost));
  }

  Attempt attempt();

  /**
   * What the next open has to put back when this one ends here: MySQL may have its session open, so
   * that the session from which it had adopted counts no more. Null when there is nothing.
   */
  default @Nullable Lost unfinished() {
    Attempt attempt = attempt();
    if (this instanceof RowsInWal at) {
      return at.rows().all().isEmpty() ? null : new Lost(attempt.raised(), at.rows());
    }
    Lost lost = attempt.lost;
    SessionId raised = attempt.session;
    if (lost == null || lost.rows.all().isEmpty()) {
      return null;
    }
    return raised != null && lost.isFollowedBy(raised) ? new Lost(raised, lost.rows) : lost;
  }

  /**
   * The owner that is to be opened, and the tables of which its rows are read.
   *
   * @param asks whether who has it open is asked to close it
   */
  record OpenRequest(OwnerId owner, List<Table> tables, Takeover takeover, boolean asks) {
    @Override
    public String toString() {
      return owner + " " + takeover;
    }
  }

  /**
   * One of the attempts of an open.
   *
   * @param number from 1 on
   * @param atLeast the lowest epoch that its session may have
   * @param session the newest session that this open has raised; null when there is none yet
   * @param lost what the attempt before had adopted when Redis lost its session; null for nothing
   */
  record Attempt(
      OpenRequest of, int number, long atLeast, @Nullable SessionId session, @Nullable Lost lost) {
    OwnerId owner() {
      return of.owner();
    }

    boolean isLast() {
      return number == MOST_ATTEMPTS;
    }

    public SessionId raised() {
      return Objects.requireNonNull(session, "an epoch is raised first");
    }

    Attempt with(SessionId raised) {
      return new Attempt(of, number, atLeast, raised, lost);
    }

    Begun again(long from, @Nullable Lost rows) {
      return new Begun(new Attempt(of, number + 1, from, session, rows));
    }

    OwnershipLostException openedMeanwhile(SessionId owns) {
      return new OwnershipLostException(
          owner().id(), "session " + owns + " opened " + owner() + " at the same moment");
    }
  }

  /**
   * Where this node has healed.
   *
   * @param connections {@link io.gameq.commit.CommitSender#connections} from before that
   * @param term the number of the primary's term, as this node knew it before that
   */
  record Healed(RedisConnection redis, long connections, long term) {
    @Override
    public String toString() {
      return "after " + connections + " connections, in term " + term;
    }
  }

  /** The node that opens, with what one open asks of servers and of the node's WAL. */
  abstract class Node {
    private final String name;
    private final SlotKeys[] slots;
    private final long mergeWindowMillis;
    private final OwnerTable owners;
    private final OwnerViews views;

    protected Node(
        String name,
        SlotKeys[] slots,
        long mergeWindowMillis,
        OwnerTable owners,
        OwnerViews views) {
      this.name = name;
      this.slots = slots;
      this.mergeWindowMillis = mergeWindowMillis;
      this.owners = owners;
      this.views = views;
    }

    SessionRef session(OwnerId owner, SessionId session) {
      return new SessionRef(owner, session, owner.slot(slots.length));
    }

    /** Takes the step; throws what an open throws, and the state is then the last one. */
    public final OpenState step(PendingOpen now) {
      Attempt attempt = now.attempt();
      OwnerId owner = attempt.owner();
      SlotKeys slot = slots[owner.slot(slots.length)];
      if (now instanceof Begun) {
        return new Connected(
            attempt,
            connect(slot, owner, rows -> views.requireReadable(OwnerViews.withoutDamaged(rows))));
      }
      if (now instanceof Connected at) {
        return choose(attempt, at.by);
      }
      if (now instanceof Seen at) {
        OpenOwners.Holder holder = holder(slot, owner, at.seen);
        if (holder == null) {
          return new Free(attempt, at.by, at.seen);
        }
        tellHolder(owner, holder.session(), attempt.of.asks);
        throw new OwnerHeldException(
            owner.id(),
            "%s is open %s: close it there, or open it with Takeover.ALWAYS"
                .formatted(owner, holder.where()));
      }
      if (now instanceof Free at) {
        SessionId raised = owners.raiseAfter(at.seen, owner, nonce(), name, attempt.atLeast);
        if (raised == null) {
          throw openedElsewhere(owner);
        }
        return new Raised(attempt.with(raised), at.by);
      }
      SessionRef session = session(owner, attempt.raised());
      if (now instanceof Raised at) {
        return take(attempt, at.by, slot, session.id());
      }
      if (now instanceof Refused at) {
        CountingSessions durable = owners.current(List.of(owner)).get(owner);
        boolean hasMySqlLostIt = durable != null && session.id().equals(durable.newest());
        if (!hasMySqlLostIt || attempt.isLast()) {
          throw attempt.openedMeanwhile(at.ownedBy);
        }
        return attempt.again(at.ownedBy.epoch() + 1, attempt.lost);
      }
      if (now instanceof Missing at) {
        CommitScript.putBack(at.by.redis, slots, session, at.missing);
        return new Restored(attempt, at.by, at.rows.plusDirty(at.missing));
      }
      if (now instanceof Restored at) {
        SessionScripts.healed(at.by.redis, slots, List.of(session));
        return taken(attempt, at.by, at.rows);
      }
      if (now instanceof Taken at) {
        return new InWal(attempt, at.by, at.rows.inWal(append(session, at.rows.all())));
      }
      if (now instanceof InWal at) {
        try {
          OwnerView view =
              views.load(
                  owner,
                  session.id(),
                  at.by.term,
                  at.rows.newest(),
                  attempt.of.tables,
                  at.rows.seen());
          return new Loaded(attempt, at.by, at.rows, view);
        } catch (TermMovedException e) {
          if (attempt.isLast()) {
            throw e;
          }
          drop(session);
          leave(at.by.term);
          return attempt.again(attempt.atLeast, attempt.lost);
        }
      }
      return confirm((Loaded) now, slot, session);
    }

    private OpenState choose(Attempt attempt, Healed by) {
      OwnerId owner = attempt.owner();
      if (attempt.of.takeover == Takeover.ALWAYS) {
        return new Raised(attempt.with(owners.raise(owner, nonce(), name, attempt.atLeast)), by);
      }
      CountingSessions seen = owners.current(List.of(owner)).get(owner);
      SessionId mine = attempt.session;
      if (mine != null && (seen == null || !mine.equals(seen.newest()))) {
        throw openedElsewhere(owner);
      }
      return seen == null || mine != null
          ? new Free(attempt, by, seen)
          : new Seen(attempt, by, seen);
    }

    private OpenState take(Attempt attempt, Healed by, SlotKeys slot, SessionId session) {
      Lost lost = attempt.lost;
      Lost toPutBack = lost != null && lost.isFollowedBy(session) ? lost : null;
      SessionScripts.Outcome outcome =
          SessionScripts.open(
              by.redis, slot, attempt.owner(), session, mergeWindowMillis, toPutBack != null);
      if (outcome instanceof SessionScripts.Refused refused) {
        return new Refused(attempt, refused.ownedBy());
      }
      AdoptedRows rows = AdoptedRows.of((SessionScripts.Opened) outcome);
      if (toPutBack == null) {
        return taken(attempt, by, rows);
      }
      List<EncodedRow> missing = toPutBack.rows.missingFrom(rows);
      return missing.isEmpty()
          ? new Restored(attempt, by, rows)
          : new Missing(attempt, by, rows, missing);
    }

    private static OpenState taken(Attempt attempt, Healed by, AdoptedRows rows) {
      return rows.all().isEmpty() ? new InWal(attempt, by, rows) : new Taken(attempt, by, rows);
    }

    private OpenState confirm(Loaded at, SlotKeys slot, SessionRef session) {
      Attempt attempt = at.attempt;
      SessionId owns;
      try {
        owns = SessionScripts.session(at.by.redis, slot, session.owner());
      } catch (RedisUnavailableException e) {
        owns = null;
      }
      if (session.id().equals(owns)) {
        return new Open(attempt, at.by, at.rows, at.view);
      }
      if (owns != null && owns.isNewerThan(session.id())) {
        throw attempt.openedMeanwhile(owns);
      }
      if (attempt.isLast()) {
        throw new RedisUnavailableException(
            "Redis lost session " + session.id() + " while it was opened: try again");
      }
      drop(session);
      return attempt.again(attempt.atLeast, new Lost(session.id(), at.rows));
    }

    /** A new one for each session. */
    protected abstract String nonce();

    /**
     * The connection for one attempt, once this node has healed there, through which the owner's
     * unflushed rows were looked at; throws when that fails, and what {@code look} throws.
     */
    protected abstract Healed connect(
        SlotKeys slot, OwnerId owner, Consumer<List<EncodedRow>> look);

    /** Where the owner is open, here or on a node that is alive or may be; null for nowhere. */
    protected abstract OpenOwners.@Nullable Holder holder(
        SlotKeys slot, OwnerId owner, CountingSessions durable);

    /**
     * Tells the node that has the owner open of this open: a node that has no such session says so
     * to Redis.
     *
     * @param asks whether it is asked to close the session
     */
    protected abstract void tellHolder(OwnerId owner, SessionId session, boolean asks);

    /** The primary of this term was demoted: the node leaves it. */
    protected abstract void leave(long term);

    /**
     * Appends rows that a session adopted to the WAL; returns the sequence of each row's record,
     * which is kept until the session is registered or dropped.
     */
    protected abstract List<Long> append(SessionRef session, List<EncodedRow> rows);

    /** The session is not opened: what was appended for it is not needed. */
    protected abstract void drop(SessionRef session);
  }

  /**
   * The unflushed rows that an open adopted, and the WAL records that have them. Immutable.
   *
   * @param dirty rows that are now under the session
   * @param claimed rows that a writer is flushing
   * @param sequences the WAL record of each row, those of {@code dirty} first; empty before they
   *     were appended
   * @param sent rows that were sent to the owner: seen, and not adopted
   */
  record AdoptedRows(
      List<EncodedRow> dirty,
      List<EncodedRow> claimed,
      List<Long> sequences,
      List<EncodedRow> sent) {
    /** What the script returned, without rows that are damaged: writers set those aside. */
    static AdoptedRows of(SessionScripts.Opened script) {
      return new AdoptedRows(
          OwnerViews.withoutDamaged(script.dirty()),
          OwnerViews.withoutDamaged(script.claimed()),
          List.of(),
          OwnerViews.withoutDamaged(script.sent()));
    }

    /** All that a view shows. */
    List<EncodedRow> seen() {
      List<EncodedRow> all = all();
      all.addAll(sent);
      return all;
    }

    /** The highest version of those adopted, 0 for none. */
    long newest() {
      return all().stream().mapToLong(EncodedRow::version).reduce(0, Math::max);
    }

    /** Those that are adopted, in the order of the sequences. */
    public List<EncodedRow> all() {
      List<EncodedRow> all = new ArrayList<>(dirty);
      all.addAll(claimed);
      return all;
    }

    /** These rows are dirty now, in place of what was in older versions. */
    AdoptedRows plusDirty(List<EncodedRow> rows) {
      Map<String, EncodedRow> byKey = new HashMap<>();
      dirty.forEach(row -> byKey.put(row.key(), row));
      rows.forEach(row -> byKey.put(row.key(), row));
      return new AdoptedRows(List.copyOf(byKey.values()), claimed, List.of(), sent);
    }

    /** Those that {@code there} has not, or in older versions. */
    List<EncodedRow> missingFrom(AdoptedRows there) {
      Map<String, EncodedRow> held = new HashMap<>();
      there.all().forEach(row -> held.merge(row.key(), row, AdoptedRows::newer));
      List<EncodedRow> missing = new ArrayList<>();
      for (EncodedRow row : all()) {
        if (held.merge(row.key(), row, AdoptedRows::newer).equals(row)) {
          missing.add(row);
        }
      }
      return missing;
    }

    /** The first when both are of one version. */
    private static EncodedRow newer(EncodedRow one, EncodedRow other) {
      return other.version() > one.version() ? other : one;
    }

    AdoptedRows inWal(List<Long> records) {
      return new AdoptedRows(dirty, claimed, records, sent);
    }

    /** The newest version of each row. */
    Map<String, Long> versions() {
      Map<String, Long> versions = new HashMap<>();
      all().forEach(row -> versions.merge(row.key(), row.version(), Math::max));
      return versions;
    }

    /** Keys, versions and records. */
    @Override
    public String toString() {
      return "dirty " + named(dirty) + " claimed " + named(claimed) + " in WAL " + sequences;
    }

    private static List<String> named(List<EncodedRow> rows) {
      return rows.stream().map(row -> row.key() + "@" + row.version()).toList();
    }
  }

  /** What an attempt had adopted when Redis lost its session, and perhaps the rows. */
  record Lost(SessionId session, AdoptedRows rows) {
    /**
     * Whether nobody opened the owner between this attempt and the next: else that session has gone
     * on without these rows, and they are a conflict with it.
     */
    boolean isFollowedBy(SessionId next) {
      return next.epoch() == session.epoch() + 1;
    }
  }

  /** A state with a step to take: see {@link Node#step}. */
  sealed interface PendingOpen extends OpenState {
    /** Whether the session before still counts, so that the open may end here for nothing. */
    default boolean mayEnd() {
      return this instanceof Begun
          || this instanceof Connected
          || this instanceof Seen
          || this instanceof Free
          || this instanceof Raised;
    }
  }

  /** A state whose session MySQL may have open, with what that adopted. */
  sealed interface RowsInWal extends OpenState {
    AdoptedRows rows();
  }

  /** The epoch is not raised, or a further attempt is to be made. */
  record Begun(Attempt attempt) implements PendingOpen {}

  /** The connection that the attempt goes over is known. */
  record Connected(Attempt attempt, Healed by) implements PendingOpen {}

  /** The owner has sessions, and is to be left alone while their node is alive. */
  record Seen(Attempt attempt, Healed by, CountingSessions seen) implements PendingOpen {}

  /** Nobody has the owner open whose node is alive, or may be. */
  record Free(Attempt attempt, Healed by, @Nullable CountingSessions seen) implements PendingOpen {}

  /** MySQL has the session, as one that is opening; Redis does not know of it yet. */
  record Raised(Attempt attempt, Healed by) implements PendingOpen {}

  /** A newer session owns in Redis. */
  record Refused(Attempt attempt, SessionId ownedBy) implements PendingOpen {}

  /** The session owns, and does not have all that the attempt before had adopted. */
  record Missing(Attempt attempt, Healed by, AdoptedRows rows, List<EncodedRow> missing)
      implements PendingOpen {}

  /** Redis has all that the attempt before had adopted; nobody knows that yet. */
  record Restored(Attempt attempt, Healed by, AdoptedRows rows) implements PendingOpen {}

  /** The session owns in Redis. */
  record Taken(Attempt attempt, Healed by, AdoptedRows rows) implements PendingOpen {}

  /** The WAL of this node has what the session adopted. */
  record InWal(Attempt attempt, Healed by, AdoptedRows rows) implements PendingOpen, RowsInWal {}

  /**
   * MySQL has the session as open. Redis must still have it, over the very connection over which it
   * was told: else the session before may have gone on, and committed, until this one was set open;
   * what it left is for another attempt to adopt.
   */
  record Loaded(Attempt attempt, Healed by, AdoptedRows rows, OwnerView view)
      implements PendingOpen, RowsInWal {}

  /** Redis and MySQL have the session; the node is to be told of it. */
  record Open(Attempt attempt, Healed by, AdoptedRows rows, OwnerView view) implements RowsInWal {}

  /** What who asked for {@link Takeover#UNLESS_ALIVE} is told of a race. */
  static OwnerHeldException openedElsewhere(OwnerId owner) {
    return new OwnerHeldException(
        owner.id(), "%s was opened elsewhere at the same moment".formatted(owner));
  }
}
