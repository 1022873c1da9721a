package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.healing.HeldSession;
import io.gameq.healing.SessionName;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.SlotMarks;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sessions that a node holds, and groups of commits under their keys. Thread-safe, but groups
 * are made by the sender's thread.
 */
final class SenderSessions {
  /** Of lost ones that were let go: they are few, and matter for minutes. */
  private static final int MOST_LOST = 10_000;

  private final SenderConfig config;
  private final byte[] walId;
  private final RecentMessages recent;

  private final SlotMarks marks;
  private final Map<SessionRef, HeldSession> sessions = new ConcurrentHashMap<>();

  /** In the order in which they were let go. */
  private final Set<SessionName> lost = Collections.synchronizedSet(new LinkedHashSet<>());

  SenderSessions(SenderConfig config, String walId, RecentMessages recent) {
    this.config = config;
    this.walId = SlotKeys.bytes(walId);
    this.recent = recent;
    this.marks = new SlotMarks(config.slots().length);
  }

  void add(SessionRef session, Unsettled unsettled) {
    SessionKeys keys = newKeys(session);
    session.attach(keys);
    sessions.put(session, new HeldSession(session, keys, unsettled));
  }

  void remove(SessionRef session) {
    if (session.isLost()) {
      synchronized (lost) {
        lost.add(SessionName.of(session));
        if (lost.size() > MOST_LOST) {
          lost.remove(lost.iterator().next());
        }
      }
    }
    sessions.remove(session);
  }

  /** Whether a session that is held no more was lost. */
  boolean wasLost(SessionName session) {
    return lost.contains(session);
  }

  /** All of them, now and later. */
  Collection<HeldSession> all() {
    return sessions.values();
  }

  /** What each call expects of Redis. */
  SlotMarks marks() {
    return marks;
  }

  /** Commits that travel together, for the first time; {@code overtakes}: older ones wait. */
  CommitGroup group(List<Commit> commits, boolean overtakes) {
    return CommitGroup.of(commits, terms(commits.get(0), overtakes));
  }

  /** A commit that is sent again. */
  CommitGroup again(Commit commit) {
    return CommitGroup.again(commit, terms(commit, false));
  }

  private CommitGroup.Terms terms(Commit first, boolean overtakes) {
    return new CommitGroup.Terms(
        this::keys,
        config.slots(),
        walId,
        config.dueMillis().getAsLong(),
        recent.openUpTo(first.sequence()),
        marks,
        overtakes);
  }

  /** The oldest commit in the WAL without an answer has this sequence; 0: all are answered. */
  void openFrom(long sequence) {
    recent.openFrom(sequence);
  }

  private SessionKeys keys(CommitPart part) {
    return part.session().attachment() instanceof SessionKeys keys ? keys : newKeys(part.session());
  }

  private SessionKeys newKeys(SessionRef session) {
    return new SessionKeys(config.slots()[session.slot()], session);
  }
}
