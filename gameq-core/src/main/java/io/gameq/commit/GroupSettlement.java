package io.gameq.commit;

import io.gameq.WhenRedisIsFull;
import io.gameq.change.Commit;
import io.gameq.commit.SenderMessages.SentCommits;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisReply;
import io.gameq.redis.script.CommitGroup;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sorts the commits of a group by what Redis answered. Used by the sender's thread. */
final class GroupSettlement {
  private final Settlement settlement;
  private final SentCommits sent;
  private final MendLoop mend;
  private final boolean waitsForRoom;

  /** Taken off their way, and not put anywhere yet. */
  private final List<Commit> inHand = new ArrayList<>();

  GroupSettlement(
      Settlement settlement, SentCommits sent, MendLoop mend, WhenRedisIsFull whenFull) {
    this.settlement = settlement;
    this.sent = sent;
    this.mend = mend;
    this.waitsForRoom = whenFull == WhenRedisIsFull.WAIT;
  }

  /** What the sender ended with. */
  List<Commit> inHand() {
    return inHand;
  }

  /**
   * Settles a group.
   *
   * @param refusal what Redis answered to all of it; null when it answered each
   */
  void settle(CommitGroup group, @Nullable String refusal) {
    List<Commit> commits = group.commits();
    inHand.addAll(commits);
    boolean fits = true;
    if (refusal == null) {
      fits = group.answered();
    } else {
      group.refused();
    }
    List<Commit> queued = new ArrayList<>(commits.size());
    List<Commit> again = new ArrayList<>();
    List<Commit> held = new ArrayList<>();
    List<Settlement.Failure> failed = new ArrayList<>();
    for (int i = 0; i < commits.size(); i++) {
      Commit commit = commits.get(i);
      CommitGroup.Outcome outcome =
          refusal != null ? new CommitGroup.RefusedBy(refusal) : group.outcome(i);
      if (outcome instanceof CommitGroup.Applied) { // nearly always
        queued.add(commit);
      } else if (outcome instanceof CommitGroup.NotOwner not) {
        SessionRef session = not.part().session();
        if (not.isNewer()) {
          session.markLost();
        }
        if (session.isLost()) {
          failed.add(new Settlement.Failure(commit, Settlement.lost(session)));
        } else {
          commit.setNotTaken();
          again.add(commit);
        }
      } else if (outcome instanceof CommitGroup.RefusedBy refused) {
        if (waitsForRoom && RedisReply.isFull(refused.message())) {
          commit.setNotTaken();
          held.add(commit);
        } else {
          failed.add(Settlement.refused(commit, refused.message()));
        }
      } else if (outcome instanceof CommitGroup.Forgotten) {
        commit.setNotTaken();
        again.add(commit);
      } else if (outcome instanceof CommitGroup.TakenInPart taken) {
        settlement.dropped(
            commit, Settlement.unknown(commit, "Redis took only part of it: " + taken.message()));
      } else {
        CommitGroup.Unmet unmet = (CommitGroup.Unmet) outcome;
        failed.add(new Settlement.Failure(commit, Settlement.refusal(unmet)));
      }
    }
    settlement.queued(queued);
    settlement.failed(failed);
    if (!held.isEmpty()) {
      sent.sendAgain(held);
      mend.hold();
    }
    if (!again.isEmpty()) {
      sent.sendAgain(again); // in WAL order: before those in flight
      mend.healAgain("it forgot a session, or commits");
    } else if (!fits) {
      mend.healAgain("its journal marks are not as it told: it has lost commits");
    }
    inHand.clear();
  }
}
