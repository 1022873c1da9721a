package io.gameq.node;

import io.gameq.OwnerHeldException;
import io.gameq.OwnershipLostException;
import io.gameq.RedisUnavailableException;
import io.gameq.Takeover;
import io.gameq.node.ConnectionAfterHealing.Healed;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.HealedScript;
import io.gameq.redis.script.OpenOwners;
import io.gameq.redis.script.OpenScript;
import io.gameq.redis.script.OwnKey;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.Table;
import io.gameq.term.TermMovedException;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerViews;
import java.util.List;
import java.util.Objects;
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
public sealed interface Opening {
  /**
   * A Redis that is ahead of MySQL's epochs (after a MySQL failover) is caught up with in one
   * attempt; more means a race.
   */
  int MOST_ATTEMPTS = 3;

  /** The first state. */
  static Opening of(OwnerId owner, List<Table> tables, Takeover takeover) {
    return of(new Wanted(owner, tables, takeover, false));
  }

  /** The first state. */
  static Opening of(Wanted wanted) {
    return new Begun(new Attempt(wanted, 1, 0, null, null));
  }

  Attempt attempt();

  /**
   * The owner that is to be opened, and the tables of which its rows are read.
   *
   * @param asks whether who has it open is asked to close it
   */
  record Wanted(OwnerId owner, List<Table> tables, Takeover takeover, boolean asks) {
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
      Wanted of,
      int number,
      long atLeast,
      @Nullable SessionId session,
      @Nullable LostAdoption lost) {
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

    Begun again(long from, @Nullable LostAdoption rows) {
      return new Begun(new Attempt(of, number + 1, from, session, rows));
    }

    OwnershipLostException openedMeanwhile(SessionId owns) {
      return new OwnershipLostException(
          owner().id(), "session " + owns + " opened " + owner() + " at the same moment");
    }
  }

  /** A state with a step to take. */
  sealed interface UnderWay extends Opening {
    /** Takes the step; throws what an open throws, and the state is then the last one. */
    Opening next(OpeningPorts ports);

    /** Whether the session before still counts, so that the open may end here for nothing. */
    default boolean mayEnd() {
      return false;
    }
  }

