package io.gameq.healing;

import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.ReassertScript;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Whether sessions still own: by MySQL, and then by Redis, which is told so. Stateless. */
final class SessionOwnership {
  private SessionOwnership() {}

  /** Asks MySQL; sessions that do not own are lost from then on. */
  static void read(DurableSessions durableSessions, List<SessionRef> sessions) {
    Map<OwnerId, CountingSessions> durable =
        durableSessions.current(sessions.stream().map(SessionRef::owner).toList());
    for (SessionRef session : sessions) {
      if (!owns(durableSessions, session, durable.get(session.owner()))) {
        session.markLost();
      }
    }
  }

  private static boolean owns(
      DurableSessions durableSessions, SessionRef session, @Nullable CountingSessions durable) {
    return CountingSessions.counts(durable, session.id())
        || (session.id().isNewerThan(durable == null ? null : durable.newest())
            && durableSessions.restore(session.owner(), session.id()));
  }

  /** Tells Redis of sessions that own by MySQL; those that it refuses for newer ones are lost. */
  static void tell(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    boolean[] accepted = ReassertScript.callAll(redis, slots, sessions);
    for (int i = 0; i < accepted.length; i++) {
      if (!accepted[i]) {
        sessions.get(i).markLost();
      }
    }
  }

  /** A session of the node, or of the commit that is sent again. */
  static @Nullable SessionRef find(HealingPorts ports, SessionName name) {
    HeldSession held = ports.sessions().find(name);
    if (held != null) {
      return held.ref();
    }
    Commit commit = ports.unanswered().first();
    return commit == null
        ? null
        : commit.parts().stream()
            .map(CommitPart::session)
            .filter(session -> SessionName.of(session).equals(name))
            .findFirst()
            .orElse(null);
  }
}
