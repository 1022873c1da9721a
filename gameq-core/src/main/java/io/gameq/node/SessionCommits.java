package io.gameq.node;

import io.gameq.ChangeSet;
import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.QueueFullException;
import io.gameq.RollbackRequiredException;
import io.gameq.Urgency;
import io.gameq.change.ChangedRow;
import io.gameq.change.ChangedRow.RowMove;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.FoldedMessages;
import io.gameq.commit.MessageCommits;
import io.gameq.config.WhenCommitFails;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.PendingHandovers;
import io.gameq.durability.TrackedCommit;
import io.gameq.message.MessageChange;
import io.gameq.node.StagedChanges.Staged;
import io.gameq.node.StagedChanges.StagedChangeSet;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.topic.Limits;
import io.gameq.view.GameRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Commits what is staged in sessions of one running node or in a change set, what is sent, and
 * messages: once there is room among all that waits for MySQL, among callbacks that wait, and among
 * its owner's rows that wait for MySQL. Thread-safe.
 */
final class SessionCommits implements MessageCommits {
  private static final String NOT_HANDLED =
      "it was to be committed together with the acknowledgement of a message, which could not be;";

  /** Of a commit that waits for room as long as the limits say. */
  private static final long NO_DEADLINE = Long.MAX_VALUE;

  private final SessionHost node;
  private final Limits limits;
  private final WhenCommitFails whenFails;
  private final Runnable hurry; // one for all: a commit makes no object for it
  private final Supplier<CompletableFuture<String>> writers;

  SessionCommits(SessionHost node) {
    this.node = node;
    this.limits = node.limits();
    this.whenFails = node.whenCommitFails();
    this.hurry = node::hurry;
    this.writers = node::writers;
  }

  @Override
  public CommitReceipt commit(List<MessageChange> changes, OwnerSession... sessions) {
    return commit(Urgency.NORMAL, changes, Arrays.stream(sessions).map(StagedChanges::of).toList());
  }

  @Override
  public CommitReceipt commit(
      List<MessageChange> changes, Consumer<ChangeSet> staging, OwnerSession... sessions) {
    StagedChangeSet set = new StagedChangeSet(node, this, List.of(sessions));
    boolean unused =
        set.stage(
            its -> {
              staging.accept(its);
              return true;
            });
    return commitSet(set, changes);
  }

  /** Commits what is staged in sessions; as {@link io.gameq.GameQueue#commit}. */
  CommitReceipt commit(Urgency urgency, List<MessageChange> changes, List<StagedChanges> sessions) {
    return commit(urgency, changes, sessions, List.of(), false, NO_DEADLINE);
  }

  /** Commits what is staged in a session that is closed: pushed back, it would be dropped. */
  CommitReceipt commitLast(StagedChanges session, long deadlineNanos) {
    return commit(Urgency.NORMAL, List.of(), List.of(session), List.of(), false, deadlineNanos);
  }

  /** Commits a change set; when it throws, nothing of it is left. */
  CommitReceipt commitSet(StagedChangeSet set, List<MessageChange> changes) {
    return commit(
        set.urgency(), joined(changes, set.messages()), set.shares, set.sent(), true, NO_DEADLINE);
  }

  /** Commits rows that are sent to owners, without a session. */
  CommitReceipt send(List<GameRows.Sent> rows) {
    return commit(Urgency.NORMAL, List.of(), List.of(), rows, true, NO_DEADLINE);
  }

  @Override
  public void commit(List<MessageChange> changes, Consumer<@Nullable RuntimeException> told) {
    if (changes.isEmpty()) {
      told.accept(null);
      return;
    }
    try {
      List<MessageChange> messages = messages(List.of(), changes);
      checkLimits(List.of(), messages);
      node.submit(
          new Commit(List.of(), messages, null) {
            @Override
            public void queued() {
              told.accept(null);
            }

            @Override
            public void failed(RuntimeException reason) {
              told.accept(reason);
            }
          },
          admissionDeadline());
    } catch (RuntimeException e) {
      node.sessions().counts().failed(e, false);
      throw e;
    }
  }

