package io.gameq.node;

import io.gameq.CommitReceipt;
import io.gameq.RollbackRequiredException;
import io.gameq.Urgency;
import io.gameq.change.ChangedRow;
import io.gameq.change.CommitPart;
import io.gameq.change.FoldedMessages;
import io.gameq.change.SlotMessages;
import io.gameq.change.Trade;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.PendingHandovers;
import io.gameq.durability.TrackedCommit;
import io.gameq.durability.TrackedReceipt;
import io.gameq.message.MessageChange;
import io.gameq.owner.OwnerId;
import io.gameq.rows.HandledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Commits what is staged in sessions of one running node, or in a change set. Thread-safe. */
final class SessionCommits {
  private static final String NOT_HANDLED =
      "it was to be committed together with the acknowledgement of a message, which could not be;";

  private final GameNode node;
  private final CommitChecks checks;
  private final CommitRoom room;
  private final NodeMessages messages;

  SessionCommits(GameNode node, CommitChecks checks, CommitRoom room) {
    this.node = node;
    this.checks = checks;
    this.room = room;
    this.messages = new NodeMessages(this, node, checks, room);
  }

  /** What commits messages, alone or together with what is staged in sessions. */
  NodeMessages messages() {
    return messages;
  }

  /** Commits what is staged in sessions; as {@link io.gameq.GameQueue#commit}. */
  CommitReceipt commit(CommitTerms terms, NodeSession... sessions) {
    return commit(terms, List.of(), sessions);
  }

  CommitReceipt commit(CommitTerms terms, List<MessageChange> changes, NodeSession... sessions) {
    List<NodeSession.Taken> taken = new ArrayList<>(sessions.length);
    Set<StagedChanges> all = staged(sessions);
    try {
      for (NodeSession session : sessions) {
        take(session, session.staged(), all, taken);
      }
      if (taken.isEmpty()) {
        return changes.isEmpty() ? TrackedReceipt.EMPTY : messages.commit(changes);
      }
      return submit(taken, changes, terms);
    } catch (RuntimeException e) {
      node.sessions().counts().notTaken(e);
      for (NodeSession.Taken its : taken) {
        if (!its.from().ref().isLost()) {
          its.from().staged().putBack(its.staged());
        }
      }
      if (acknowledges(changes)) {
        all.forEach(staged -> staged.tearIfAny(NOT_HANDLED, e));
      }
      if (sessions.length > 1) {
        StagedChanges.stayOne(
            all,
            e instanceof RollbackRequiredException
                || Arrays.stream(sessions).anyMatch(session -> session.ref().isLost()),
            e);
      }
      throw e;
    } finally {
      taken.forEach(its -> its.from().tracker().prepared());
    }
  }

  private static boolean acknowledges(List<MessageChange> changes) {
    return changes.stream().anyMatch(MessageChange.Ack.class::isInstance);
  }

  private static Set<StagedChanges> staged(NodeSession... sessions) {
    if (sessions.length == 1) { // nearly every commit
      return Set.of(sessions[0].staged());
    }
    return Arrays.stream(sessions).map(NodeSession::staged).collect(Collectors.toSet());
  }

  private static void take(
      NodeSession session,
      StagedChanges staged,
      Set<StagedChanges> all,
      List<NodeSession.Taken> taken) {
    NodeSession.Taken its = session.take(staged, all);
    if (its != null) {
      taken.add(its);
    }
  }

  /** Commits a change set; when it throws, nothing of it is left. */
  CommitReceipt commit(CommitTerms terms, List<StagedChangeSet.Share> set) {
    List<NodeSession.Taken> taken = new ArrayList<>(set.size());
    Set<StagedChanges> all =
        set.stream().map(StagedChangeSet.Share::staged).collect(Collectors.toSet());
    try {
      for (StagedChangeSet.Share share : set) {
        take(share.session(), share.staged(), all, taken);
      }
      return taken.isEmpty() ? TrackedReceipt.EMPTY : submit(taken, List.of(), terms);
    } catch (RuntimeException e) {
      node.sessions().counts().notTaken(e);
      throw e;
    } finally {
      taken.forEach(its -> its.from().tracker().prepared());
    }
  }

  /** Commits rows that are sent to owners, without a session. */
  CommitReceipt send(List<SentRow> rows) {
    if (rows.isEmpty()) {
      return TrackedReceipt.EMPTY;
    }
    try {
      return submit(List.of(), List.of(), rows, CommitTerms.of(Urgency.NORMAL));
    } catch (RuntimeException e) {
      node.sessions().counts().notTaken(e);
      throw e;
    }
  }

  private CommitReceipt submit(
      List<NodeSession.Taken> taken, List<MessageChange> changes, CommitTerms terms) {
    List<SentRow> sent = List.of();
    for (NodeSession.Taken its : taken) {
      if (!its.staged().sent().isEmpty()) {
        sent = new ArrayList<>(sent);
        sent.addAll(its.staged().sent());
      }
    }
    return submit(taken, changes, sent, terms);
  }

