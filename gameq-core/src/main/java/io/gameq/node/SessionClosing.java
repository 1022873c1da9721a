package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.durability.DurableTracker;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.SessionScripts;
import io.gameq.upkeep.NodeUpkeep.ClosedSessionNotices;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives sessions up, and has what is dirty flushed soon. Thread-safe. */
final class SessionClosing implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SessionClosing.class);

  private static final int MOST_ASIDES = 1_000;

  private final GameNode node;
  private final ClosedSessionNotices notices;

  /** For what nobody waits for; what there is no room for is not done. */
  private final ExecutorService asides = DaemonThreads.bounded("gameq-asides", MOST_ASIDES);

  SessionClosing(GameNode node, ClosedSessionNotices notices) {
    this.node = node;
    this.notices = notices;
  }

  /**
   * Gives a session up once Redis has all of it. Throws GameQueueException when it has not by then;
   * the session is given up all the same, as soon as it has.
   */
  void close(DurableTracker tracker, long deadlineNanos) {
    SessionRef session = tracker.session();
    release(tracker);
    try {
      if (!tracker.awaitQueued(deadlineNanos)) {
        throw new GameQueueException(
            "not known within %s ms that Redis has all of session %s; it is sent on"
                .formatted(node.calls.timeout.toMillis(), session));
      }
      long left = deadlineNanos - System.nanoTime();
      if (left > 0) { // else it is told soon
        boolean unused =
            node.calls.ofRedis(
                "closing " + session.owner(), left, isAwaited -> notices.tell(session));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The owner is free once Redis has what was committed. */
  void release(DurableTracker tracker) {
    node.sessions.close(tracker);
    notices.add(tracker.session(), tracker::isQueued);
    node.sessions.forgetDrained(node.sender::unregister);
  }

  /** Nobody holds a session whose open failed. */
  void openFailed(SessionRef session) {
    notices.addFailed(session);
    asides.execute(notices::tell);
  }

  /** Makes what is dirty due soon; best effort. Returns at once: Redis may be silent. */
  void flushNow(List<SessionRef> of) {
    asides.execute(
        () -> {
          try {
            node.servers
                .control()
                .call(
                    redis -> {
                      SessionScripts.flushNow(redis, node.servers.slots(), of);
                      return true;
                    });
          } catch (GameQueueException e) {
            LOG.debug("cannot pull flushes forward: {}", e.getMessage());
          }
        });
  }

  /** Waits until Redis has all of these, then MySQL; until the time is up, or an interrupt. */
  void awaitDurable(List<DurableTracker> of, Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    try {
      for (DurableTracker tracker : of) {
        tracker.awaitQueued(deadline);
      }
      flushNow(of.stream().map(DurableTracker::session).toList());
      for (DurableTracker tracker : of) {
        tracker.awaitDurable(deadline);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    asides.shutdown();
    try {
      if (!asides.awaitTermination(5, TimeUnit.SECONDS)) {
        asides.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
