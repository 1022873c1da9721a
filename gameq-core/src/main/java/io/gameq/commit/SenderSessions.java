package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.healing.HeldSession;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The sessions that a node holds, and groups of commits under their keys. Thread-safe. */
final class SenderSessions {
  private final SenderConfig config;
  private final byte[] walId;
  private final Map<SessionRef, HeldSession> sessions = new ConcurrentHashMap<>();

  SenderSessions(SenderConfig config, String walId) {
    this.config = config;
    this.walId = SlotKeys.bytes(walId);
  }

  void add(SessionRef session, Unsettled unsettled) {
    sessions.put(session, new HeldSession(session, newKeys(session), unsettled));
  }

  void remove(SessionRef session) {
    sessions.remove(session);
  }

  /** All of them, now and later. */
  Collection<HeldSession> all() {
    return sessions.values();
  }

  /** Commits that travel together. */
  CommitGroup group(List<Commit> commits) {
    return new CommitGroup(commits, this::keys, walId, config.dueMillis().getAsLong());
  }

  private SessionKeys keys(CommitPart part) {
    HeldSession known = sessions.get(part.session());
    return known != null ? known.keys() : newKeys(part.session());
  }

  private SessionKeys newKeys(SessionRef session) {
    return new SessionKeys(config.slots()[session.slot()], session);
  }
}
