package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.commit.SendLoop.SenderSessions;
import io.gameq.healing.HealingStep.MessageRecords;
import io.gameq.healing.HealingStep.SessionName;
import io.gameq.redis.script.CommitGroup;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What of a sender's messages a healing owes: all that was answered and that Redis may have lost.
 * Used by the sender's thread.
 */
final class SenderMessages implements MessageRecords {
  private final RecentMessages recent;
  private final SenderSessions sessions;
  private final SentCommits sent;
  private final Set<Long> unanswered = new HashSet<>();
  private final Set<Long> leftOut = new HashSet<>();
  private long newest;

  SenderMessages(RecentMessages recent, SenderSessions sessions, SentCommits sent) {
    this.recent = recent;
    this.sessions = sessions;
    this.sent = sent;
  }

  /** A healing begins: what has no answer by now is sent again, not replayed. */
  void healingBegins() {
    unanswered.clear();
    for (Commit commit : sent.unanswered()) {
      unanswered.add(commit.sequence());
    }
    newest = Arrays.stream(sessions.marks().answered()).max().orElse(0);
  }

  /** A healing came to its end. */
  void healed() {
    leftOut.clear();
  }

  @Override
  public List<Stretch> after(long sequence) {
    return recent.after(sequence);
  }

  @Override
  public boolean isLeftOut(long sequence) {
    return sequence > newest || unanswered.contains(sequence) || leftOut.contains(sequence);
  }

  @Override
  public void leaveOut(Set<Long> sequences) {
    leftOut.addAll(sequences);
  }

  @Override
  public boolean mayHaveFailed(Stretch of) {
    return recent.mayHaveFailed(of);
  }

  @Override
  public boolean wasLost(SessionName session) {
    return sessions.wasLost(session);
  }

  /**
   * Commits that were sent and have no answer: groups on their way over the connection, and commits
   * that are to be sent again. Used by the sender's thread.
   */
  static final class SentCommits {
    private final Deque<CommitGroup> inFlight = new ArrayDeque<>();
    private final Deque<Commit> unanswered = new ArrayDeque<>();

    /** A group is on its way. */
    void sent(CommitGroup group) {
      inFlight.add(group);
    }

    /** The groups on their way, in the order in which they were sent. */
    Collection<CommitGroup> inFlight() {
      return inFlight;
    }

    /** How many groups are on their way. */
    int groups() {
      return inFlight.size();
    }

    /** Whether a group is on its way, over the connection that there is now. */
    boolean isInFlight(CommitGroup group) {
      return inFlight.contains(group);
    }

    void answered(CommitGroup group) {
      inFlight.remove(group);
    }

    /** What is on its way will not be answered: it is to be sent again, after what is already. */
    void connectionBroke() {
      inFlight.forEach(group -> unanswered.addAll(group.commits()));
      inFlight.clear();
    }

    /** These are to be sent again, after what is already. */
    void sendAgain(List<Commit> commits) {
      unanswered.addAll(commits);
    }

    /** What is to be sent again, in WAL order. */
    Deque<Commit> unanswered() {
      return unanswered;
    }

    /** The sequence of the oldest without an answer; 0 for none. */
    long oldest() {
      if (!unanswered.isEmpty()) {
        return unanswered.element().sequence();
      }
      return inFlight.isEmpty() ? 0 : inFlight.element().commits().get(0).sequence();
    }

    boolean isEmpty() {
      return inFlight.isEmpty() && unanswered.isEmpty();
    }
  }
}
