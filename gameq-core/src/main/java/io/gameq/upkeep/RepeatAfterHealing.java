package io.gameq.upkeep;

import io.gameq.agent.Agent;
import io.gameq.durability.NodeSessions;
import io.gameq.redis.DurableNotices;

/**
 * After the sender has healed, repeats what an old Redis server may keep to itself: it may still
 * hold the subscription to notices, and nobody publishes there; and sessions that were re-asserted
 * are to end again. The upkeep's thread does the work; {@link #healed} is for any thread.
 */
public final class RepeatAfterHealing implements Agent {
  private final DurableNotices notices;
  private final ClosedSessionNotices closed;
  private final NodeSessions sessions;
  private final SentRowsTelling sent;
  private final Runnable wake;
  private volatile boolean isDue;

  /** Wakes whoever runs it when it has work. */
  public RepeatAfterHealing(
      DurableNotices notices,
      ClosedSessionNotices closed,
      NodeSessions sessions,
      SentRowsTelling sent,
      Runnable wake) {
    this.notices = notices;
    this.closed = closed;
    this.sessions = sessions;
    this.sent = sent;
    this.wake = wake;
  }

  /** The sender has healed. */
  public void healed() {
    isDue = true;
    wake.run();
  }

  @Override
  public String name() {
    return "repeat after a healing what Redis is to know";
  }

  @Override
  public int doWork() {
    if (!isDue) {
      return 0;
    }
    isDue = false; // first: the next healing may end at this moment
    notices.close(); // the upkeep subscribes again
    closed.tellAgain();
    sessions.closed().stream()
        .filter(tracker -> !tracker.session().isInbox())
        .forEach(tracker -> closed.add(tracker.session(), tracker::isQueued));
    sent.lookAll();
    return 1;
  }

  @Override
  public long idleNanos() {
    return isDue ? 0 : Long.MAX_VALUE;
  }
}
