package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.change.Unsettled;
import io.gameq.healing.HealingPorts.HeldSession;
import io.gameq.healing.HealingPorts.SessionName;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.MessagesScript.WalCall;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The sessions that a node holds, and groups of commits under their keys. Thread-safe, but groups
 * are made by the sender's thread.
 */
final class SenderSessions {
  /** Of lost ones that were let go: they are few, and matter for minutes. */
  private static final int MOST_LOST = 10_000;

  final SlotKeys[] slots;

  /** When what is committed now is due, Unix ms by the clock of Redis. */
  final LongSupplier dueMillis;

  /** What each call expects of Redis. */
  final SlotMarks marks;

  private final RecentMessages recent;
  private final byte[] walId;
  private final Map<SessionRef, HeldSession> sessions = new ConcurrentHashMap<>();

  /** In the order in which they were let go. */
  private final Set<SessionName> lost = Collections.synchronizedSet(new LinkedHashSet<>());

  SenderSessions(SlotKeys[] slots, LongSupplier dueMillis, String walId, RecentMessages recent) {
    this.slots = slots;
    this.dueMillis = dueMillis;
    this.walId = SlotKeys.bytes(walId);
    this.recent = recent;
    this.marks = new SlotMarks(slots.length);
  }

  void add(SessionRef session, Unsettled unsettled) {
    session.attach(SessionKeys.of(slots, session));
    sessions.put(session, new HeldSession(session, unsettled));
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

  /** Commits that travel together; {@code overtakes}: older ones wait. */
  CommitGroup group(Mode mode, List<Commit> commits, boolean overtakes) {
    long openUpTo = recent.openUpTo(commits.get(0).sequence());
    WalCall call = new WalCall(walId, mode, openUpTo, dueMillis.getAsLong(), slots);
    return CommitGroup.of(commits, call, marks, overtakes);
  }
}
