package io.gameq.node;

import io.gameq.CommitReceipt;
import io.gameq.DeadLetter;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.RollbackRequiredException;
import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.CommitPart;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.PendingHandovers;
import io.gameq.durability.TrackedReceipt;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import io.gameq.view.OwnerView;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A session of this node. Thread-safe. */
final class NodeSession implements OwnerSession {
  private final NodeQueue queue;
  private final OwnerId owner;
  private final DurableTracker tracker;
  private final StagedChanges staged;
  private final PendingHandovers handovers;
  private final Set<String> missing;
  private @Nullable OwnerView loaded;
  private boolean closed;

  NodeSession(NodeQueue queue, OwnerId owner, SessionAdoption.Opened opened) {
    this.queue = queue;
    this.owner = owner;
    this.tracker = opened.tracker();
    this.handovers = opened.handovers();
    this.loaded = opened.view();
    this.missing = opened.view().missing();
    this.staged = new StagedChanges(owner);
  }

  /** A session as the game has it. Throws GameQueueException when it is not one of a node. */
  private static NodeSession of(OwnerSession session) {
    if (session instanceof NodeSession of) {
      return of;
    }
    throw new GameQueueException("not a session that GameQueue.open returned: " + session);
  }

  static NodeSession[] all(OwnerSession... sessions) {
    return Arrays.stream(sessions).map(NodeSession::of).toArray(NodeSession[]::new);
  }

  @Override
  public String owner() {
    return owner.id();
  }

  SessionRef ref() {
    return tracker.session();
  }

  DurableTracker tracker() {
    return tracker;
  }

  PendingHandovers handovers() {
    return handovers;
  }

  StagedChanges staged() {
    return staged;
  }

