package io.gameq;

import io.gameq.DurableFutures.Share;
import io.gameq.catalog.Catalog;
import io.gameq.catalog.RecordMapper;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.RowOp;
import io.gameq.catalog.Table;
import io.gameq.commit.ChangedRow;
import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import io.gameq.commit.Limits;
import io.gameq.commit.SessionRef;
import io.gameq.commit.Trade;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A game node's end of the queue: opens owners, commits their changes, reads. One per process is
 * enough. Thread-safe.
 *
 * <p>What survives: a kill of the process loses nothing that was {@linkplain CommitReceipt#queued
 * queued}; a loss of Redis loses nothing that was {@linkplain CommitReceipt#durable durable}, and
 * the WAL directory holds the rest.
 */
public final class GameQueue implements AutoCloseable {
  private final GameNode node;

  private GameQueue(GameNode node) {
    this.node = node;
  }

  /**
   * Connects, checks both servers, and starts a fresh WAL.
   *
   * @throws GameQueueException naming what is missing or unfit and the remedy; then nothing is left
   *     running
   */
  public static GameQueue open(GameQueueConfig config) {
    return new GameQueue(GameNode.start(config));
  }

  /**
   * Takes an owner over, from whichever node had it, and loads its rows.
   *
   * @param owner {@code kind:key}, for example {@code player:42}
   * @throws OwnershipLostException when another node opened the owner at the same moment
   * @throws GameQueueException when the id is malformed or of an unknown kind, or a server is away;
   *     opening again is safe
   */
  public OwnerSession open(String owner) {
    return open(owner, Takeover.ALWAYS);
  }

  /**
   * Opens an owner and loads its rows; see {@link #open(String)}.
   *
   * @param takeover what to do when another node has it open
   * @throws OwnerHeldException when another node has it open and it is not to be taken over;
   *     nothing was changed
   */
  public OwnerSession open(String owner, Takeover takeover) {
    OwnerId id = OwnerId.of(owner);
    List<Table> tables = tablesOf(id);
    return new OwnerSession(this, id, node.open(id, tables, takeover));
  }

  /**
   * What an owner has in one table now, without taking it over: at least everything queued before
   * the call.
   */
  public <T extends Record> List<T> read(String owner, Class<T> type) {
    RecordMapper<T> mapper = mapper(type);
    return read(owner, mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  /** What an owner has in one table now; see {@link #read(String, Class)}. */
  public List<Row> read(String owner, String table) {
    Table of = table(table);
    return rows(node.read(OwnerId.of(owner), of), of);
  }

  /**
   * The full row that a put of these columns would write, checked and with defaults filled in;
   * nothing is staged. Throws as {@link OwnerSession#put}.
   */
  public Row row(String table, Map<String, ?> columns) {
    Table of = table(table);
    return new Row(of, of.canonicalRow(columns, clock()));
  }

  /**
   * Commits everything staged in several sessions of this node as one atomic change: a trade.
   * Returns at once.
   *
   * <p>When it throws, what is staged in these sessions stays one change: commit all of them
   * together again, or {@linkplain OwnerSession#rollback roll all of them back}; one of them alone
   * throws {@link RollbackRequiredException}.
   *
   * @throws RollbackRequiredException when what is staged in one of the sessions may be half of a
   *     change; all of them must be rolled back then
   * @throws OwnershipLostException when one of the sessions is known to have lost its owner; what
   *     was staged in that one is dropped, and the others must be rolled back
   * @throws QueueFullException when too much waits for Redis; what was staged stays staged
   * @throws GameQueueException when the commit is larger than the limits; what was staged stays
   *     staged
   */
  public CommitReceipt commit(OwnerSession... sessions) {
    return commitUntil(Long.MAX_VALUE, sessions);
  }

  /** The same, and waits for room no longer than until then, by System.nanoTime. */
  CommitReceipt commitUntil(long deadlineNanos, OwnerSession... sessions) {
    List<OwnerSession> of = new ArrayList<>(sessions.length);
    List<CommitPart> parts = new ArrayList<>(sessions.length);
    List<StagedRows> staged = Arrays.stream(sessions).map(OwnerSession::staged).toList();
    try {
      Set<StagedRows> all = Set.copyOf(staged);
      for (OwnerSession session : sessions) {
        CommitPart part = session.takeStaged(all);
        if (part != null) {
          of.add(session);
          parts.add(part);
        }
      }
      if (parts.isEmpty()) {
        return CommitReceipt.EMPTY;
      }
      parts.forEach(GameQueue::checkOwned);
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
        StagedRows.stayOne(
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
        .forEach(GameQueue::refuseHalf);
    away.values().stream()
        .filter(row -> !here.containsKey(row.key()) || !here.get(row.key()).movedIn())
        .forEach(GameQueue::refuseHalf);
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
      List<OwnerSession> sessions, List<CommitPart> parts, @Nullable Trade trade, long mostNanos) {
    long deadline =
        Math.min(mostNanos, System.nanoTime() + node.limits().admissionMillis() * 1_000_000);
    awaitCallbacks(deadline);
    List<DurableTracker> trackers = new ArrayList<>(sessions.size());
    for (int i = 0; i < parts.size(); i++) {
      trackers.add(sessions.get(i).tracker());
      awaitRoom(trackers.get(i), parts.get(i), deadline);
    }
    List<CommitPart> told =
        HandedOver.told(
            parts, trackers, sessions.stream().map(OwnerSession::handedOver).toList(), trade);
    TrackedCommit commit = new TrackedCommit(told, trackers, trade);
    trackers.forEach(tracker -> tracker.submitted(commit));
    try {
      node.submit(commit, deadline);
    } catch (RuntimeException e) {
      commit.tookNoPlace();
      trackers.forEach(tracker -> tracker.failed(commit));
      throw e;
    }
    return new CommitReceipt(
        commit.journaled, commit.queued, commit.durability::future, node.callbacks());
  }

  private void awaitCallbacks(long deadline) {
    if (!node.callbacks().awaitRoom(deadline)) {
      throw new QueueFullException(
          "%,d callbacks of the game wait, and none ended within %d ms: what hangs on futures of commits takes too long, or blocks"
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
        "%s has as many rows, or bytes of them, that wait for MySQL as it may, and found no room within %d ms: MySQL or the writers are slow or away, or maxDirtyRowsPerOwner (%d) or maxDirtyBytesPerOwner (%d) is too low"
            .formatted(
                part.session().owner(),
                limits.admissionMillis(),
                limits.dirtyRowsPerOwner(),
                limits.dirtyBytesPerOwner()));
  }

  /** Tells the sessions and the game what became of a commit. */
  private static final class TrackedCommit extends Commit {
    private final Journaled journaled = new Journaled();
    private final Queued queued = new Queued();
    private final Durability durability;
    private final @Nullable Trade trade;

    TrackedCommit(List<CommitPart> parts, List<DurableTracker> trackers, @Nullable Trade trade) {
      super(parts, trade);
      this.trade = trade;
      durability = new Durability(trackers, new Share[trackers.size()]);
    }

    @Override
    public void journaled() {
      journaled.reached();
    }

    @Override
    public void queued() {
      for (int i = 0; i < durability.trackers.size(); i++) {
        durability.shares[i] = durability.trackers.get(i).queued(this);
      }
      queued.arrived();
    }

    /** What was received in it was not. */
    void tookNoPlace() {
      if (trade != null) {
        trade.fail();
      }
    }

    @Override
    public void failed(RuntimeException reason) {
      if (!(reason instanceof CommitUnknownException)) {
        tookNoPlace();
      }
      durability.trackers.forEach(tracker -> tracker.failed(this));
      journaled.failed(reason);
      queued.failed(reason);
    }
  }

  /**
   * What must be in MySQL for a commit to be durable; apart from the commit, so that a receipt does
   * not hold its rows.
   */
  private record Durability(List<DurableTracker> trackers, Share[] shares) {
    CompletableFuture<Void> future() {
      CompletableFuture<?>[] all = new CompletableFuture<?>[shares.length];
      for (int i = 0; i < all.length; i++) {
        all[i] = trackers.get(i).whenDurable(shares[i]);
      }
      return CompletableFuture.allOf(all);
    }
  }

  /**
   * Waits until everything that this node committed is in MySQL, closed sessions included.
   *
   * @return the row keys ({@code table:primary key}) that are not known to be in MySQL when the
   *     time was up; empty means all are
   */
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

  /**
   * Sends what was committed, and stops; within {@link GameQueueConfigBuilder#callTimeout}, else it
   * goes on in the background. When everything is in MySQL the WAL directory is removed, else it is
   * kept for recovery; sessions that are still open stay open for another node to take over.
   */
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

  void closeSession(OwnerSession session, long deadlineNanos) {
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
