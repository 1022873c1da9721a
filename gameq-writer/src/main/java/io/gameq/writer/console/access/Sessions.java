package io.gameq.writer.console.access;

import io.gameq.writer.config.AccessToken;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Those who are signed in to the console. Thread-safe; all are signed out by a restart. */
final class Sessions {
  /** A working day. */
  static final long LIFE_SECONDS = 8 * 3_600;

  /** Only whoever has a token opens one; beyond that the oldest ends. */
  static final int MOST = 100;

  private final Clock clock;
  private final Map<String, SignedIn> byId =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, SignedIn> eldest) {
          return size() > MOST;
        }
      };

  Sessions(Clock clock) {
    this.clock = clock;
  }

  synchronized SignedIn open(String who, AccessToken token) {
    SignedIn session =
        new SignedIn(
            RandomIds.next(),
            RandomIds.next(),
            who,
            token,
            clock.millis() + LIFE_SECONDS * 1_000,
            new FormIds(clock));
    byId.put(session.id(), session);
    return session;
  }

  /** The session of a cookie; null when there is none, or it has ended. */
  synchronized @Nullable SignedIn find(@Nullable String id) {
    SignedIn session = id == null ? null : byId.get(id);
    if (session != null && clock.millis() >= session.untilMillis()) {
      byId.remove(session.id());
      return null;
    }
    return session;
  }

  synchronized void end(SignedIn session) {
    byId.remove(session.id());
  }
}
