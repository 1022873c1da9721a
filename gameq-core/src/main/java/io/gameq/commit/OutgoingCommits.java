package io.gameq.commit;

import io.gameq.RedisUnavailableException;
import io.gameq.WhenRedisIsFull;
import io.gameq.change.Commit;
import io.gameq.commit.CommitSender.WaitingCommits;
import io.gameq.commit.SenderMessages.SentCommits;
import io.gameq.message.MessageChange.MessageId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Commits in the order in which they go to Redis: those that were journaled while it was away, then
 * those that wait. Each is in the WAL before it is handed out. Used by the sender's thread.
 */
final class OutgoingCommits {
  private static final int MOST_GROUP_COMMITS = 256;

  /** A MULTI holds Redis for as long as it takes: about a millisecond for this many bytes. */
  private static final int MOST_GROUP_BYTES = 1 << 20;

  /** What a script holds Redis for: about three microseconds each, a millisecond in all. */
  private static final int MOST_GROUP_MESSAGES = 400;

  /** Each is a script of its own; more only adds to the latency of what comes behind them. */
  private static final int MOST_GROUP_SCRIPTS = 16;

  private final WaitingCommits waiting;
  private final CommitJournal journal;
  private final Settlement settlement;
  private final SentCommits sent;
  private final boolean failsWhileAway;
  private final boolean waitsForRoom;

  /** In the WAL and never sent. */
  private final Deque<Commit> journaled = new ArrayDeque<>();

  /** Taken from where they waited, and not put anywhere yet. */
  private final List<Commit> inHand = new ArrayList<>();

  /**
   * None yet.
   *
   * @param failsWhileAway what waits while Redis is away is not journaled, it fails
   * @param whenFull what becomes of commits that Redis has no room for
   */
  OutgoingCommits(
      WaitingCommits waiting,
      CommitJournal journal,
      Settlement settlement,
      SentCommits sent,
      boolean failsWhileAway,
      WhenRedisIsFull whenFull) {
    this.waiting = waiting;
    this.journal = journal;
    this.settlement = settlement;
    this.sent = sent;
    this.failsWhileAway = failsWhileAway;
    this.waitsForRoom = whenFull == WhenRedisIsFull.WAIT;
  }

  boolean isEmpty() {
    return waiting.isEmpty() && journaled.isEmpty();
  }

  /** Whether none waits to be journaled. */
  boolean noneWaits() {
    return waiting.isEmpty();
  }

  private @Nullable Commit first() {
    return journaled.isEmpty() ? waiting.queue().peek() : journaled.peek();
  }

  /**
   * Whether what comes next deletes or retimes a message whose publish has no answer: Redis may
   * refuse that for want of room, and gets it once more then.
   */
  boolean followsUnanswered() {
    Commit next = waitsForRoom ? first() : null;
    return next != null && next.changesPending() && next.changesPendingOf(published(List.of()));
  }

  /** The messages that commits without an answer publish, and these. */
  private Set<MessageId> published(List<Commit> taken) {
    Set<MessageId> ids = new HashSet<>();
    sent.inFlight().forEach(group -> group.commits().forEach(of -> of.addPublished(ids)));
    taken.forEach(of -> of.addPublished(ids));
    return ids;
  }

  /**
   * Takes the commits that travel together next; none when those that were taken have failed. Once
   * they are on their way, {@link #handedOver} says so.
   */
  List<Commit> nextGroup() {
    List<Commit> taken = new ArrayList<>();
    Set<MessageId> published = null;
    int bytes = 0;
    int messages = 0;
    for (Commit next;
        (next = first()) != null && bytes < MOST_GROUP_BYTES && messages < MOST_GROUP_MESSAGES; ) {
      boolean alone = next.goesAlone();
      if (taken.size() >= (alone ? MOST_GROUP_SCRIPTS : MOST_GROUP_COMMITS)
          || (!taken.isEmpty() && taken.get(0).goesAlone() != alone)) {
        break;
      }
      if (waitsForRoom && next.changesPending()) {
        published = published == null ? published(taken) : published;
        if (next.changesPendingOf(published)) {
          break;
        }
      }
      if (journaled.isEmpty() ? waiting.queue().remove(next) : journaled.remove(next)) {
        inHand.add(next);
        taken.add(next);
        if (published != null) {
          next.addPublished(published);
        }
        bytes += next.bytes();
        messages += next.changedMessages();
      }
    }
    return append(taken);
  }

  /**
   * While Redis is full and others are held: takes those that wait and {@linkplain Commit#makesRoom
   * make room} there, which are acknowledgements; as {@link #nextGroup}.
   */
  List<Commit> nextToMakeRoom() {
    List<Commit> taken = new ArrayList<>();
    int changes = 0;
    for (Collection<Commit> from : List.of(journaled, waiting.queue())) {
      for (Iterator<Commit> it = from.iterator();
          it.hasNext() && changes < MOST_GROUP_MESSAGES && taken.size() < MOST_GROUP_COMMITS; ) {
        Commit next = it.next();
        if (next.makesRoom()) {
          it.remove();
          inHand.add(next);
          taken.add(next);
          changes += next.changedMessages();
        }
      }
    }
    return append(taken);
  }

  /** Those of them that the WAL has now, and that are to be sent. */
  private List<Commit> append(List<Commit> taken) {
    List<Commit> appended = journal.append(taken);
    return journal.force(appended) ? appended : List.of();
  }

  /** The sequence of the oldest that is journaled and was not sent; 0 for none. */
  long oldestJournaled() {
    Commit oldest = journaled.peek();
    return oldest == null ? 0 : oldest.sequence();
  }

  /** The commits of {@link #nextGroup} are somebody else's now. */
  void handedOver() {
    inHand.clear();
  }

  /**
   * While Redis is away: what waits goes into the WAL, or fails. Returns how many commits that
   * were.
   */
  int journalWaiting() {
    int done = 0;
    List<Commit> taken = new ArrayList<>();
    for (Commit next;
        taken.size() < MOST_GROUP_COMMITS && (next = waiting.queue().poll()) != null;
        done++) {
      inHand.add(next);
      if (failsWhileAway) {
        settlement.dropped(
            next, new RedisUnavailableException("Redis went away: the commit was not sent"));
      } else {
        taken.add(next);
      }
    }
    journaled.addAll(append(taken));
    inHand.clear();
    return done;
  }

  /** All that was never sent, when the sender ends. */
  List<Commit> takeAll() {
    List<Commit> all = new ArrayList<>(inHand);
    all.addAll(journaled);
    for (Commit commit; (commit = waiting.queue().poll()) != null; ) {
      all.add(commit);
    }
    return all;
  }
}
