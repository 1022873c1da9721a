package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.healing.UnansweredCommits;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.CommitGroup;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Commits that are sent again, and what becomes of them. Used by the sender's thread. */
record ResentCommits(SentCommits sent, SenderSessions sessions, Settlement settlement)
    implements UnansweredCommits {
  @Override
  public @Nullable Commit first() {
    for (Commit commit : sent.unanswered()) {
      if (commit.makesRoom()) { // never behind what waits for room
        return commit;
      }
    }
    return sent.unanswered().peek();
  }

  /** All of them, in WAL order. */
  Collection<Commit> all() {
    return sent.unanswered();
  }

  @Override
  public CommitGroup group(Commit commit) {
    return sessions.again(commit);
  }

  @Override
  public void queued(Commit first) {
    settlement.queued(List.of(first));
    sent.unanswered().remove(first);
  }

  @Override
  public void unknown(Commit first, SessionRef lost) {
    settlement.failed(
        first,
        Settlement.unknown(
            first,
            "the reply was lost, and session " + lost.id() + " no longer owns " + lost.owner()));
    sent.unanswered().remove(first);
  }

  /**
   * With rows nobody knows: they may be in MySQL, if it was applied the first time and forgotten.
   */
  @Override
  public void refused(Commit first, CommitGroup.Unmet why) {
    RuntimeException reason = Settlement.refusal(why);
    settlement.failed(
        first,
        first.rows() == 0
            ? reason
            : Settlement.unknown(first, "the reply was lost, and now " + reason.getMessage()));
    sent.unanswered().remove(first);
  }

  @Override
  public void refused(Commit first, String message) {
    settlement.failed(List.of(Settlement.refused(first, message)));
    sent.unanswered().remove(first);
  }
}
