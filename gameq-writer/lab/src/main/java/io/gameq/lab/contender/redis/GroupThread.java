package io.gameq.lab.contender.redis;

import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.GameThreads;
import io.gameq.lab.workload.Actions;
import java.util.List;

/**
 * A game thread that counts actions and sends a ready group when its last one comes, over and over,
 * with some groups without an answer at a time, as many as gameq's sender has. The single action is
 * not followed: close waits for all. One thread.
 */
abstract class GroupThread implements GameThreads.GameThread {
  static final int GROUPS_IN_FLIGHT = 4;

  private final List<Integer> commits;
  private int next;
  private int counted;
  private int unanswered;

  /** Of groups with so many commits each. */
  GroupThread(List<Integer> commits) {
    this.commits = commits;
  }

  /** Sends a group, by its place. */
  abstract void send(int group) throws Exception;

  /** Waits for the answer to the oldest group that has none. */
  abstract void awaitAnswer() throws Exception;

  abstract void disconnect() throws Exception;

  @Override
  public final Acknowledgement perform(Actions action) throws Exception {
    if (++counted == commits.get(next)) {
      sendNext();
    }
    return Acknowledgement.DONE;
  }

  private void sendNext() throws Exception {
    if (unanswered == GROUPS_IN_FLIGHT) {
      awaitAnswer();
      unanswered--;
    }
    send(next);
    unanswered++;
    counted = 0;
    next = (next + 1) % commits.size();
  }

  @Override
  public final void close() throws Exception {
    try {
      if (counted > 0) {
        sendNext();
      }
      for (; unanswered > 0; unanswered--) {
        awaitAnswer();
      }
    } finally {
      disconnect();
    }
  }
}
