package io.gameq.node;

import io.gameq.commit.CommitSender;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;

/**
 * The inboxes into which this node sends rows, see {@link SessionId#ofInbox}. One is known from the
 * first row on until all of it is in MySQL. Thread-safe.
 *
 * @param process names this start of the node
 */
record Inboxes(NodeSessions sessions, CommitSender sender, String process, int slots) {
  /**
   * That of an owner, about to get rows: {@link DurableTracker#prepared} is to be called once they
   * were submitted, or were not.
   */
  DurableTracker preparing(OwnerId owner) {
    SessionRef session =
        new SessionRef(owner.inbox(process), SessionId.ofInbox(process), owner.slot(slots));
    return sessions.preparing(session, sender::registerInbox);
  }
}
