package io.gameq.writer.console.access;

import java.time.Clock;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Ids for forms of one session, each good for one request: one that is sent again does nothing.
 * Thread-safe.
 */
final class FormIds {
  /** Open tabs and dialogs; beyond that the oldest is forgotten. */
  static final int MOST = 100;

  /** Long enough to think about it. */
  static final long LIFE_MILLIS = 30 * 60_000L;

  private final Clock clock;
  private final Map<String, Long> untilMillis = new LinkedHashMap<>();

  FormIds(Clock clock) {
    this.clock = clock;
  }

  synchronized String next() {
    String id = RandomIds.next();
    if (untilMillis.size() >= MOST) {
      Iterator<String> oldest = untilMillis.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
    untilMillis.put(id, clock.millis() + LIFE_MILLIS);
    return id;
  }

  /** Whether it is one of these and was not used; it is from now on. */
  synchronized boolean use(String id) {
    Long until = untilMillis.remove(id);
    return until != null && clock.millis() < until;
  }
}