  /** Takes what is staged, and has it sent, or puts it back unless it is a set's. */
  private CommitReceipt commit(
      Urgency urgency,
      List<MessageChange> changes,
      List<StagedChanges> of,
      List<GameRows.Sent> alone,
      boolean isSet,
      long deadlineNanos) {
    Set<StagedChanges> all = of.size() == 1 ? Set.of(of.get(0)) : Set.copyOf(of); // mostly one
    List<Staged> taken = new ArrayList<>(of.size());
    List<DurableTracker> trackers = new ArrayList<>(of.size()); // their closes wait
    List<GameRows.Sent> sent = alone;
    try {
      for (StagedChanges one : of) {
        boolean mustOwn = isSet && acknowledges(changes, one.owner.id);
        Staged its = one.take(all, mustOwn);
        if (mustOwn || !its.isEmpty()) {
          taken.add(its);
          trackers.add(one.owner.tracker);
          sent = joined(sent, its.sent());
        }
      }
      return taken.isEmpty() && sent.isEmpty() && changes.isEmpty()
          ? TrackedCommit.Receipt.EMPTY
          : submit(urgency, changes, taken, trackers, sent, deadlineNanos);
    } catch (RuntimeException e) {
      node.sessions().counts().failed(e, false);
      if (!isSet) {
        putBack(of, all, taken, changes, e);
      }
      throw e;
    } finally {
      trackers.forEach(DurableTracker::prepared);
    }
  }

  /** Whether it ends a message of the owner, which a session that lost the owner must not. */
  private static boolean acknowledges(List<MessageChange> changes, OwnerId owner) {
    return changes.stream()
        .anyMatch(
            change ->
                change instanceof MessageChange.Ack
                    && change.id().lane().equals(owner.encoded() + ":"));
  }

  private static <T> List<T> joined(List<T> some, List<T> more) {
    if (some.isEmpty() || more.isEmpty()) { // nearly every commit
      return some.isEmpty() ? more : some;
    }
    List<T> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }

  /** Changes of several sessions, or with the acknowledgement of a message, stay one change. */
  private static void putBack(
      List<StagedChanges> of,
      Set<StagedChanges> all,
      List<Staged> taken,
      List<MessageChange> changes,
      RuntimeException e) {
    for (Staged its : taken) {
      if (!its.from().takesNoMore()) {
        its.from().putBack(its);
      }
    }
    if (changes.stream().anyMatch(MessageChange.Ack.class::isInstance)) {
      all.forEach(staged -> staged.setRollbackOnlyIfAny(NOT_HANDLED, e));
    }
    if (of.size() > 1) {
      StagedChanges.stayOne(
          all,
          e instanceof RollbackRequiredException
              || of.stream().anyMatch(StagedChanges::takesNoMore),
          e);
    }
  }

