package io.gameq.upkeep;

import io.gameq.owner.SessionRef;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How often the sender heals again because rows of a session are nowhere: a healing stops all
 * commits for a moment, and does not help where somebody else broke a key. Used by one thread.
 */
final class HealingLimit {
  private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int MOST_DOUBLINGS = 7; // about an hour
  private static final int MOST_SESSIONS = 10_000;

  private final LongSupplier nanoTime;
  private final Map<SessionRef, Last> ofSession = new HashMap<>();
  private long lastNanos;

  private record Last(long nanos, int times) {}

  HealingLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    lastNanos = nanoTime.getAsLong() - EVERY_NANOS;
  }

  /**
   * Whether to heal for a session: for any every 30 s at most, for the same one after twice as long
   * each time.
   */
  boolean isDue(SessionRef session) {
    long now = nanoTime.getAsLong();
    Last last = ofSession.get(session);
    if (now - lastNanos < EVERY_NANOS
        || (last != null
            && now - last.nanos < EVERY_NANOS << Math.min(last.times, MOST_DOUBLINGS))) {
      return false;
    }
    lastNanos = now;
    if (ofSession.size() >= MOST_SESSIONS) {
      ofSession.clear();
    }
    ofSession.put(session, new Last(now, last == null ? 1 : last.times + 1));
    return true;
  }

  /** All its rows are somewhere. */
  void isWell(SessionRef session) {
    ofSession.remove(session);
  }
}
