package io.gameq.node;

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
import io.gameq.change.Commit.SlotMessages;
import io.gameq.change.FoldedMessages;
import io.gameq.commit.MessageCommits;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.PendingHandovers;
import io.gameq.durability.TrackedCommit;
import io.gameq.message.MessageChange;
import io.gameq.node.StagedChanges.Staged;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.topic.ClaimLostException;
import io.gameq.topic.Limits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Commits what is staged in sessions of one running node or in a change set, what is sent, and
 * messages: once there is room among all that waits for MySQL, among callbacks that wait, and among
 * its owner's rows that wait for MySQL. Thread-safe.
 */
final class SessionCommits implements MessageCommits {
  private static final String NOT_HANDLED =
      "it was to be committed together with the acknowledgement of a message, which could not be;";

  private final GameNode node;
  private final Limits limits;

  SessionCommits(GameNode node) {
    this.node = node;
    this.limits = node.config.limits();
  }

  /**
   * How a commit is to be treated. Immutable.
   *
   * @param isPushedBack whether a backlog holds it up or has it refused, by the node's policies
   * @param deadlineNanos until when it may wait for room, by System.nanoTime
   */
  record Terms(Urgency urgency, boolean isPushedBack, long deadlineNanos) {
    /** What the game commits. */
    static Terms of(Urgency urgency) {
      return new Terms(urgency, urgency == Urgency.NORMAL, Long.MAX_VALUE);
    }

    /** What is staged in a session that is closed: refused, it would be dropped. */
    static Terms last(long deadlineNanos) {
      return new Terms(Urgency.NORMAL, false, deadlineNanos);
    }
  }

  @Override
  public CommitReceipt commit(List<MessageChange> changes, OwnerSession... sessions) {
    return commit(
        Terms.of(Urgency.NORMAL),
        changes,
        sessions.length == 0 ? List.of() : NodeSession.staged(sessions));
  }

  /** Commits what is staged in sessions; as {@link io.gameq.GameQueue#commit}. */
  CommitReceipt commit(Terms terms, List<MessageChange> changes, List<StagedChanges> sessions) {
    return commit(terms, changes, sessions, List.of(), false);
  }

  /** Commits a change set; when it throws, nothing of it is left. */
  CommitReceipt commit(Terms terms, List<StagedChanges> set) {
    return commit(terms, List.of(), set, List.of(), true);
  }

  /** Commits rows that are sent to owners, without a session. */
  CommitReceipt send(List<GameRows.Sent> rows) {
    return commit(Terms.of(Urgency.NORMAL), List.of(), List.of(), rows, true);
  }

  private CommitReceipt commit(
      Terms terms,
      List<MessageChange> changes,
      List<StagedChanges> of,
      List<GameRows.Sent> alone,
      boolean isSet) {
    List<Staged> taken = new ArrayList<>(of.size());
    Set<StagedChanges> all =
        of.isEmpty()
            ? Set.of()
            : of.size() == 1 // nearly every commit
                ? Set.of(of.get(0))
                : Set.copyOf(of);
    try {
      for (StagedChanges one : of) {
        one.session.take(one, all, taken);
      }
      if (taken.isEmpty() && alone.isEmpty()) {
        return alone(changes);
      }
      return submit(taken, changes, taken.isEmpty() ? alone : sent(taken), terms);
    } catch (RuntimeException e) {
      node.sessions.counts().notTaken(e);
      if (!isSet) {
        putBack(of, taken, changes, all, e);
      }
      throw e;
    } finally {
      taken.forEach(its -> its.from().tracker.prepared());
    }
  }

  /** Changes of several sessions, or with the acknowledgement of a message, stay one change. */
  private static void putBack(
      List<StagedChanges> of,
      List<Staged> taken,
      List<MessageChange> changes,
      Set<StagedChanges> all,
      RuntimeException e) {
    for (Staged its : taken) {
      if (!its.from().ref().isLost()) {
        its.from().staged.putBack(its);
      }
    }
    if (changes.stream().anyMatch(MessageChange.Ack.class::isInstance)) {
      all.forEach(staged -> staged.setRollbackOnlyIfAny(NOT_HANDLED, e));
    }
    if (of.size() > 1) {
      StagedChanges.stayOne(
          all,
          e instanceof RollbackRequiredException
              || of.stream().anyMatch(one -> one.session.ref().isLost()),
          e);
    }
  }

