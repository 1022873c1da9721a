package io.gameq.writer.turn;

import io.gameq.owner.OwnerId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Owners that may hold up whoever is flushed with them: a row of theirs is locked, or takes MySQL
 * long. They are flushed apart until they pass. Thread-safe.
 */
public final class HeldUpOwners {
  /** Who is forgotten for want of room is found again by the next flush that he holds up. */
  private static final int MOST = 10_000;

  private static final long FIRST_DELAY_MILLIS = 500;
  private static final int MOST_DOUBLINGS = 5;

  private final Map<OwnerId, Suspect> suspects =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<OwnerId, Suspect> eldest) {
          return size() > MOST;
        }
      };

  private static final class Suspect {
    private int lockWaits;
    private int breaks;
    private long notBeforeNanos = System.nanoTime();
  }

  private Suspect of(OwnerId owner) {
    return suspects.computeIfAbsent(owner, one -> new Suspect());
  }

  /** He was in a flush that was held up. */
  synchronized void add(OwnerId owner) {
    Suspect unused = of(owner);
  }

  synchronized boolean contains(OwnerId owner) {
    return suspects.containsKey(owner);
  }

  /** He was flushed. */
  synchronized void remove(OwnerId owner) {
    suspects.remove(owner);
  }

  /** He waited for a lock in vain; returns how long to leave him alone, ms: 16 s in the end. */
  synchronized long delayMillis(OwnerId owner) {
    Suspect of = of(owner);
    long longest = FIRST_DELAY_MILLIS << Math.min(of.lockWaits++, MOST_DOUBLINGS);
    long delay = longest / 2 + ThreadLocalRandom.current().nextLong(longest / 2 + 1);
    of.notBeforeNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delay);
    return delay;
  }

  /**
   * For how long he is still to be left alone, ms, whatever he has committed since; 0 if he is not.
   */
  synchronized long pausedMillis(OwnerId owner) {
    Suspect of = suspects.get(owner);
    return of == null
        ? 0
        : Math.max(0, TimeUnit.NANOSECONDS.toMillis(of.notBeforeNanos - System.nanoTime()));
  }

  /** How often in a row the connection broke when he was flushed alone. */
  synchronized int breaks(OwnerId owner, boolean broke) {
    Suspect of = of(owner);
    of.breaks = broke ? of.breaks + 1 : 0;
    return of.breaks;
  }
}