  /**
   * Hands a commit to the sender, once there is room.
   *
   * @param trackers of those taken, in their order; takes those of inboxes in
   */
  private CommitReceipt submit(
      Urgency urgency,
      List<MessageChange> changes,
      List<Staged> taken,
      List<DurableTracker> trackers,
      List<GameRows.Sent> sent,
      long deadlineNanos) {
    List<MessageChange> messages = messages(taken, changes);
    List<ChangedRow> handled = taken.isEmpty() && sent.isEmpty() ? List.of() : handled(messages);
    List<CommitPart> parts = new ArrayList<>(taken.size()); // one for each session, then inboxes
    List<PendingHandovers> handovers = new ArrayList<>(taken.size());
    for (Staged its : taken) {
      parts.add(its.part());
      handovers.add(its.from().owner.handovers);
    }
    if (!sent.isEmpty()) { // hardly ever
      addInboxes(sent, parts, trackers, handovers);
    }
    RowMove move = moves(parts) ? new RowMove() : null;
    parts.forEach(SessionCommits::checkOwned);
    checkLimits(parts, messages);
    checkMoves(parts, move != null);
    int noted = 0;
    boolean isSubmitted = false;
    try {
      for (Staged its : handled.isEmpty() ? List.<Staged>of() : taken) {
        its.from().owner.handled.begin(handled);
        noted++;
      }
      long deadline = Math.min(deadlineNanos, admissionDeadline());
      if (urgency == Urgency.NORMAL && deadlineNanos == NO_DEADLINE && !parts.isEmpty()) {
        node.admit(deadline); // messages alone wait for nothing that MySQL has to take
      }
      awaitCallbacks(deadline);
      for (int i = 0; i < trackers.size(); i++) {
        awaitRoom(trackers.get(i), parts.get(i), deadline);
      }
      TrackedCommit commit =
          new TrackedCommit(
              with(handled, PendingHandovers.withHandovers(parts, handovers, move)),
              messages,
              trackers,
              move,
              urgency);
      taken.forEach(its -> its.from().requireNotEnded());
      if (!handled.isEmpty() || whenFails == WhenCommitFails.END_SESSION) {
        boolean always = !handled.isEmpty();
        commit.whenFailed(
            reason -> {
              if (always || !(reason instanceof OwnershipLostException)) {
                taken.forEach(its -> its.from().refuse(reason));
              }
            });
      }
      trackers.forEach(tracker -> tracker.submitted(commit));
      try {
        node.submit(commit, deadline);
      } catch (RuntimeException e) {
        commit.moveFailed();
        trackers.forEach(tracker -> tracker.failed(commit));
        throw e;
      }
      taken.forEach(its -> its.from().owner.committed(its.part().rows(), commit::outcome));
      isSubmitted = true;
      return commit.receipt(node.callbacks(), hurry, writers);
    } finally {
      for (int i = 0; i < noted; i++) {
        taken.get(i).from().owner.handled.ended(handled, isSubmitted);
      }
    }
  }

  /**
   * Adds the inboxes into which this node sends rows, see {@link SessionId#ofInbox}, and their
   * parts. One is known from the first row on until all of it is in MySQL.
   */
  private void addInboxes(
      List<GameRows.Sent> sent,
      List<CommitPart> parts,
      List<DurableTracker> trackers,
      List<PendingHandovers> handovers) {
    Map<OwnerId, List<ChangedRow>> byOwner = new LinkedHashMap<>();
    sent.forEach(row -> byOwner.computeIfAbsent(row.to(), to -> new ArrayList<>()).add(row.row()));
    byOwner.forEach(
        (owner, rows) -> {
          SessionRef session =
              new SessionRef(
                  owner.inbox(node.process()),
                  SessionId.ofInbox(node.process()),
                  owner.slot(node.slots()));
          DurableTracker inbox = node.sessions().preparing(session, node::registerInbox);
          trackers.add(inbox);
          parts.add(new CommitPart(inbox.session(), rows));
          handovers.add(new PendingHandovers(inbox, List.of()));
        });
  }

  private static List<MessageChange> messages(List<Staged> taken, List<MessageChange> changes) {
    List<MessageChange> all = changes;
    for (Staged its : taken) {
      all = joined(all, its.messages());
    }
    return all.size() <= 1 ? all : FoldedMessages.of(all);
  }

  /** What tells MySQL which messages were handled by a commit. */
  private static List<ChangedRow> handled(List<MessageChange> messages) {
    List<ChangedRow> handled = new ArrayList<>();
    for (MessageChange change : messages) {
      if (change instanceof MessageChange.Ack ack) {
        MessageChange.Publish again = ack.again();
        HandledRow.Message message =
            new HandledRow.Message(
                ack.id().topic(),
                ack.id().id(),
                ack.slot(),
                again == null ? 0 : again.dueMillis(),
                again == null ? new byte[0] : again.value());
        handled.add(
            new ChangedRow(
                HandledRow.of(message, ack.handledVersion(), ack.occurrenceMillis(), ack.token())));
      }
    }
    return handled;
  }