  private CommitReceipt submit(
      List<NodeSession.Taken> taken,
      List<MessageChange> changes,
      List<SentRow> sent,
      CommitTerms terms) {
    List<SlotMessages> messagesOf = messages(taken, changes);
    if (sent.isEmpty() && taken.size() == 1) { // nearly every commit
      return submit(taken, List.of(taken.get(0).part()), List.of(), messagesOf, terms);
    }
    List<CommitPart> parts = new ArrayList<>(taken.size());
    taken.forEach(its -> parts.add(its.part()));
    List<DurableTracker> inboxes = new ArrayList<>();
    Map<OwnerId, List<ChangedRow>> byOwner = new LinkedHashMap<>();
    sent.forEach(row -> byOwner.computeIfAbsent(row.to(), to -> new ArrayList<>()).add(row.row()));
    try {
      byOwner.forEach(
          (owner, rows) -> {
            DurableTracker inbox = node.inboxes().preparing(owner);
            inboxes.add(inbox);
            parts.add(new CommitPart(inbox.session(), rows));
          });
      return submit(taken, parts, inboxes, messagesOf, terms);
    } finally {
      inboxes.forEach(DurableTracker::prepared);
    }
  }

  /** The parts of the inboxes come last. */
  private CommitReceipt submit(
      List<NodeSession.Taken> taken,
      List<CommitPart> parts,
      List<DurableTracker> inboxes,
      List<SlotMessages> messagesOf,
      CommitTerms terms) {
    checks.check(parts, messagesOf);
    List<ChangedRow> handled = handled(messagesOf);
    if (handled.isEmpty()) { // nearly every commit
      return submit(taken, parts, inboxes, messagesOf, handled, terms);
    }
    List<HandledBefore> noted = new ArrayList<>(taken.size());
    boolean isSubmitted = false;
    try {
      for (NodeSession.Taken its : taken) {
        its.from().handled().begin(handled);
        noted.add(its.from().handled());
      }
      CommitReceipt receipt = submit(taken, parts, inboxes, messagesOf, handled, terms);
      isSubmitted = true;
      return receipt;
    } finally {
      for (HandledBefore by : noted) {
        by.ended(handled, isSubmitted);
      }
    }
  }

  private CommitReceipt submit(
      List<NodeSession.Taken> taken,
      List<CommitPart> parts,
      List<DurableTracker> inboxes,
      List<SlotMessages> messagesOf,
      List<ChangedRow> handled,
      CommitTerms terms) {
    Trade trade = CommitChecks.moves(parts) ? new Trade() : null;
    long deadline = room.deadline(terms);
    room.awaitCallbacks(deadline);
    List<DurableTracker> trackers = new ArrayList<>(taken.size());
    List<PendingHandovers> handovers = new ArrayList<>(taken.size());
    for (NodeSession.Taken its : taken) {
      trackers.add(its.from().tracker());
      handovers.add(its.from().handovers());
      room.await(its.from().tracker(), its.part(), deadline);
    }
    for (DurableTracker inbox : inboxes) {
      trackers.add(inbox);
      handovers.add(PendingHandovers.none());
      room.await(inbox, parts.get(handovers.size() - 1), deadline);
    }
    List<CommitPart> told = PendingHandovers.told(parts, trackers, handovers, trade);
    TrackedCommit commit =
        new TrackedCommit(with(handled, told), messagesOf, trackers, trade, terms.urgency());
    if (!handled.isEmpty()) {
      commit.whenFailed(reason -> taken.forEach(its -> its.from().staged().refuse(reason)));
    }
    trackers.forEach(tracker -> tracker.submitted(commit));
    try {
      node.sender().submit(commit, deadline);
    } catch (RuntimeException e) {
      commit.tookNoPlace();
      trackers.forEach(tracker -> tracker.failed(commit));
      throw e;
    }
    taken.forEach(its -> its.from().committed(its.part().rows(), commit::outcome));
    return commit.receipt(node.callbacks());
  }

  /** What tells MySQL which messages were handled by a commit. */
  private static List<ChangedRow> handled(List<SlotMessages> messages) {
    List<ChangedRow> handled = new ArrayList<>();
    for (SlotMessages of : messages) {
      for (MessageChange change : of.changes()) {
        if (change instanceof MessageChange.Ack ack) {
          handled.add(
              new ChangedRow(
                  HandledRow.of(
                      ack.id().topic(),
                      ack.id().id(),
                      ack.handledVersion(),
                      ack.occurrenceMillis(),
                      ack.token())));
        }
      }
    }
    return handled;
  }

  /** The parts, each with these rows if it has any: owners are flushed one by one. */
  private static List<CommitPart> with(List<ChangedRow> handled, List<CommitPart> parts) {
    if (handled.isEmpty()) { // nearly every commit
      return parts;
    }
    List<CommitPart> all = new ArrayList<>(parts.size());
    for (CommitPart part : parts) {
      List<ChangedRow> rows = new ArrayList<>(part.rows());
      if (!rows.isEmpty()) {
        rows.addAll(handled);
      }
      all.add(new CommitPart(part.session(), rows));
    }
    return all;
  }

  private static List<SlotMessages> messages(
      List<NodeSession.Taken> taken, List<MessageChange> changes) {
    boolean any = !changes.isEmpty();
    for (NodeSession.Taken its : taken) {
      any |= !its.staged().messages().isEmpty();
    }
    if (!any) { // nearly every commit
      return List.of();
    }
    FoldedMessages all = new FoldedMessages();
    all.addAll(changes);
    taken.forEach(its -> all.addAll(its.staged().messages()));
    return SlotMessages.bySlot(all.list());
  }
}
