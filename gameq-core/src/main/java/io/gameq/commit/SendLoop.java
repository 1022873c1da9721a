package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.commit.SenderMessages.SentCommits;
import io.gameq.healing.HealingStep.HeldSession;
import io.gameq.healing.HealingStep.SessionName;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.SlotMarks;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Sends groups of commits while all is well, and settles them once Redis has answered. While groups
 * are on their way, new commits gather and travel together in the next one (group commit). Used by
 * the sender's thread, which never waits here.
 */
final class SendLoop {
  /** Enough to keep Redis busy while replies travel; more only adds latency. */
  private static final int MOST_GROUPS_IN_FLIGHT = 4;

  private final OutgoingCommits outgoing;
  private final SenderSessions sessions;
  private final SentCommits sent;
  private final GroupSettlement settlement;
  private final MendLoop mend;

  private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();
  private Runnable wake = () -> {};

  private record Reply(CommitGroup group, @Nullable Throwable error) {}

  SendLoop(
      OutgoingCommits outgoing,
      SenderSessions sessions,
      SentCommits sent,
      GroupSettlement settlement,
      MendLoop mend) {
    this.outgoing = outgoing;
    this.sessions = sessions;
    this.sent = sent;
    this.settlement = settlement;
    this.mend = mend;
  }

  /** Has the sender woken whenever a reply comes. */
  void wakes(Runnable sender) {
    wake = sender;
  }

  /** Whether nothing can be sent now. */
  boolean isIdle() {
    return hasNoGroup() || outgoing.followsUnanswered();
  }

  private boolean hasNoGroup() {
    return outgoing.isEmpty() || sent.groups() >= MOST_GROUPS_IN_FLIGHT;
  }

  /** Whether no commit waits to be taken. */
  boolean noneWaits() {
    return outgoing.noneWaits();
  }

  /** Whether all that was taken over has been answered. */
  boolean hasNothingLeft() {
    return outgoing.isEmpty() && sent.isEmpty();
  }

  /** While Redis is away: see {@link OutgoingCommits#journalWaiting}. */
  int journalWaiting() {
    return outgoing.journalWaiting();
  }

  /** Whether no reply waits to be taken. */
  boolean hasNoReplies() {
    return replies.isEmpty();
  }

  /** Sends the next group, if there is any; returns how many that were. */
  int sendNext() {
    if (isIdle()) {
      return 0;
    }
    int unused = send(outgoing.nextGroup(), false);
    return 1; // also when all of them failed: more may wait
  }

  /** While Redis is full: sends what makes room there, if there is any; returns how many groups. */
  int sendWhatMakesRoom() {
    return hasNoGroup() ? 0 : send(outgoing.nextToMakeRoom(), true);
  }

  private int send(List<Commit> commits, boolean overtakes) {
    if (!commits.isEmpty()) {
      send(sessions.group(commits, overtakes));
    }
    outgoing.handedOver();
    return commits.isEmpty() ? 0 : 1;
  }

  private void send(CommitGroup group) {
    sent.sent(group);
    try {
      group
          .send(mend.redis())
          .whenComplete(
              (ignored, error) -> {
                replies.add(
                    new Reply(
                        group,
                        error == null && !group.wasDiscarded() ? null : group.whyFailed(error)));
                wake.run();
              });
    } catch (RuntimeException e) {
      if (!RedisReply.isOfClient(e)) {
        throw e;
      }
      replies.add(new Reply(group, e));
    }
  }

  /** The sequence of the oldest commit in the WAL without an answer; 0 for none. */
  private long oldestOpen() {
    long oldest = sent.oldest();
    return oldest != 0 ? oldest : outgoing.oldestJournaled();
  }

  /** Settles what was answered; returns how many groups that were. */
  int takeReplies() {
    sessions.openFrom(oldestOpen());
    int done = 0;
    for (Reply reply; (reply = replies.poll()) != null; done++) {
      if (!sent.isInFlight(reply.group)) {
        continue; // of a connection that was given up
      }
      String refusal = reply.error == null ? null : RedisReply.answered(reply.error);
      if (reply.error != null && (refusal == null || RedisReply.isAway(refusal))) {
        mend.breakOff(String.valueOf(reply.error.getMessage()));
      } else {
        sent.answered(reply.group);
        settlement.settle(reply.group, refusal);
      }
    }
    return done;
  }

  /**
   * The sessions that a node holds, and groups of commits under their keys. Thread-safe, but groups
   * are made by the sender's thread.
   */
  static final class SenderSessions {
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
      return part.session().attachment() instanceof SessionKeys keys
          ? keys
          : newKeys(part.session());
    }

    private SessionKeys newKeys(SessionRef session) {
      return new SessionKeys(config.slots()[session.slot()], session);
    }
  }
}
