package io.gameq;

import io.gameq.catalog.RecordMapper;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.RowOp;
import io.gameq.catalog.Table;
import io.gameq.commit.ChangedRow;
import io.gameq.commit.CommitPart;
import io.gameq.commit.SessionRef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The exclusive right of this node to write one owner's rows, from {@link GameQueue#open} to {@link
 * #close}.
 *
 * <p>{@code put}, {@code delete} and {@code move} check a change and stage it; nothing leaves
 * memory before {@link #commit}, which sends all that is staged as one atomic change. Of several
 * changes of one row the last one counts. Once one of them was refused, what is staged may be half
 * of a change: {@link #commit} throws {@link RollbackRequiredException} until {@link #rollback}.
 *
 * <p>Thread-safe, but a commit takes whatever is staged at that moment: let one thread at a time
 * act for an owner.
 *
 * <p>Staged changes are gone when the process dies. Committed ones are in the WAL, and once
 * {@linkplain CommitReceipt#queued queued} in Redis.
 */
public final class OwnerSession implements AutoCloseable {
  private final GameQueue queue;
  private final OwnerId owner;
  private final DurableTracker tracker;
  private final StagedRows staged;
  private final HandedOver handedOver;
  private final Set<String> missing;
  private @Nullable OwnerView loaded;
  private boolean closed;

  OwnerSession(GameQueue queue, OwnerId owner, GameNode.Opened opened) {
    this.queue = queue;
    this.owner = owner;
    this.tracker = opened.tracker();
    this.handedOver = opened.handedOver();
    this.loaded = opened.view();
    this.missing = opened.view().missing();
    this.staged = new StagedRows(owner);
  }

  /** The owner's id as the game wrote it. */
  public String owner() {
    return owner.id();
  }

  SessionRef ref() {
    return tracker.session();
  }

  DurableTracker tracker() {
    return tracker;
  }

  HandedOver handedOver() {
    return handedOver;
  }

  StagedRows staged() {
    return staged;
  }

  /**
   * The owner's rows of one table when the session was opened, merged from Redis and MySQL.
   *
   * @throws GameQueueException when the table had gone from MySQL by then, or after {@link
   *     #forgetLoaded}
   */
  public <T extends Record> List<T> rows(Class<T> type) {
    RecordMapper<T> mapper = queue.mapper(type);
    return rows(mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  /** The same, by column names; throws as {@link #rows(Class)}. */
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

  /**
   * The owner's rows that MySQL refused and that no newer version has replaced, when the session
   * was opened, oldest first. What {@link #rows} returns is without them.
   */
  public synchronized List<DeadLetter> deadLetters() {
    return loaded().deadLetters();
  }

  /** Frees the rows that were loaded at open, once the game has its own. */
  public synchronized void forgetLoaded() {
    loaded = null;
  }

  /**
   * Stages a full row: it is inserted, or replaces the row of the same primary key.
   *
   * @throws RowRefusedException when the row does not fit its table, is too large, or belongs to
   *     another owner, or when the table had gone when the session was opened; then nothing more is
   *     staged, and this session commits nothing before {@link #rollback}
   */
  public <T extends Record> void put(T row) {
    try {
      RecordMapper<T> mapper = queue.mapperOf(row);
      put(mapper.table(), mapper.toRow(row, queue.clock()));
    } catch (RuntimeException e) {
      throw refused("put", e);
    }
  }

  /**
   * Stages a full row given by column names; a column left out takes its default. Throws as {@link
   * #put(Record)}.
   */
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
          "%s: the table had gone, or could not be managed any more, when %s was opened: what the owner has there is not known; open it again once the table is back (see the command 'schema check' of gameq-writer.jar)"
              .formatted(table.name(), owner));
    }
  }

  private void checkOwned(Table table, @Nullable Object[] row) {
    if (!table.isOwnedBy(owner, row)) {
      throw new RowRefusedException(
          "%s: the row belongs to %s by its column %s, not to %s: put it in that owner's session, or move it there"
              .formatted(table.name(), table.ownerOf(row), table.ownerColumn().name(), owner));
    }
  }

  /**
   * Stages a delete; deleting a row that does not exist is no error. Whose row it is can only be
   * checked where the primary key names the owner.
   *
   * @param key the parts of the primary key in their order
   * @throws RowRefusedException when the key does not fit the table, or the table had gone when the
   *     session was opened; then nothing more is staged, and this session commits nothing before
   *     {@link #rollback}
   */
  public void delete(Class<? extends Record> type, Object... key) {
    try {
      delete(queue.mapper(type).table(), key);
    } catch (RuntimeException e) {
      throw refused("delete", e);
    }
  }

  /** Stages a delete; see {@link #delete(Class, Object...)}. */
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
          "%s: the key names another owner by its column %s than %s: delete it in that owner's session"
              .formatted(of.name(), of.ownerColumn().name(), owner));
    }
    staged.stage(queue.encode(of, RowKey.ofKey(of, parts), RowOp.DELETE, parts, null));
  }

  /**
   * Stages the move of a row to another owner, in both sessions: {@code row} is its new image,
   * whose owner column names the new owner. Then commit both sessions together with {@link
   * GameQueue#commit}. The row keeps its primary key and its children.
   *
   * @throws RowRefusedException when the row does not fit or does not belong to the other owner, or
   *     when the table had gone when one of the sessions was opened; then nothing more is staged,
   *     and neither session commits anything before {@link #rollback}
   */
  public <T extends Record> void move(T row, OwnerSession to) {
    try {
      RecordMapper<T> mapper = queue.mapperOf(row);
      move(mapper.table(), mapper.toRow(row, queue.clock()), to);
    } catch (RuntimeException e) {
      throw to.refused("move", refused("move", e));
    }
  }

  /** Stages a move; see {@link #move(Record, OwnerSession)}. */
  public void move(String table, Map<String, ?> columns, OwnerSession to) {
    try {
      Table of = queue.table(table);
      move(of, of.canonicalRow(columns, queue.clock()), to);
    } catch (RuntimeException e) {
      throw to.refused("move", refused("move", e));
    }
  }

  private void move(Table table, @Nullable Object[] row, OwnerSession to) {
    if (table.keyColumns().contains(table.ownerColumn())) {
      throw new RowRefusedException(
          "%s: the primary key names the owner, so this row cannot move: delete it here and put it in the other session, and commit both together"
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

  /**
   * Drops everything staged since the last commit; what was committed stays. The session can go on:
   * stage a change anew and commit it. After a trade that failed half-way, roll back the sessions
   * of both owners. Never throws.
   */
  public void rollback() {
    staged.rollback();
  }

  /**
   * Sends everything staged as one atomic change and returns at once; see {@link CommitReceipt}.
   * Nothing staged: a receipt that is done.
   *
   * @throws RollbackRequiredException when what is staged may be half of a change: a put, delete or
   *     move was refused since the last commit, or a commit of several sessions failed of which
   *     this was one; it stays staged until {@link #rollback}
   * @throws OwnershipLostException when a newer session is known to own; what was staged is dropped
   * @throws QueueFullException when too much waits for Redis; what was staged stays staged
   * @throws GameQueueException when the commit is larger than the limits; what was staged stays
   *     staged
   */
  public CommitReceipt commit() {
    return queue.commit(this);
  }

  /**
   * Takes what is staged, for a commit of all these; null when nothing is. Put back when it could
   * not be sent.
   */
  synchronized @Nullable CommitPart takeStaged(Set<StagedRows> all) {
    List<ChangedRow> rows = staged.take(all);
    if (rows.isEmpty()) {
      return null;
    }
    tracker.preparing(); // closing waits for it from now on
    return new CommitPart(ref(), rows);
  }

  /**
   * Row keys ({@code table:primary key}) of committed changes that are not known to be in MySQL.
   */
  public Set<String> notDurable() {
    return tracker.notDurable();
  }

  /**
   * Waits until everything committed so far is in MySQL or set aside as a {@linkplain DeadLetter
   * dead letter}, and has it flushed now rather than at the end of the merge window.
   *
   * @return the row keys that are not known to be in MySQL when the time was up; empty means all
   *     are
   */
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

  /**
   * Commits what is staged, waits until Redis has all of this session, at most as long as {@link
   * GameQueueConfigBuilder#callTimeout}, and gives the owner up; the writers flush it soon after.
   * Closing again does nothing.
   *
   * @throws RollbackRequiredException when something was staged that may be half of a change: it is
   *     dropped; the session is closed all the same
   * @throws GameQueueException when what was staged could not be committed, which drops it, or when
   *     it is not known in time that Redis has all; the session is closed all the same
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    long deadline = queue.callDeadline();
    CommitReceipt last = CommitReceipt.EMPTY;
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