  /** The parts of the inboxes come last. */
  private CommitReceipt submit(
      List<Staged> taken, List<MessageChange> changes, List<GameRows.Sent> sent, Terms terms) {
    List<SlotMessages> messages = messages(taken, changes);
    List<ChangedRow> handled = taken.isEmpty() ? List.of() : handled(messages);
    List<CommitPart> parts = new ArrayList<>(taken.size()); // one for each session, then inboxes
    taken.forEach(its -> parts.add(its.part()));
    List<DurableTracker> inboxes = sent.isEmpty() ? List.of() : new ArrayList<>();
    int noted = 0;
    boolean isSubmitted = false;
    try {
      prepareInboxes(sent, inboxes, parts);
      check(parts, messages);
      if (!handled.isEmpty()) {
        for (Staged its : taken) {
          its.from().handled.begin(handled);
          noted++;
        }
      }
      RowMove move = moves(parts) ? new RowMove() : null;
      long deadline = deadline(terms);
      awaitCallbacks(deadline);
      List<DurableTracker> trackers = new ArrayList<>(taken.size());
      List<PendingHandovers> handovers = new ArrayList<>(taken.size());
      for (Staged its : taken) {
        trackers.add(its.from().tracker);
        handovers.add(its.from().handovers);
      }
      for (DurableTracker inbox : inboxes) {
        trackers.add(inbox);
        handovers.add(new PendingHandovers(inbox, List.of()));
      }
      for (int i = 0; i < trackers.size(); i++) {
        awaitRoom(trackers.get(i), parts.get(i), deadline);
      }
      List<CommitPart> complete = PendingHandovers.withHandovers(parts, handovers, move);
      TrackedCommit commit =
          new TrackedCommit(with(handled, complete), messages, trackers, move, terms.urgency());
      if (!handled.isEmpty()) {
        commit.whenFailed(reason -> taken.forEach(its -> its.from().staged.refuse(reason)));
      }
      trackers.forEach(tracker -> tracker.submitted(commit));
      try {
        node.sender.submit(commit, deadline);
      } catch (RuntimeException e) {
        commit.moveFailed();
        trackers.forEach(tracker -> tracker.failed(commit));
        throw e;
      }
      taken.forEach(its -> its.from().committed(its.part().rows(), commit::outcome));
      isSubmitted = true;
      return commit.receipt(node.callbacks);
    } finally {
      for (int i = 0; i < noted; i++) {
        taken.get(i).from().handled.ended(handled, isSubmitted);
      }
      inboxes.forEach(DurableTracker::prepared);
    }
  }

  private static List<GameRows.Sent> sent(List<Staged> taken) {
    List<GameRows.Sent> sent = List.of(); // of nearly every commit
    for (Staged its : taken) {
      if (!its.sent().isEmpty()) {
        sent = new ArrayList<>(sent);
        sent.addAll(its.sent());
      }
    }
    return sent;
  }

  /**
   * Adds the inboxes into which this node sends rows, see {@link SessionId#ofInbox}, and their
   * parts. One is known from the first row on until all of it is in MySQL.
   */
  private void prepareInboxes(
      List<GameRows.Sent> sent, List<DurableTracker> inboxes, List<CommitPart> parts) {
    if (sent.isEmpty()) { // nearly every commit
      return;
    }
    Map<OwnerId, List<ChangedRow>> byOwner = new LinkedHashMap<>();
    sent.forEach(row -> byOwner.computeIfAbsent(row.to(), to -> new ArrayList<>()).add(row.row()));
    byOwner.forEach(
        (owner, rows) -> {
          SessionRef session =
              new SessionRef(
                  owner.inbox(node.process),
                  SessionId.ofInbox(node.process),
                  owner.slot(node.config.slots()));
          inboxes.add(node.sessions.preparing(session, node.sender::registerInbox));
          parts.add(new CommitPart(inboxes.get(inboxes.size() - 1).session(), rows));
        });
  }

