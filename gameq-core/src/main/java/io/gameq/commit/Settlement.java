package io.gameq.commit;

import io.gameq.CommitFailedException;
import io.gameq.CommitUnknownException;
import io.gameq.OwnershipLostException;
import io.gameq.RedisFullException;
import io.gameq.WalException;
import io.gameq.WalFullException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.message.MessageChange.MessageChangedException;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisReply;
import io.gameq.redis.script.CommitGroup;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeCounts.CommitTimes;
import io.gameq.topic.ClaimLostException;
import io.gameq.wal.WalWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * How a commit ends: its room is freed, its failure stands in the WAL, and only then it is told.
 * Used by the sender's thread.
 */
public final class Settlement {
  private final CommitQueue queue;
  private final WalWriter wal;
  private final NodeCounts counts;
  private final RecentMessages recent;

  /** A commit that is in the WAL and not in Redis, or nobody knows where, and why. */
  record Failure(Commit commit, RuntimeException reason) {}

  Settlement(CommitQueue queue, WalWriter wal, NodeCounts counts, RecentMessages recent) {
    this.queue = queue;
    this.wal = wal;
    this.counts = counts;
    this.recent = recent;
  }

  /** The WAL has a commit. */
  void appended(Commit commit) {
    if (!commit.messages().isEmpty()) {
      recent.appended(commit.sequence());
    }
    counts.wentIntoWal();
  }

  /** Redis holds these. */
  void queued(List<Commit> commits) {
    if (commits.isEmpty()) {
      return;
    }
    long now = System.nanoTime();
    CommitTimes times = counts.times();
    long rows = 0;
    int bytes = 0;
    for (Commit commit : commits) {
      rows += commit.rows();
      bytes += commit.bytes();
      if (commit.isTimed()) {
        times.queued(now - commit.beganNanos());
      }
    }
    counts.queued(commits.size(), rows); // whoever is told finds it counted
    queue.leave(commits.size(), bytes);
    commits.forEach(Commit::queued);
  }

  void failed(Commit commit, RuntimeException reason) {
    failed(List.of(new Failure(commit, reason)));
  }

  /**
   * Ends commits that are in the WAL: marked failed there, on the disk if commits are forced to it,
   * before the game is told, so that nothing ever replays them. One whose mark could not be written
   * may be replayed by recovery: it is told as unknown.
   */
  void failed(List<Failure> failures) {
    List<Failure> marked = new ArrayList<>();
    for (Failure failure : failures) {
      try {
        wal.appendFailed(failure.commit);
        marked.add(failure);
      } catch (WalException | WalFullException e) {
        notMarked(failure, e);
      }
    }
    if (marked.isEmpty()) {
      return;
    }
    try {
      wal.sync();
    } catch (WalException e) {
      marked.forEach(failure -> notMarked(failure, e));
      return;
    }
    marked.forEach(failure -> dropped(failure.commit, failure.reason));
  }

  private void notMarked(Failure failure, RuntimeException e) {
    RuntimeException told =
        unknown(
            failure.commit,
            "%s; and the WAL does not tell so, recovery may replay it (%s)"
                .formatted(failure.reason.getMessage(), e.getMessage()));
    told.addSuppressed(failure.reason);
    told.addSuppressed(e);
    dropped(failure.commit, told);
  }

  /** Ends a commit without a mark in the WAL: it never got there, or recovery is to decide. */
  void dropped(Commit commit, RuntimeException reason) {
    queue.leave(1, commit.bytes());
    if (!commit.messages().isEmpty() && commit.sequence() != 0) {
      recent.failed(commit.sequence());
    }
    counts.failed(reason, commit.sequence() != 0);
    commit.failed(reason);
  }

  // --- what the game is told

  /** Why Redis holds nothing of a commit. */
  public static RuntimeException reason(CommitGroup.Outcome outcome) {
    if (outcome instanceof CommitGroup.NotOwner not) {
      return lost(not.part().session());
    }
    if (outcome instanceof CommitGroup.RefusedBy by) {
      return RedisReply.isFull(by.message())
          ? new RedisFullException(
              "Redis reached maxmemory and refused the commit: let the writers drain, or raise"
                  + " maxmemory")
          : new CommitFailedException("Redis refused the commit: " + by.message());
    }
    if (outcome instanceof CommitGroup.RowKeyInUse there) {
      return new CommitFailedException(
          ("row %s cannot be sent to %s: one with this key waits to be flushed already, and what"
                  + " is sent needs a new key; nothing of the commit was applied")
              .formatted(there.row(), there.owner()));
    }
    if (outcome instanceof CommitGroup.ClaimLost claim) {
      return new ClaimLostException(
          ("message %s is not claimed any more by who handled it: its lease ran out; nothing of"
                  + " the commit was applied")
              .formatted(claim.message()));
    }
    if (outcome instanceof CommitGroup.MessageChanged changed) {
      return new MessageChangedException(
          "message %s is not what was expected: it has changed, or is taken"
              .formatted(changed.message()));
    }
    throw new IllegalArgumentException(String.valueOf(outcome)); // the others are no refusals
  }

  public static OwnershipLostException lost(SessionRef session) {
    return new OwnershipLostException(
        session.owner().id(),
        "session %s no longer owns %s: a newer session was opened; open the owner again"
            .formatted(session.id(), session.owner()));
  }

  public static CommitUnknownException unknown(Commit commit, String why) {
    List<String> rows =
        commit.parts().stream().flatMap(part -> part.rows().stream()).map(ChangedRow::key).toList();
    return new CommitUnknownException(
        commit.isOfMessagesAlone()
            ? why + ": unknown whether its messages were committed"
            : why + ": unknown whether these rows were committed: " + rows);
  }
}
