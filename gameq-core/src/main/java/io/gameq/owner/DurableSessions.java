package io.gameq.owner;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Asks MySQL which session owns; the truth of which Redis holds a cache. Thread-safe. */
public interface DurableSessions {
  /** The sessions that count of each owner that has one; throws when MySQL does not answer. */
  Map<OwnerId, CountingSessions> current(Collection<OwnerId> owners);

  /**
   * The highest version that the session which was open next took over from this one; 0 for none,
   * and if that is not known any more.
   */
  long adoptedFrom(OwnerId owner, SessionId session);

  /**
   * Writes a session again that MySQL has lost with its newest commits: only over an older one.
   *
   * @return whether it is the newest now
   */
  boolean restore(OwnerId owner, SessionId session);

  /**
   * The sessions of an owner that may be flushed and healed, by MySQL: its newest, and while that
   * one is opening the one before it, so that an open that fails halfway takes nothing from
   * anybody. Immutable.
   *
   * @param newest raised last
   * @param opening whether the newest has not loaded the owner yet, or never will
   * @param before the last session that was open; null when none was, or the newest is
   */
  public record CountingSessions(SessionId newest, boolean opening, @Nullable SessionId before) {
    /** A session that is open: it counts alone. */
    public static CountingSessions open(SessionId session) {
      return new CountingSessions(session, false, null);
    }

    /**
     * Whether a session is among those of an owner; null stands for an owner that has none. That of
     * an inbox always counts.
     */
    public static boolean counts(@Nullable CountingSessions of, SessionId session) {
      return session.isInbox()
          || (of != null && (session.equals(of.newest) || session.equals(of.before)));
    }

    /** The newest, and the one before it where there is one. */
    public List<SessionId> all() {
      return before == null ? List.of(newest) : List.of(newest, before);
    }

    /** The last session that was open, if any was. */
    public @Nullable SessionId lastOpen() {
      return opening ? before : newest;
    }

    /**
     * The session that holds the owner: the newest, unless it has yet to tell Redis and the one
     * before it may still commit.
     *
     * @param inRedis the session that owns as far as Redis knows
     */
    public SessionId holder(@Nullable SessionId inRedis) {
      return before == null || newest.equals(inRedis) ? newest : before;
    }
  }
}
