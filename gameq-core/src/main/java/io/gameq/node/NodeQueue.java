package io.gameq.node;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.Limits;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.QueueFullException;
import io.gameq.RollbackRequiredException;
import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.Takeover;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.CommitPart;
import io.gameq.change.Trade;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.PendingHandovers;
import io.gameq.durability.TrackedCommit;
import io.gameq.durability.TrackedReceipt;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.Catalog;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import io.gameq.view.OwnerView;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The queue of one node. Thread-safe. */
final class NodeQueue implements GameQueue {
  private final GameNode node;

  private NodeQueue(GameNode node) {
    this.node = node;
  }

  /** As {@link GameQueue#open(GameQueueConfig)}. */
  static GameQueue open(GameQueueConfig config) {
    return new NodeQueue(GameNode.start(config));
  }

  @Override
  public OwnerSession open(String owner) {
    return open(owner, Takeover.ALWAYS);
  }

  @Override
  public OwnerSession open(String owner, Takeover takeover) {
    OwnerId id = OwnerId.of(owner);
    List<Table> tables = tablesOf(id);
    return new NodeSession(this, id, node.open(id, tables, takeover));
  }

  @Override
  public <T extends Record> List<T> read(String owner, Class<T> type) {
    RecordMapper<T> mapper = mapper(type);
    return read(owner, mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  @Override
  public List<Row> read(String owner, String table) {
    Table of = table(table);
    return rows(node.read(OwnerId.of(owner), of), of);
  }

  @Override
  public Row row(String table, Map<String, ?> columns) {
    Table of = table(table);
    return new TableRow(of, of.canonicalRow(columns, clock()));
  }

  @Override
  public CommitReceipt commit(OwnerSession... sessions) {
    return commitUntil(Long.MAX_VALUE, NodeSession.all(sessions));
  }

  /** The same, and waits for room no longer than until then, by System.nanoTime. */
  CommitReceipt commitUntil(long deadlineNanos, NodeSession... sessions) {
    List<NodeSession> of = new ArrayList<>(sessions.length);
    List<CommitPart> parts = new ArrayList<>(sessions.length);
    List<StagedChanges> staged = Arrays.stream(sessions).map(NodeSession::staged).toList();
    try {
      Set<StagedChanges> all = Set.copyOf(staged);
      for (NodeSession session : sessions) {
        CommitPart part = session.takeStaged(all);
        if (part != null) {
          of.add(session);
          parts.add(part);
        }
      }
      if (parts.isEmpty()) {
        return TrackedReceipt.EMPTY;
      }
      parts.forEach(NodeQueue::checkOwned);
      checkLimits(parts);
      boolean moves = checkMoves(parts);
      return submit(of, parts, moves ? new Trade() : null, deadlineNanos);
    } catch (RuntimeException e) {
      for (int i = 0; i < parts.size(); i++) {
        if (!of.get(i).ref().isLost()) {
          of.get(i).staged().putBack(parts.get(i).rows());
        }
      }
      if (sessions.length > 1) {
        StagedChanges.stayOne(
            staged,
            e instanceof RollbackRequiredException
                || Arrays.stream(sessions).anyMatch(session -> session.ref().isLost()),
            e);
      }
      throw e;
    } finally {
      of.forEach(session -> session.tracker().prepared());
    }
  }

  private static void checkOwned(CommitPart part) {
    if (part.session().isLost()) {
      throw new OwnershipLostException(
          "session %s no longer owns %s: a newer session was opened; open the owner again"
              .formatted(part.session().id(), part.session().owner()));
    }
  }

  private void checkLimits(List<CommitPart> parts) {
    Limits limits = node.limits();
    int rows = 0;
    long bytes = 0;
    for (CommitPart part : parts) {
      rows += part.rows().size();
      for (ChangedRow row : part.rows()) {
        bytes += row.bytes();
      }
    }
    if (rows > limits.commitRows()) {
      throw new GameQueueException(
          "a commit of %d rows, the limit is %d: commit in smaller steps, or raise maxCommit"
              .formatted(rows, limits.commitRows()));
    }
    if (bytes > limits.commitBytes()) {
      throw new GameQueueException(
          "a commit of %d bytes, the limit is %d: commit in smaller steps, or raise maxCommit"
              .formatted(bytes, limits.commitBytes()));
    }
  }

  /**
   * Half of a move would show a row twice, or to nobody; and a row has one new image in a commit.
   * Returns whether any row moves.
   */
  private static boolean checkMoves(List<CommitPart> parts) {
    if (parts.size() == 1 && !hasHalf(parts.get(0))) {
      return false;
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
        .forEach(NodeQueue::refuseHalf);
    away.values().stream()
        .filter(row -> !here.containsKey(row.key()) || !here.get(row.key()).movedIn())
        .forEach(NodeQueue::refuseHalf);
    return !away.isEmpty();
  }

  private static boolean hasHalf(CommitPart part) {
    for (ChangedRow row : part.rows()) {
      if (row.movedIn() || row.op() == RowOp.MOVED) {
        return true;
      }
    }
    return false;
  }

  private static void refuseHalf(ChangedRow row) {
    throw new GameQueueException(
        "row "
            + row.key()
            + " moves between two owners: commit both sessions together with GameQueue.commit, or"
            + " roll both back");
  }

  private CommitReceipt submit(
      List<NodeSession> sessions, List<CommitPart> parts, @Nullable Trade trade, long mostNanos) {
    long deadline =
        Math.min(mostNanos, System.nanoTime() + node.limits().admissionMillis() * 1_000_000);
    awaitCallbacks(deadline);
    List<DurableTracker> trackers = new ArrayList<>(sessions.size());
    for (int i = 0; i < parts.size(); i++) {
      trackers.add(sessions.get(i).tracker());
      awaitRoom(trackers.get(i), parts.get(i), deadline);
    }
    List<CommitPart> told =
        PendingHandovers.told(
            parts, trackers, sessions.stream().map(NodeSession::handovers).toList(), trade);
    TrackedCommit commit = new TrackedCommit(told, trackers, trade);
    trackers.forEach(tracker -> tracker.submitted(commit));
    try {
      node.submit(commit, deadline);
    } catch (RuntimeException e) {
      commit.tookNoPlace();
      trackers.forEach(tracker -> tracker.failed(commit));
      throw e;
    }
    return commit.receipt(node.callbacks());
  }

  private void awaitCallbacks(long deadline) {
    if (!node.callbacks().awaitRoom(deadline)) {
      throw new QueueFullException(
          ("%,d callbacks of the game wait, and none ended within %d ms: what hangs on"
                  + " futures of commits takes too long, or blocks")
              .formatted(Callbacks.MOST_WAITING, node.limits().admissionMillis()));
    }
  }

  /** Has the owner flushed when it has no room: its rows are not to wait for the merge window. */
  private void awaitRoom(DurableTracker tracker, CommitPart part, long deadline) {
    Limits limits = node.limits();
    try {
      if (tracker.awaitRoom(
          part.rows(),
          limits.dirtyRowsPerOwner(),
          limits.dirtyBytesPerOwner(),
          System.nanoTime())) {
        return;
      }
      node.flushNow(List.of(tracker.session()));
      if (tracker.awaitRoom(
          part.rows(), limits.dirtyRowsPerOwner(), limits.dirtyBytesPerOwner(), deadline)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new QueueFullException(
        ("%s has as many rows, or bytes of them, that wait for MySQL as it may, and found"
                + " no room within %d ms: MySQL or the writers are slow or away, or"
                + " maxDirtyRowsPerOwner (%d) or maxDirtyBytesPerOwner (%d) is too low")
            .formatted(
                part.session().owner(),
                limits.admissionMillis(),
                limits.dirtyRowsPerOwner(),
                limits.dirtyBytesPerOwner()));
  }

  @Override
  public Set<String> drain(Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    Set<String> missing = new TreeSet<>();
    try {
      List<DurableTracker> trackers = node.trackers();
      for (DurableTracker tracker : trackers) {
        tracker.awaitQueued(deadline);
      }
      node.flushNow(trackers.stream().map(DurableTracker::session).toList());
      for (DurableTracker tracker : trackers) {
        tracker.awaitDurable(deadline);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    node.trackers().forEach(tracker -> missing.addAll(tracker.notDurable()));
    return missing;
  }

  @Override
  public void close() {
    node.close();
  }

  // --- for sessions

  Table table(String name) {
    return node.tables().games().table(name);
  }

  List<Row> rows(OwnerView view, Table of) {
    return view.rows(of).stream().map(image -> node.tables().row(image, of)).toList();
  }

  Clock clock() {
    return node.clock();
  }

  <T extends Record> RecordMapper<T> mapper(Class<T> type) {
    return node.tables().mapper(type);
  }

  @SuppressWarnings("unchecked") // the class of a T
  <T extends Record> RecordMapper<T> mapperOf(T row) {
    return mapper((Class<T>) row.getClass());
  }

  /** A put or move of a row, or its delete by its key alone. */
  ChangedRow encode(
      Table table,
      RowKey key,
      RowOp op,
      @Nullable Object[] values,
      CarriedColumns.@Nullable Carried carried) {
    byte[] image =
        op == RowOp.DELETE
            ? node.codec().encode(table, op, values)
            : node.codec().encode(node.tables().image(table, op, values, carried));
    if (image.length > node.limits().rowBytes()) {
      throw new RowRefusedException(
          "%s: a row of %d bytes encoded, the limit is %d: raise maxRowBytes"
              .formatted(table.name(), image.length, node.limits().rowBytes()));
    }
    return new ChangedRow(key.text(), image);
  }

  void flushNow(SessionRef session) {
    node.flushNow(List.of(session));
  }

  long callDeadline() {
    return node.callDeadline();
  }

  void closeSession(NodeSession session, long deadlineNanos) {
    node.closeSession(session.tracker(), deadlineNanos);
  }

  private List<Table> tablesOf(OwnerId owner) {
    Catalog catalog = node.tables().atStart();
    List<Table> tables = catalog.ownedBy(owner.kind());
    if (tables.isEmpty()) {
      Set<String> kinds = new TreeSet<>();
      catalog.tables().forEach(table -> kinds.add(table.ownerKind()));
      throw new GameQueueException(
          "no managed table has owners of kind '" + owner.kind() + "'; known kinds: " + kinds);
    }
    return tables;
  }
}
