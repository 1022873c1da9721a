package io.gameq.healing;

import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ReassertScript;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that still own, by MySQL, are told to Redis again; the others are lost. Stateless.
 *
 * @param durableSessions asks MySQL
 * @param slots all of the namespace
 */
record Reassertion(DurableSessions durableSessions, SlotKeys[] slots) {
  /** Re-asserts on their way at a time. */
  private static final int AT_ONCE = 500;

  /**
   * Whether the session owns, by MySQL; if so Redis knows it now, otherwise the session is lost.
   */
  boolean run(RedisConnection redis, SessionRef session) {
    run(redis, List.of(session));
    return !session.isLost();
  }

  /** The same for many, over a connection that flushes by itself. */
  void run(RedisConnection redis, List<SessionRef> sessions) {
    Map<OwnerId, CountingSessions> durable =
        durableSessions.current(sessions.stream().map(SessionRef::owner).toList());
    List<SessionRef> owning = new ArrayList<>();
    for (SessionRef session : sessions) {
      if (owns(session, durable.get(session.owner()))) {
        owning.add(session);
      } else {
        session.markLost();
      }
    }
    for (int from = 0; from < owning.size(); from += AT_ONCE) {
      List<SessionRef> some = owning.subList(from, Math.min(owning.size(), from + AT_ONCE));
      boolean[] accepted = ReassertScript.callAll(redis, slots, some);
      for (int i = 0; i < accepted.length; i++) {
        if (!accepted[i]) {
          some.get(i).markLost();
        }
      }
    }
  }

  private boolean owns(SessionRef session, @Nullable CountingSessions durable) {
    return CountingSessions.counts(durable, session.id())
        || (session.id().isNewerThan(durable == null ? null : durable.newest())
            && durableSessions.restore(session.owner(), session.id()));
  }
}
