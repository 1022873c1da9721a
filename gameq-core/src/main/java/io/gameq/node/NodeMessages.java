package io.gameq.node;

import io.gameq.CommitReceipt;
import io.gameq.OwnerSession;
import io.gameq.Urgency;
import io.gameq.change.Commit;
import io.gameq.change.FoldedMessages;
import io.gameq.change.SlotMessages;
import io.gameq.commit.MessageCommits;
import io.gameq.commit.ToldCommit;
import io.gameq.durability.TrackedCommit;
import io.gameq.durability.TrackedReceipt;
import io.gameq.message.MessageChange;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Commits messages of one running node. Thread-safe. */
final class NodeMessages implements MessageCommits {
  private final SessionCommits commits;
  private final GameNode node;
  private final CommitChecks checks;
  private final CommitRoom room;

  NodeMessages(SessionCommits commits, GameNode node, CommitChecks checks, CommitRoom room) {
    this.commits = commits;
    this.node = node;
    this.checks = checks;
    this.room = room;
  }

  @Override
  public CommitReceipt commit(List<MessageChange> changes) {
    if (changes.isEmpty()) {
      return TrackedReceipt.EMPTY;
    }
    TrackedCommit commit =
        new TrackedCommit(List.of(), bySlot(changes), List.of(), null, Urgency.NORMAL);
    submit(commit, true);
    return commit.receipt(node.callbacks());
  }

  @Override
  public CommitReceipt commit(List<MessageChange> changes, OwnerSession... sessions) {
    return commits.commit(CommitTerms.of(Urgency.NORMAL), changes, NodeSession.all(sessions));
  }

  @Override
  public void commit(List<MessageChange> changes, Consumer<@Nullable RuntimeException> told) {
    if (changes.isEmpty()) {
      told.accept(null);
    } else {
      submit(new ToldCommit(bySlot(changes), told), false);
    }
  }

  private static List<SlotMessages> bySlot(List<MessageChange> changes) {
    return SlotMessages.bySlot(changes.size() == 1 ? changes : FoldedMessages.of(changes));
  }

  private void submit(Commit commit, boolean mayHaveCallbacks) {
    try {
      checks.check(commit.messages());
      long deadline = room.deadline();
      if (mayHaveCallbacks) {
        room.awaitCallbacks(deadline);
      }
      node.sender().submit(commit, deadline);
    } catch (RuntimeException e) {
      node.sessions().counts().notTaken(e);
      throw e;
    }
  }
}
