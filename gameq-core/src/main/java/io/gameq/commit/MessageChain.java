package io.gameq.commit;

import io.gameq.change.Commit;
import io.gameq.change.SlotMessages;

/**
 * In which order commits with messages are sent to each slot, over all connections: so that Redis
 * notices when one of them never arrived, or was forgotten. Used by the sender's thread.
 */
final class MessageChain {
  private final long[] newest;
  private boolean isBegun;

  /** Nothing was sent yet. */
  MessageChain(int slots) {
    newest = new long[slots];
  }

  /** Commits are sent for the first time. */
  void sends(Iterable<Commit> commits) {
    for (Commit commit : commits) {
      for (SlotMessages of : commit.messages()) {
        of.setBefore(newest[of.slot()]);
        newest[of.slot()] = commit.sequence();
        isBegun = true;
      }
    }
  }

  /** By slot: the newest that was sent; empty when none was. */
  long[] newest() {
    return isBegun ? newest : new long[0];
  }
}
