package io.gameq.commit;

import io.gameq.change.Commit;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