  private static List<SlotMessages> messages(List<Staged> taken, List<MessageChange> changes) {
    if (taken.stream().allMatch(its -> its.messages().isEmpty())) { // nearly every
      return changes.isEmpty() ? List.of() : bySlot(changes);
    }
    FoldedMessages all = new FoldedMessages();
    all.addAll(changes);
    taken.forEach(its -> all.addAll(its.messages()));
    return SlotMessages.bySlot(all.list());
  }

  private static List<SlotMessages> bySlot(List<MessageChange> changes) {
    return SlotMessages.bySlot(changes.size() == 1 ? changes : FoldedMessages.of(changes));
  }

  /** What tells MySQL which messages were handled by a commit. */
  private static List<ChangedRow> handled(List<SlotMessages> messages) {
    List<ChangedRow> handled = new ArrayList<>();
    for (SlotMessages of : messages) {
      for (MessageChange change : of.changes()) {
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
                  HandledRow.of(
                      message, ack.handledVersion(), ack.occurrenceMillis(), ack.token())));
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

  // --- checks, before anything is sent

  /** Throws GameQueueException naming what is wrong; nothing was written then. */
  private void check(List<CommitPart> parts, List<SlotMessages> messages) {
    parts.forEach(SessionCommits::checkOwned);
    checkLimits(parts, messages);
    checkMoves(parts);
  }

  private static void checkOwned(CommitPart part) {
    if (part.session().isLost()) {
      throw new OwnershipLostException(
          part.session().owner().id(),
          "session %s no longer owns %s: a newer session was opened; open the owner again"
              .formatted(part.session().id(), part.session().owner()));
    }
  }

  /** Messages count as rows. */
  private void checkLimits(List<CommitPart> parts, List<SlotMessages> messages) {
    int rows = 0;
    long bytes = 0;
    for (SlotMessages of : messages) {
      rows += of.changes().size();
      bytes += of.bytes();
    }
    for (CommitPart part : parts) {
      rows += part.rows().size();
      bytes += part.bytes();
    }
    if (rows > limits.commitRows()) {
      throw new GameQueueException(
          "a commit of %s %s, the limit is %s: commit in smaller steps, or raise maxCommit"
              .formatted(
                  rows, messages.isEmpty() ? "rows" : "rows and messages", limits.commitRows()));
    }
    if (bytes > limits.commitBytes()) {
      throw new GameQueueException(
          "a commit of %s bytes, the limit is %s: commit in smaller steps, or raise maxCommit"
              .formatted(bytes, limits.commitBytes()));
    }
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
   * MovedRow of a move would show a row twice, or to nobody; and a row has one new image in a
   * commit.
   */
  private static void checkMoves(List<CommitPart> parts) {
    if (parts.size() < 2 && !moves(parts)) {
      return;
    }
    Map<String, ChangedRow> away = new HashMap<>();
    Map<String, ChangedRow> here = new HashMap<>();
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        if ((row.op() == RowOp.MOVED ? away : here).put(row.key(), row) != null) {
          throw new GameQueueException(
              "row " + row.key() + " is changed by two sessions of one commit");
        }
      }
    }
    here.values().stream()
        .filter(row -> row.movedIn() && !away.containsKey(row.key()))
        .forEach(SessionCommits::refuseHalf);
    away.values().stream()
        .filter(row -> !here.containsKey(row.key()) || !here.get(row.key()).movedIn())
        .forEach(SessionCommits::refuseHalf);
  }

  private static void refuseHalf(ChangedRow row) {
    throw new GameQueueException(
        "row "
            + row.key()
            + " moves between two owners: commit both sessions together with GameQueue.commit, or"
            + " roll both back");
  }

  // --- room

  /**
   * Until when a commit waits for room; it has been slowed down by then, if it is to be.
   *
   * @throws io.gameq.PushBackException when it is refused, since too much waits for MySQL
   */
  private long deadline(Terms terms) {
    long deadline = Math.min(terms.deadlineNanos(), admissionDeadline());
    if (terms.isPushedBack()) {
      node.pressure.admit(deadline);
    }
    return deadline;
  }