  /** The epoch is not raised, or a further attempt is to be made. */
  record Begun(Attempt attempt) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      Healed by =
          ports
              .redis()
              .connect(
                  ports.slot(attempt.owner()),
                  attempt.owner(),
                  rows -> ports.views().requireReadable(OwnerViews.withoutDamaged(rows)));
      return new Connected(attempt, by);
    }

    @Override
    public boolean mayEnd() {
      return true;
    }
  }

  /** The connection that the attempt goes over is known. */
  record Connected(Attempt attempt, Healed by) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      OwnerId owner = attempt.owner();
      if (attempt.of().takeover() == Takeover.ALWAYS) {
        OpeningPorts.Here here = ports.here();
        SessionId raised =
            ports.owners().raise(owner, here.nonces().get(), here.node(), attempt.atLeast());
        return new Raised(attempt.with(raised), by);
      }
      CountingSessions seen = ports.owners().current(List.of(owner)).get(owner);
      SessionId mine = attempt.session();
      if (mine != null && (seen == null || !mine.equals(seen.newest()))) {
        throw openedElsewhere(owner);
      }
      return seen == null || mine != null
          ? new Free(attempt, by, seen)
          : new Seen(attempt, by, seen);
    }

    @Override
    public boolean mayEnd() {
      return true;
    }
  }

  /** The owner has sessions, and is to be left alone while their node is alive. */
  record Seen(Attempt attempt, Healed by, CountingSessions seen) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      OwnerId owner = attempt.owner();
      OpenOwners.Holder holder = ports.redis().holder(ports.slot(owner), owner, seen);
      if (holder != null) {
        if (attempt.of().asks()) {
          ports.redis().ask(owner, holder.session());
        }
        throw new OwnerHeldException(
            owner.id(),
            "%s is open %s: close it there, or open it with Takeover.ALWAYS"
                .formatted(owner, holder.where()));
      }
      return new Free(attempt, by, seen);
    }

    @Override
    public boolean mayEnd() {
      return true;
    }
  }

  /** Nobody has the owner open whose node is alive, or may be. */
  record Free(Attempt attempt, Healed by, @Nullable CountingSessions seen) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      OpeningPorts.Here here = ports.here();
      SessionId raised =
          ports
              .owners()
              .raiseAfter(
                  seen, attempt.owner(), here.nonces().get(), here.node(), attempt.atLeast());
      if (raised == null) {
        throw openedElsewhere(attempt.owner());
      }
      return new Raised(attempt.with(raised), by);
    }

    @Override
    public boolean mayEnd() {
      return true;
    }
  }

  /** MySQL has the session, as one that is opening; Redis does not know of it yet. */
  record Raised(Attempt attempt, Healed by) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      OwnerId owner = attempt.owner();
      SessionId session = attempt.raised();
      LostAdoption lost = attempt.lost();
      LostAdoption toPutBack = lost != null && lost.isFollowedBy(session) ? lost : null;
      long window = ports.here().mergeWindowMillis();
      OpenScript.Outcome outcome =
          toPutBack != null
              ? OpenScript.callBeforePutBack(by.redis(), ports.slot(owner), owner, session, window)
              : OpenScript.call(by.redis(), ports.slot(owner), owner, session, window);
      if (outcome instanceof OpenScript.Refused refused) {
        return new Refused(attempt, refused.ownedBy());
      }
      AdoptedRows rows = AdoptedRows.of((OpenScript.Opened) outcome);
      if (toPutBack == null) {
        return taken(attempt, by, rows);
      }
      List<EncodedRow> missing = toPutBack.missing(session, rows);
      return missing.isEmpty()
          ? new PutBack(attempt, by, rows)
          : new Missing(attempt, by, rows, missing);
    }

    @Override
    public boolean mayEnd() {
      return true;
    }
  }

  /** A newer session owns in Redis. */
  record Refused(Attempt attempt, SessionId ownedBy) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      OwnerId owner = attempt.owner();
      CountingSessions durable = ports.owners().current(List.of(owner)).get(owner);
      boolean hasMySqlLostIt = durable != null && attempt.raised().equals(durable.newest());
      if (!hasMySqlLostIt || attempt.isLast()) {
        throw attempt.openedMeanwhile(ownedBy);
      }
      return attempt.again(ownedBy.epoch() + 1, attempt.lost());
    }
  }

  /** The session owns, and does not have all that the attempt before had adopted. */
  record Missing(Attempt attempt, Healed by, AdoptedRows rows, List<EncodedRow> missing)
      implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      SessionRef session = ports.session(attempt.owner(), attempt.raised());
      CommitScript.putBack(by.redis(), ports.slot(session.owner()), session, missing);
      return new PutBack(attempt, by, rows.plusDirty(missing));
    }
  }

  /** Redis has all that the attempt before had adopted; nobody knows that yet. */
  record PutBack(Attempt attempt, Healed by, AdoptedRows rows) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      HealedScript.call(
          by.redis(),
          ports.here().slots(),
          List.of(ports.session(attempt.owner(), attempt.raised())));
      return taken(attempt, by, rows);
    }
  }

  /** The session owns in Redis. */
  record Taken(Attempt attempt, Healed by, AdoptedRows rows) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      SessionRef session = ports.session(attempt.owner(), attempt.raised());
      return new InWal(attempt, by, rows.inWal(ports.wal().append(session, rows.all())));
    }
  }

  /** The WAL of this node has what the session adopted. */
  record InWal(Attempt attempt, Healed by, AdoptedRows rows) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      Wanted of = attempt.of();
      try {
        OwnerView view =
            ports.views().load(of.owner(), attempt.raised(), by.term(), of.tables(), rows.seen());
        return new Loaded(attempt, by, rows, view);
      } catch (TermMovedException e) {
        if (attempt.isLast()) {
          throw e;
        }
        ports.wal().drop(ports.session(of.owner(), attempt.raised()));
        ports.redis().leave(by.term());
        return attempt.again(attempt.atLeast(), attempt.lost());
      }
    }
  }

  /**
   * MySQL has the session as open. Redis must still have it, over the very connection over which it
   * was told: else the session before may have gone on, and committed, until this one was set open;
   * what it left is for another attempt to adopt.
   */
  record Loaded(Attempt attempt, Healed by, AdoptedRows rows, OwnerView view) implements UnderWay {
    @Override
    public Opening next(OpeningPorts ports) {
      SessionId session = attempt.raised();
      SessionId owns = ownedBy(ports);
      if (session.equals(owns)) {
        return new Open(attempt, by, rows, view);
      }
      if (owns != null && owns.isNewerThan(session)) {
        throw attempt.openedMeanwhile(owns);
      }
      if (attempt.isLast()) {
        throw new RedisUnavailableException(
            "Redis lost session " + session + " while it was opened: try again");
      }
      ports.wal().drop(ports.session(attempt.owner(), session));
      return attempt.again(attempt.atLeast(), new LostAdoption(session, rows));
    }

    /** Null also when Redis does not answer. */
    private @Nullable SessionId ownedBy(OpeningPorts ports) {
      try {
        return OwnKey.session(by.redis(), ports.slot(attempt.owner()), attempt.owner());
      } catch (RedisUnavailableException e) {
        return null;
      }
    }
  }

  /** Redis and MySQL have the session; the node is to be told of it. */
  record Open(Attempt attempt, Healed by, AdoptedRows rows, OwnerView view) implements Opening {}

  private static Opening taken(Attempt attempt, Healed by, AdoptedRows rows) {
    return rows.all().isEmpty() ? new InWal(attempt, by, rows) : new Taken(attempt, by, rows);
  }

  /** What who asked for {@link Takeover#UNLESS_ALIVE} is told of a race. */
  static OwnerHeldException openedElsewhere(OwnerId owner) {
    return new OwnerHeldException(
        owner.id(), "%s was opened elsewhere at the same moment".formatted(owner));
  }
}
