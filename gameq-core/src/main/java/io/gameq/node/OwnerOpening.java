package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.Takeover;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.node.SessionAdoption.Opened;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.Table;
import io.gameq.view.OwnerViews;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Opens owners: drives an {@link Opening} to its end, one of an owner at a time, within the time of
 * a call. Thread-safe.
 */
final class OwnerOpening {
  private static final long WAIT_MILLIS = 1_000;

  /** Between two looks whether an owner that was asked for is free; doubled up to the last. */
  private static final long FIRST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  private static final long LAST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final Parts parts;
  private final Set<OwnerId> underWay = new HashSet<>();

  /** What owners are opened with. */
  record Parts(
      OpeningPorts.Here here,
      OwnerTable owners,
      OwnerViews views,
      PrimaryForOpens redis,
      SessionAdoption adoption,
      SessionClosing closing,
      NodeCalls calls,
      NodeState state) {}

  OwnerOpening(Parts parts) {
    this.parts = parts;
  }

  /** Throws as {@link io.gameq.GameQueue#open(String, Takeover)}. */
  Opened open(OwnerId owner, List<Table> of, Takeover takeover) {
    return open(new Opening.Wanted(owner, of, takeover, false));
  }

  private Opened open(Opening.Wanted wanted) {
    requireFit(wanted.owner(), wanted.tables());
    return parts
        .calls()
        .ofMySql(
            "opening " + wanted.owner(),
            isAwaited -> openInTurn(wanted, isAwaited),
            late -> parts.closing().release(late.tracker()));
  }

  /** Throws as {@link io.gameq.GameQueue#open(String, Takeover, Duration)}. */
  Opened openAfterAsking(OwnerId owner, List<Table> of, Takeover then, Duration ask) {
    Opening.Wanted asking = new Opening.Wanted(owner, of, Takeover.UNLESS_ALIVE, true);
    long deadline = System.nanoTime() + ask.toNanos();
    long wait = FIRST_LOOK_NANOS;
    while (true) {
      try {
        return open(asking);
      } catch (OwnerHeldException e) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          if (then == Takeover.UNLESS_ALIVE) {
            throw e;
          }
          return open(owner, of, then);
        }
        LockSupport.parkNanos(this, Math.min(left, wait));
        if (Thread.currentThread().isInterrupted()) {
          throw new GameQueueException("interrupted while " + owner + " was asked for", e);
        }
        wait = Math.min(2 * wait, LAST_LOOK_NANOS);
      }
    }
  }

  /** The same without waiting; the future ends on {@code on} with what {@code as} makes of it. */
  CompletableFuture<OwnerSession> start(
      OwnerId owner,
      List<Table> of,
      Takeover takeover,
      Function<Opened, NodeSession> as,
      Executor on) {
    requireFit(owner, of);
    return parts
        .calls()
        .startOfMySql(
            "opening " + owner,
            isAwaited ->
                as.apply(openInTurn(new Opening.Wanted(owner, of, takeover, false), isAwaited)),
            late -> parts.closing().release(NodeSession.of(late).tracker()),
            on);
  }

  /** Does the id fit? Nothing is written yet. */
  private void requireFit(OwnerId owner, List<Table> of) {
    parts.state().requireOpen();
    parts.state().requireAlive();
    of.forEach(table -> table.ownerColumnValue(owner));
  }

  /** An open that nobody waits for any more must not end the session of the next. */
  private Opened openInTurn(Opening.Wanted wanted, BooleanSupplier isAwaited) {
    OwnerId owner = wanted.owner();
    synchronized (underWay) {
      while (!underWay.add(owner)) {
        requireAwaited(owner, isAwaited);
        try {
          underWay.wait(WAIT_MILLIS);
        } catch (InterruptedException e) {
          throw new IllegalStateException(e); // nobody interrupts these threads
        }
      }
    }
    try {
      return drive(Opening.of(wanted), isAwaited);
    } finally {
      synchronized (underWay) {
        underWay.remove(owner);
        underWay.notifyAll();
      }
    }
  }

  private static void requireAwaited(OwnerId owner, BooleanSupplier isAwaited) {
    if (!isAwaited.getAsBoolean()) {
      throw new GameQueueException("nobody waits for the open of " + owner + " any more");
    }
  }

  private Opened drive(Opening from, BooleanSupplier isAwaited) {
    OwnerId owner = from.attempt().owner();
    OpeningPorts ports =
        new OpeningPorts(
            parts.here(),
            parts.owners(),
            parts.views(),
            parts.redis().awaitedBy(isAwaited),
            parts.adoption());
    Opening now = from;
    try {
      while (now instanceof Opening.UnderWay underWayNow) {
        if (underWayNow.mayEnd()) {
          requireAwaited(owner, isAwaited);
        }
        now = underWayNow.next(ports);
      }
      return parts
          .adoption()
          .register(ports.session(owner, now.attempt().raised()), (Opening.Open) now);
    } catch (RuntimeException e) {
      SessionId raised = now.attempt().session();
      if (raised != null) {
        giveUp(ports.session(owner, raised));
      }
      throw now.attempt().of().takeover() == Takeover.UNLESS_ALIVE
              && e instanceof OwnershipLostException
          ? Opening.openedElsewhere(owner)
          : e;
    }
  }

  /** Nobody holds the session of an open that failed: the owner is not to look taken by it. */
  private void giveUp(SessionRef session) {
    parts.adoption().drop(session);
    parts.closing().openFailed(session);
  }
}
