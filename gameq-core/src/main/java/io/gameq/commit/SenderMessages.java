package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.healing.MessageRecords;
import io.gameq.healing.SessionName;
import java.util.Arrays;
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
}