  @Override
  public <T extends Record> List<T> rows(Class<T> type) {
    RecordMapper<T> mapper = queue.mapper(type);
    return rows(mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  @Override
  public synchronized List<Row> rows(String table) {
    return queue.rows(loaded(), queue.table(table));
  }

  private OwnerView loaded() {
    if (loaded == null) {
      throw new GameQueueException(
          "the loaded rows of " + owner + " were forgotten: read them before forgetLoaded()");
    }
    return loaded;
  }

  @Override
  public synchronized List<DeadLetter> deadLetters() {
    return loaded().deadLetters();
  }

  @Override
  public synchronized void forgetLoaded() {
    loaded = null;
  }

  @Override
  public <T extends Record> void put(T row) {
    try {
      RecordMapper<T> mapper = queue.mapperOf(row);
      put(mapper.table(), mapper.toRow(row, queue.clock()));
    } catch (RuntimeException e) {
      throw refused("put", e);
    }
  }

  @Override
  public void put(String table, Map<String, ?> columns) {
    try {
      Table of = queue.table(table);
      put(of, of.canonicalRow(columns, queue.clock()));
    } catch (RuntimeException e) {
      throw refused("put", e);
    }
  }

  private void put(Table table, @Nullable Object[] row) {
    requireKnown(table);
    checkOwned(table, row);
    RowKey key = RowKey.of(table, row);
    staged.stage(queue.encode(table, key, RowOp.PUT, row, carried(key)));
  }

  /** What a put takes along that its game does not know. */
  private CarriedColumns.@Nullable Carried carried(RowKey key) {
    return tracker.carried(key.text(), staged.get(key.text()));
  }

  /**
   * What is staged may be the half before it: notes that. The message of gameq's own names the
   * table.
   */
  private RuntimeException refused(String change, RuntimeException reason) {
    staged.tear(
        "a %s was refused (%s);"
            .formatted(
                change,
                reason instanceof GameQueueException
                    ? reason.getMessage()
                    : reason.getClass().getSimpleName()),
        reason);
    return reason;
  }

  /** A change of a row that was not told might be older than what MySQL has, and count for less. */
  private void requireKnown(Table table) {
    if (missing.contains(table.name())) {
      throw new RowRefusedException(
          ("%s: the table had gone, or could not be managed any more, when %s was opened:"
                  + " what the owner has there is not known; open it again once the table is back"
                  + " (see the command 'schema check' of gameq-writer.jar)")
              .formatted(table.name(), owner));
    }
  }

  private void checkOwned(Table table, @Nullable Object[] row) {
    if (!table.isOwnedBy(owner, row)) {
      throw new RowRefusedException(
          ("%s: the row belongs to %s by its column %s, not to %s: put it in that owner's"
                  + " session, or move it there")
              .formatted(table.name(), table.ownerOf(row), table.ownerColumn().name(), owner));
    }
  }

  @Override
  public void delete(Class<? extends Record> type, Object... key) {
    try {
      delete(queue.mapper(type).table(), key);
    } catch (RuntimeException e) {
      throw refused("delete", e);
    }
  }

  @Override
  public void delete(String table, Object... key) {
    try {
      delete(queue.table(table), key);
    } catch (RuntimeException e) {
      throw refused("delete", e);
    }
  }

  private void delete(Table of, Object[] key) {
    requireKnown(of);
    Object[] parts = of.canonicalKey(key);
    int part = of.keyColumns().indexOf(of.ownerColumn());
    if (part >= 0 && !parts[part].equals(of.ownerColumnValue(owner))) {
      throw new RowRefusedException(
          ("%s: the key names another owner by its column %s than %s: delete it in that"
                  + " owner's session")
              .formatted(of.name(), of.ownerColumn().name(), owner));
    }
    staged.stage(queue.encode(of, RowKey.ofKey(of, parts), RowOp.DELETE, parts, null));
  }

  @Override
  public <T extends Record> void move(T row, OwnerSession other) {
    NodeSession to = of(other);
    try {
      RecordMapper<T> mapper = queue.mapperOf(row);
      move(mapper.table(), mapper.toRow(row, queue.clock()), to);
    } catch (RuntimeException e) {
      throw to.refused("move", refused("move", e));
    }
  }

  @Override
  public void move(String table, Map<String, ?> columns, OwnerSession other) {
    NodeSession to = of(other);
    try {
      Table of = queue.table(table);
      move(of, of.canonicalRow(columns, queue.clock()), to);
    } catch (RuntimeException e) {
      throw to.refused("move", refused("move", e));
    }
  }

  private void move(Table table, @Nullable Object[] row, NodeSession to) {
    if (table.keyColumns().contains(table.ownerColumn())) {
      throw new RowRefusedException(
          ("%s: the primary key names the owner, so this row cannot move: delete it here"
                  + " and put it in the other session, and commit both together")
              .formatted(table.name()));
    }
    requireKnown(table);
    to.requireKnown(table);
    to.checkOwned(table, row);
    RowKey key = RowKey.of(table, row);
    CarriedColumns.Carried carried = carried(key);
    ChangedRow away = queue.encode(table, key, RowOp.MOVED, row, carried);
    to.staged.stage(queue.encode(table, key, RowOp.PUT, row, carried).asMovedIn());
    to.tracker.movesIn(key.text(), carried);
    staged.stage(away);
  }

  @Override
  public void rollback() {
    staged.rollback();
  }

  @Override
  public CommitReceipt commit() {
    return queue.commitUntil(Long.MAX_VALUE, this);
  }

  /**
   * Takes what is staged, for a commit of all these; null when nothing is. Put back when it could
   * not be sent.
   */
  synchronized @Nullable CommitPart takeStaged(Set<StagedChanges> all) {
    List<ChangedRow> rows = staged.take(all);
    if (rows.isEmpty()) {
      return null;
    }
    tracker.preparing(); // closing waits for it from now on
    return new CommitPart(ref(), rows);
  }

  @Override
  public Set<String> notDurable() {
    return tracker.notDurable();
  }

  @Override
  public Set<String> awaitDurable(Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    try {
      tracker.awaitQueued(deadline);
      queue.flushNow(ref());
      tracker.awaitDurable(deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return tracker.notDurable();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    long deadline = queue.callDeadline();
    CommitReceipt last = TrackedReceipt.EMPTY;
    RuntimeException dropped = null;
    try {
      last = ref().isLost() || staged.isEmpty() ? last : queue.commitUntil(deadline, this);
    } catch (RollbackRequiredException e) {
      dropped =
          new RollbackRequiredException(
              "the session of %s is closed, and staged changes of tables %s were dropped: %s"
                  .formatted(owner, drop(), e.getMessage()),
              e);
    } catch (RuntimeException e) {
      dropped = e;
    } finally {
      drop();
    }
    try {
      queue.closeSession(this, deadline);
    } catch (GameQueueException e) {
      if (dropped == null) {
        throw e;
      }
      dropped.addSuppressed(e);
    }
    if (dropped != null) {
      throw dropped;
    }
    last.awaitQueued( // throws what the last commit failed with
        Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
  }

  /** Takes nothing more, and forgets what it has; returns the tables of what was staged. */
  private synchronized Set<String> drop() {
    loaded = null;
    return staged.close();
  }

  @Override
  public String toString() {
    return "OwnerSession[" + ref() + "]";
  }
}
