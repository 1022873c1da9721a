package io.gameq.commit;

import io.gameq.WalException;
import io.gameq.change.Commit;
import io.gameq.owner.SessionRef;
import io.gameq.sign.NodeCounts;
import java.util.ArrayList;
import java.util.List;

/**
 * Gives commits their versions and appends them to the WAL, before Redis: what Redis may hold, the
 * WAL has. Used by the sender's thread.
 */
final class CommitJournal {
  private final SenderWal to;
  private final Settlement settlement;
  private final NodeCounts counts;

  CommitJournal(SenderWal to, Settlement settlement, NodeCounts counts) {
    this.to = to;
    this.settlement = settlement;
    this.counts = counts;
  }

  /**
   * Appends commits, but for those that it has already. Returns the ones that are to be sent: the
   * others have failed, and were told so.
   *
   * <p>Looks at the sessions of all of them first: no cache has these any more, and a processor
   * fetches many at once where it does the same over and over.
   */
  List<Commit> append(List<Commit> commits) {
    List<Commit> owned = new ArrayList<>(commits.size());
    for (Commit commit : commits) {
      if (isOwned(commit)) {
        owned.add(commit);
      }
    }
    List<Commit> appended = new ArrayList<>(owned.size());
    for (Commit commit : owned) {
      if (commit.sequence() != 0 || append(commit)) {
        appended.add(commit);
      }
    }
    return appended;
  }

  /** Whether all its sessions own, as far as is known; false when it failed, and was told so. */
  private boolean isOwned(Commit commit) {
    SessionRef lost = commit.lostSession();
    if (lost == null) {
      return true;
    }
    if (commit.sequence() == 0) {
      settlement.dropped(commit, Settlement.lost(lost));
    } else {
      settlement.failed(commit, Settlement.lost(lost));
    }
    return false;
  }

  /**
   * Gives it its version as well, not before: by then it is known which trades have failed. False
   * when it failed, and was told so.
   */
  private boolean append(Commit commit) {
    try {
      commit.setVersion(to.versions().next(1));
      to.wal().append(commit);
      if (!commit.messages().isEmpty()) {
        to.recent().appended(commit.sequence());
      }
      counts.wentIntoWal();
      return true;
    } catch (RuntimeException e) {
      settlement.dropped(
          commit,
          e instanceof WalException torn && torn.mayBeReadable()
              ? Settlement.unknown(commit, String.valueOf(torn.getMessage()))
              : e);
      return false;
    }
  }

  /** Has the WAL survive a power loss, if it is to; false when there is nothing to send then. */
  boolean force(List<Commit> appended) {
    if (appended.isEmpty()) {
      return false;
    }
    try {
      to.wal().sync();
    } catch (WalException e) { // Redis never gets them, but a replay of the WAL may
      appended.forEach(
          commit ->
              settlement.dropped(
                  commit, Settlement.unknown(commit, String.valueOf(e.getMessage()))));
      return false;
    }
    appended.forEach(Commit::journaled);
    return true;
  }
}
