package io.gameq.commit;

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
}