  /** The parts, each with these rows if it has any: owners are flushed one by one. */
  private static List<CommitPart> with(List<ChangedRow> handled, List<CommitPart> parts) {
    if (handled.isEmpty()) { // nearly every commit
      return parts;
    }
    return parts.stream()
        .map(
            of ->
                of.rows().isEmpty() ? of : new CommitPart(of.session(), joined(of.rows(), handled)))
        .toList();
  }

  // --- checks, before anything is sent

  private static void checkOwned(CommitPart part) {
    if (part.session().isLost()) {
      throw new OwnershipLostException(
          part.session().owner().id(),
          "session %s no longer owns %s: a newer session was opened; open the owner again"
              .formatted(part.session().id(), part.session().owner()));
    }
  }

  /** Messages count as rows. */
  private void checkLimits(List<CommitPart> parts, List<MessageChange> messages) {
    int rows = messages.size();
    long bytes = 0;
    for (MessageChange change : messages) {
      bytes += change.bytes();
    }
    for (CommitPart part : parts) {
      rows += part.rows().size();
      bytes += part.bytes();
    }
    StagedChanges.requireFit(
        limits, "a commit", rows, messages.isEmpty() ? "rows" : "rows and messages", bytes);
  }

  /** Whether any row moves between two owners. */
  private static boolean moves(List<CommitPart> parts) {
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        if (row.movedIn() || row.op() == RowOp.MOVED) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Half of a move would show a row twice, or to nobody; and a row has one new image in a commit.
   */
  private static void checkMoves(List<CommitPart> parts, boolean moves) {
    if (parts.size() < 2 && !moves) {
      return;
    }
    Set<String> away = new HashSet<>();
    Set<String> here = new HashSet<>();
    Set<String> movedIn = new HashSet<>();
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        if (!(row.op() == RowOp.MOVED ? away : here).add(row.key())) {
          throw new GameQueueException(
              "row " + row.key() + " is changed by two sessions of one commit");
        }
        if (row.movedIn()) {
          movedIn.add(row.key());
        }
      }
    }
    Set<String> moved = new HashSet<>(away);
    moved.addAll(movedIn);
    for (String key : moved) {
      if (!away.contains(key) || !movedIn.contains(key)) {
        throw new GameQueueException(
            ("row %s moves between two owners: commit both sessions together with GameQueue.commit,"
                    + " or roll both back")
                .formatted(key));
      }
    }
  }

  // --- room

  private long admissionDeadline() {
    return System.nanoTime() + limits.admissionMillis() * 1_000_000;
  }

  private void awaitCallbacks(long deadline) {
    if (!node.callbacks().awaitRoom(deadline)) {
      throw new QueueFullException(
          String.format(
              Locale.ROOT,
              "%,d callbacks of the game wait, and none ended within %d ms: what hangs on"
                  + " futures of commits takes too long, or blocks",
              Callbacks.MOST_WAITING,
              limits.admissionMillis()));
    }
  }

  /** Has the owner flushed when it has no room: its rows are not to wait for the merge window. */
  private void awaitRoom(DurableTracker tracker, CommitPart part, long deadline) {
    int rows = limits.dirtyRowsPerOwner();
    int bytes = limits.dirtyBytesPerOwner();
    try {
      if (tracker.awaitRoom(part.rows(), rows, bytes, System.nanoTime())) {
        return;
      }
      node.flushNow(List.of(tracker.session()));
      if (tracker.awaitRoom(part.rows(), rows, bytes, deadline)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new QueueFullException(
        ("%s has as many rows, or bytes of them, that wait for MySQL as it may, and found"
                + " no room within %s ms: MySQL or the writers are slow or away, or"
                + " maxDirtyRowsPerOwner (%s) or maxDirtyBytesPerOwner (%s) is too low")
            .formatted(part.session().owner(), limits.admissionMillis(), rows, bytes));
  }
}
