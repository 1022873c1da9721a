package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.commit.CommitSender.SenderEnd;
import io.gameq.commit.CommitSender.SenderTasks;
import io.gameq.commit.SenderMessages.SentCommits;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a sender does, over and over: what other threads ask of it, replies, the next group, and
 * mending when something broke. Used by the sender's thread; see {@link SenderThread}.
 */
final class SenderLoop {
  private final SenderTasks tasks;
  private final SendLoop send;
  private final MendLoop mend;
  private final AbandonedCommits abandoned;
  private final SenderEnd end;

  SenderLoop(
      SenderTasks tasks, SendLoop send, MendLoop mend, AbandonedCommits abandoned, SenderEnd end) {
    this.tasks = tasks;
    this.send = send;
    this.mend = mend;
    this.abandoned = abandoned;
    this.end = end;
  }

  /** Works until the sender ends; on its own thread. */
  void run(SenderThread thread) {
    try {
      while (!isFinished()) {
        if (isWell()) {
          thread.lendToEventLoop();
        } else if (work() == 0) {
          rest(thread);
        }
      }
      int unused = tasks.runAll();
    } catch (RuntimeException | Error e) {
      end.died(e);
    } finally {
      end.ended();
      tasks.failAll();
      abandoned.tellAll();
      mend.redis().close();
    }
  }

  /** All there is to do on the event loop; false when the sender's own thread has to go on. */
  boolean workWithoutWaiting() {
    mend.breakOffIfClosed();
    while (isWell()) {
      int work = tasks.runAll() + send.takeReplies();
      if (isWell()) {
        work += send.sendNext();
      }
      if (work == 0) {
        return true;
      }
    }
    return false;
  }

  /** Nothing calls for an answer that has to be waited for. */
  private boolean isWell() {
    return mend.isWell() && !end.isStopping();
  }

  /** A round on the sender's own thread; returns how much was done. */
  private int work() {
    int work = tasks.runAll() + send.takeReplies();
    mend.breakOffIfClosed();
    if (mend.isWell()) {
      return work + send.sendNext();
    }
    if (mend.isBroken()) {
      work += send.journalWaiting();
    } else if (!mend.isDue()) { // else what is held is next
      work += send.sendWhatMakesRoom();
    }
    return work + mend.mend();
  }

  private boolean isFinished() {
    return end.isAbandoned() || (end.isStopping() && send.hasNothingLeft());
  }

  private void rest(SenderThread thread) {
    thread.rest(
        () ->
            send.hasNoReplies()
                && tasks.isEmpty()
                && (mend.isBroken() ? send.noneWaits() : !mend.isWell() || send.isIdle())
                && !isFinished(),
        mend.sleepNanos());
  }

  /**
   * Tells the game of commits that nobody will answer any more, once the sender has ended. The WAL
   * gets no mark that they failed: recovery decides by versions. Used by the sender's thread.
   */
  record AbandonedCommits(
      OutgoingCommits outgoing,
      SentCommits sent,
      GroupSettlement beingSettled,
      Settlement settlement,
      SenderEnd end) {
    private static final Logger LOG = LoggerFactory.getLogger(AbandonedCommits.class);

    void tellAll() {
      sent.connectionBroke();
      List<Commit> all = new ArrayList<>(sent.unanswered());
      all.addAll(beingSettled.inHand());
      all.addAll(outgoing.takeAll());
      all.forEach(this::tell);
    }

    private void tell(Commit commit) {
      try {
        settlement.dropped(
            commit,
            Settlement.unknown(
                commit,
                end.death() == null
                    ? "the node closed before Redis answered"
                    : "the sender of this node died before Redis answered"));
      } catch (RuntimeException | Error e) { // the others are to be told all the same
        LOG.warn("a commit that nobody will answer could not be told so", e);
      }
    }
  }
}
