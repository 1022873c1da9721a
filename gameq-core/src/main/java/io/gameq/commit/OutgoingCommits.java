package io.gameq.commit;

import io.gameq.RedisUnavailableException;
import io.gameq.change.Commit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

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
  private final boolean failsWhileAway;

  /** In the WAL and never sent. */
  private final Deque<Commit> journaled = new ArrayDeque<>();

  /** Taken from where they waited, and not put anywhere yet. */
  private final List<Commit> inHand = new ArrayList<>();

  /**
   * None yet; {@code failsWhileAway}: what waits while Redis is away is not journaled, it fails.
   */
  OutgoingCommits(
      WaitingCommits waiting,
      CommitJournal journal,
      Settlement settlement,
      boolean failsWhileAway) {
    this.waiting = waiting;
    this.journal = journal;
    this.settlement = settlement;
    this.failsWhileAway = failsWhileAway;
  }

  boolean isEmpty() {
    return waiting.isEmpty() && journaled.isEmpty();
  }

  /** Whether none waits to be journaled. */
  boolean noneWaits() {
    return waiting.isEmpty();
  }

  /**
   * Takes the commits that travel together next; none when those that were taken have failed. Once
   * they are on their way, {@link #handedOver} says so.
   */
  List<Commit> nextGroup() {
    List<Commit> taken = new ArrayList<>();
    int bytes = 0;
    int messages = 0;
    for (Commit next;
        (next = journaled.isEmpty() ? waiting.queue().peek() : journaled.peek()) != null
            && bytes < MOST_GROUP_BYTES
            && messages < MOST_GROUP_MESSAGES; ) {
      boolean alone = next.goesAlone();
      if (taken.size() >= (alone ? MOST_GROUP_SCRIPTS : MOST_GROUP_COMMITS)
          || (!taken.isEmpty() && taken.get(0).goesAlone() != alone)) {
        break;
      }
      if (journaled.isEmpty() ? waiting.queue().remove(next) : journaled.remove(next)) {
        inHand.add(next);
        taken.add(next);
        bytes += next.bytes();
        messages += next.changedMessages();
      }
    }
    return append(taken);
  }

  /**
   * While Redis is full and others are held: takes those that wait and {@linkplain Commit#makesRoom
   * make room} there; as {@link #nextGroup}. None while journaled ones, which are older, have not
   * been sent.
   */
  List<Commit> nextToMakeRoom() {
    List<Commit> taken = new ArrayList<>();
    if (journaled.isEmpty()) {
      int changes = 0;
      for (Commit next : waiting.queue()) {
        if (changes >= MOST_GROUP_MESSAGES || taken.size() >= MOST_GROUP_COMMITS) {
          break;
        }
        if (next.makesRoom() && waiting.queue().remove(next)) {
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
