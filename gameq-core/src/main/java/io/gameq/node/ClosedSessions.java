package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.commit.CommitSender;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.SessionScripts;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives sessions up, and has what is dirty flushed soon. Tells Redis of sessions that were closed,
 * or whose open failed, so that their owners do not look taken. Thread-safe.
 *
 * <p>While Redis does not answer they wait here; a process that is killed meanwhile tells nobody,
 * and its owners look taken until its sign of life has expired.
 */
final class ClosedSessions implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClosedSessions.class);

  private static final int MOST_TASKS = 1_000;

  /** Longer than a replica that may be promoted lags behind. */
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final NodeServers servers;
  private final NodeSessions sessions;
  private final CommitSender sender;
  private final NodeCalls calls;
  private final RepeatedWarnings complaints = new RepeatedWarnings(60);

  /** Sessions that Redis was not told of, and whether it has all of their commits. */
  private final Map<SessionRef, BooleanSupplier> untold = new ConcurrentHashMap<>();

  private final Map<SessionRef, Long> toldNanos = new ConcurrentHashMap<>();

  /** For what nobody waits for; what there is no room for is not done. */
  private final ExecutorService tasks = DaemonThreads.bounded("gameq-asides", MOST_TASKS);

  ClosedSessions(NodeServers servers, NodeSessions sessions, CommitSender sender, NodeCalls calls) {
    this.servers = servers;
    this.sessions = sessions;
    this.sender = sender;
    this.calls = calls;
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
                .formatted(calls.timeout.toMillis(), session));
      }
      long left = deadlineNanos - System.nanoTime();
      if (left > 0) { // else it is told soon
        boolean unused =
            calls.ofRedis("closing " + session.owner(), left, isAwaited -> tell(session));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The owner is free once Redis has what was committed. */
  void release(DurableTracker tracker) {
    sessions.close(tracker);
    untold.put(tracker.session(), tracker::isQueued);
    sessions.forgetDrained(sender::unregister);
  }

  /**
   * Nobody holds a session whose open failed. Where Redis learns of it later, by a request that is
   * late or by a writer, the next open that is refused for it has this told again.
   */
  void openFailed(SessionRef session) {
    untold.put(session, () -> true);
    tasks.execute(this::tell);
  }

  /** Redis may have forgotten what it was told lately. */
  void tellAgain() {
    toldNanos.keySet().forEach(session -> untold.put(session, () -> true));
    sessions.closed().stream()
        .filter(tracker -> !tracker.session().isInbox())
        .forEach(tracker -> untold.put(tracker.session(), tracker::isQueued));
  }

  /** Tells Redis of those that it was not told of; to be called every second or so. */
  void tell() {
    long now = System.nanoTime();
    toldNanos.values().removeIf(told -> now - told > KEPT_NANOS);
    for (Map.Entry<SessionRef, BooleanSupplier> one : untold.entrySet()) {
      if (one.getValue().getAsBoolean() && !tell(one.getKey())) {
        return;
      }
    }
  }

  /** False when Redis does not answer. */
  private boolean tell(SessionRef of) {
    try {
      boolean unused =
          servers
              .control()
              .call(
                  redis ->
                      SessionScripts.close(redis, servers.slots()[of.slot()], of.owner(), of.id()));
    } catch (RedisUnavailableException e) {
      LOG.debug("Redis is not told yet that session {} is closed: {}", of, e.getMessage());
      return false;
    } catch (GameQueueException e) { // its keys are broken, or this is no primary just now
      complaints.about(
          "untold",
          LOG::warn,
          () -> "cannot tell Redis that session %s is closed: %s".formatted(of, e.getMessage()));
      return true;
    }
    untold.remove(of);
    toldNanos.put(of, System.nanoTime());
    return true;
  }

  /** Makes what is dirty due soon; best effort. Returns at once: Redis may be silent. */
  void flushNow(List<SessionRef> of) {
    tasks.execute(
        () -> {
          try {
            servers.call(redis -> SessionScripts.flushNow(redis, servers.slots(), of));
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
    tasks.shutdown();
    try {
      if (!tasks.awaitTermination(5, TimeUnit.SECONDS)) {
        tasks.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