  private long admissionDeadline() {
    return System.nanoTime() + limits.admissionMillis() * 1_000_000;
  }

  private void awaitCallbacks(long deadline) {
    if (!node.callbacks.awaitRoom(deadline)) {
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
      node.closing.flushNow(List.of(tracker.session()));
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

  // --- messages alone, which wait for nothing that MySQL has to take

  private CommitReceipt alone(List<MessageChange> changes) {
    if (changes.isEmpty()) {
      return TrackedCommit.Receipt.EMPTY;
    }
    TrackedCommit commit =
        new TrackedCommit(List.of(), bySlot(changes), List.of(), null, Urgency.NORMAL);
    submit(commit, true);
    return commit.receipt(node.callbacks);
  }

  @Override
  public void commit(List<MessageChange> changes, Consumer<@Nullable RuntimeException> told) {
    if (changes.isEmpty()) {
      told.accept(null);
      return;
    }
    try {
      submit(
          new Commit(List.of(), bySlot(changes), null) {
            @Override
            public void queued() {
              told.accept(null);
            }

            @Override
            public void failed(RuntimeException reason) {
              told.accept(reason);
            }
          },
          false);
    } catch (RuntimeException e) {
      node.sessions.counts().notTaken(e);
      throw e;
    }
  }

  private void submit(Commit commit, boolean hasReceipt) {
    checkLimits(List.of(), commit.messages());
    long deadline = admissionDeadline();
    if (hasReceipt) {
      awaitCallbacks(deadline);
    }
    node.sender.submit(commit, deadline);
  }

  /**
   * Messages whose handlers' rows a session has committed or adopted, until MySQL has them.
   * Thread-safe.
   *
   * <p>Of two handlers of a message whose rows wait in one owner together MySQL could take neither:
   * each row has one image by then. So the second is refused before it is sent. Once the first's
   * rows are in MySQL, it is the flush that refuses the second's.
   */
  static final class HandledBefore {
    /** Beyond it those are searched for that are in MySQL by now. */
    private static final int MANY = 256;

    private final DurableTracker tracker;
    private final Map<String, String> byMessage = new HashMap<>();
    private int commitsUnderWay;
    private int searchAbove = MANY;

    HandledBefore(DurableTracker tracker, Collection<EncodedRow> adopted) {
      this.tracker = tracker;
      for (EncodedRow row : adopted) {
        if (HandledRow.is(row.key())) {
          byMessage.put(HandledRow.handling(row.key()), row.key());
        }
      }
    }

    /**
     * Notes what is about to be committed, when none of it was handled by another. To be
     * {@linkplain #ended ended}.
     *
     * @param handled rows of {@link HandledRow}
     * @throws ClaimLostException naming the owner; then nothing is noted
     */
    synchronized void begin(Collection<ChangedRow> handled) {
      for (ChangedRow row : handled) {
        String before = byMessage.get(HandledRow.handling(row.key()));
        if (before != null && !before.equals(row.key())) {
          throw new ClaimLostException(
              "%s has the rows of another handler of this message, its own or adopted ones"
                  .formatted(tracker.session().owner()));
        }
      }
      handled.forEach(row -> byMessage.put(HandledRow.handling(row.key()), row.key()));
      commitsUnderWay++;
    }

    /**
     * The tracker knows of the commit.
     *
     * @param isSubmitted false when it will not be sent: it is forgotten
     */
    synchronized void ended(Collection<ChangedRow> handled, boolean isSubmitted) {
      commitsUnderWay--;
      if (!isSubmitted) {
        handled.forEach(row -> byMessage.remove(HandledRow.handling(row.key()), row.key()));
      }
      if (commitsUnderWay == 0 && byMessage.size() > searchAbove) {
        byMessage.values().retainAll(tracker.notDurable());
        searchAbove = Math.max(MANY, 2 * byMessage.size());
      }
    }
  }
}
