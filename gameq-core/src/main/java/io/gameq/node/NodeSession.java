package io.gameq.node;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.DeadLetter;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.Publish;
import io.gameq.RedisUnavailableException;
import io.gameq.RollbackRequiredException;
import io.gameq.Row;
import io.gameq.SentRows;
import io.gameq.Topic;
import io.gameq.Urgency;
import io.gameq.change.ChangedRow;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.PendingHandovers;
import io.gameq.durability.SentToSession;
import io.gameq.durability.TrackedReceipt;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import io.gameq.rows.Table;
import io.gameq.view.OwnerView;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An owner that the game has open on this node: reads what was loaded at open, stages changes,
 * commits and closes. Thread-safe.
 *
 * <p>What is loaded and staged is lost with the process; committed changes are in the WAL.
 */
final class NodeSession implements OwnerSession {
  private final NodeQueue queue;
  final GameNode node;
  final GameRows rows;
  final DurableTracker tracker;
  private final OwnerId owner;
  final StagedChanges staged;
  final PendingHandovers handovers;
  final SessionCommits.HandledBefore handled;
  private final CurrentRows current;
  private final News lost = new News();
  private final News asked = new News();
  private final SentToSession sentToGame = new SentToSession();
  private @Nullable OwnerView loaded;

  /** False from the first commit on where no current rows were asked for before. */
  private volatile boolean keepsCurrent = true;

  private boolean closed;

  /** A session that was opened, with what the node saw and adopted then. */
  NodeSession(NodeQueue queue, DurableTracker tracker, OwnerView loaded, List<EncodedRow> adopted) {
    this.queue = queue;
    this.node = queue.node;
    this.rows = node.rows;
    this.tracker = tracker;
    this.owner = tracker.session().owner();
    this.handovers = new PendingHandovers(adopted);
    this.handled = new SessionCommits.HandledBefore(tracker, adopted);
    this.loaded = loaded;
    this.staged = new StagedChanges(this, loaded.missing());
    this.current = new CurrentRows(owner, rows);
    tracker.sent().takenBy(this::came);
  }

  /** Told to the game once, however often it asks. */
  private final class News {
    private @Nullable CompletionStage<Void> told;

    synchronized CompletionStage<Void> told(CompletableFuture<Void> known) {
      if (told == null) {
        told = node.callbacks.tell(known);
      }
      return told;
    }
  }

  /** A session as the game has it. Throws GameQueueException when it is not one of a node. */
  static NodeSession of(OwnerSession session) {
    if (session instanceof NodeSession of) {
      return of;
    }
    throw new GameQueueException("not a session that GameQueue.open returned: " + session);
  }

  /** What is staged in sessions. */
  static List<StagedChanges> staged(OwnerSession... sessions) {
    return Arrays.stream(sessions).map(session -> of(session).staged).toList();
  }

  @Override
  public String owner() {
    return owner.id();
  }

  SessionRef ref() {
    return tracker.session();
  }

  /** These were committed; {@code outcome} ends when Redis has answered. */
  void committed(List<ChangedRow> changed, Supplier<CompletableFuture<Void>> outcome) {
    if (keepsCurrent) {
      keepsCurrent = current.committed(changed, outcome);
    }
  }

  @Override
  public <T extends Record> List<T> rows(Class<T> type) {
    RecordMapper<T> mapper = rows.mapper(type);
    return rows(mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  @Override
  public synchronized List<Row> rows(String table) {
    return rows.rows(loaded(), rows.table(table));
  }

  private OwnerView loaded() {
    if (closed) {
      throw new ClosedException("the session of " + owner + " is closed: open the owner again");
    }
    if (loaded == null) {
      throw new GameQueueException(
          "the loaded rows of " + owner + " were forgotten: read them before forgetLoaded()");
    }
    return loaded;
  }

  @Override
  public <T extends Record> List<T> current(Class<T> type) {
    RecordMapper<T> mapper = rows.mapper(type);
    return current(mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  @Override
  public synchronized List<Row> current(String table) {
    return current.rows(loaded(), rows.table(table), staged.rows());
  }

  @Override
  public CompletionStage<Void> lost() {
    return lost.told(tracker.news().lost());
  }

  @Override
  public CompletionStage<Void> askedToClose() {
    return asked.told(tracker.news().asked());
  }

  @Override
  public synchronized List<DeadLetter> deadLetters() {
    return loaded().deadLetters();
  }

  @Override
  public synchronized void forgetLoaded() {
    loaded = null;
    current.forget();
  }

  @Override
  public <T extends Record> void put(T row) {
    staged.put(() -> rows.given(row));
  }

  @Override
  public void put(String table, Map<String, ?> columns) {
    staged.put(() -> rows.given(table, columns));
  }

  @Override
  public <T extends Record> void update(T row) {
    staged.update(() -> rows.part(row));
  }

  @Override
  public void update(String table, Map<String, ?> columns) {
    staged.update(() -> rows.part(table, columns));
  }

  /**
   * What the owner has of a row now, with a change that is staged; null when it has no such row.
   * Waits for the answer to the row's last commit.
   */
  @Nullable Row currentRow(Table table, RowKey key, @Nullable ChangedRow change) {
    long deadline = node.calls.deadline();
    CompletableFuture<Void> unanswered;
    while ((unanswered = current.unanswered(key)) != null) {
      awaitAnswer(unanswered, deadline);
    }
    synchronized (this) {
      return current.row(loaded(), table, key, change);
    }
  }

  private void awaitAnswer(CompletableFuture<Void> answer, long deadline) {
    try {
      answer.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      // refused: the row is what it was before
    } catch (TimeoutException e) {
      throw new RedisUnavailableException(
          ("the last commit of a row of %s has no answer yet, and an update builds on it: put"
                  + " the row whole, or update it later")
              .formatted(owner));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GameQueueException("interrupted while the last commit had no answer", e);
    }
  }

  @Override
  public void delete(Class<? extends Record> type, Object... key) {
    staged.delete(() -> rows.mapper(type).table(), key);
  }

  @Override
  public void delete(String table, Object... key) {
    staged.delete(() -> rows.table(table), key);
  }

  @Override
  public <T extends Record> void move(T row, OwnerSession to) {
    staged.move(() -> rows.given(row), of(to).staged);
  }

  @Override
  public void move(String table, Map<String, ?> columns, OwnerSession to) {
    staged.move(() -> rows.given(table, columns), of(to).staged);
  }

  @Override
  public <T> void publish(Topic<T> topic, Publish<T> message) {
    staged.publish(() -> queue.change(topic, message));
  }

  @Override
  public <T extends Record> void send(String to, T row) {
    staged.send(OwnerId.of(to), () -> rows.given(row));
  }

  @Override
  public void send(String to, String table, Map<String, ?> columns) {
    staged.send(OwnerId.of(to), () -> rows.given(table, columns));
  }

  @Override
  public void onSent(Consumer<SentRows> listener) {
    sentToGame.takenBy(
        sent -> node.callbacks.execute(() -> listener.accept(new RowsSent(rows, sent))));
  }

  /** Others sent these rows. */
  private void came(List<EncodedRow> rows) {
    List<EncodedRow> news;
    synchronized (this) {
      news = loaded == null ? rows : rows.stream().filter(row -> !isLoaded(row, loaded)).toList();
    }
    current.came(news);
    sentToGame.came(news);
  }

  /** It was sent while the owner was opened: the game has it. */
  private boolean isLoaded(EncodedRow row, OwnerView view) {
    if (!rows.tables().games().manages(GameRows.tableOf(row))) {
      return false; // of a table that came after this node started
    }
    Table table = rows.table(GameRows.tableOf(row));
    RowImage there = view.rowIfKnown(table, new RowKey(table, row.key()));
    return there != null && there.version() >= row.version();
  }

  @Override
  public void rollback() {
    staged.rollback();
  }

  @Override
  public CommitReceipt commit(Urgency urgency) {
    return commit(SessionCommits.Terms.of(urgency));
  }

  private CommitReceipt commit(SessionCommits.Terms terms) {
    return queue.commits.commit(terms, List.of(), List.of(staged));
  }

  /**
   * Takes what is staged, if anything is, for a commit of all these. The tracker is to be told when
   * it was sent or not.
   */
  synchronized void take(
      StagedChanges from, Set<StagedChanges> all, List<StagedChanges.Staged> to) {
    if (from != staged) {
      staged.requireOpen();
    }
    StagedChanges.Staged taken = from.take(all);
    if (!taken.isEmpty()) {
      tracker.preparing(); // closing waits for it from now on
      to.add(taken);
    }
  }

  @Override
  public Set<String> notDurable() {
    return tracker.notDurable();
  }

  @Override
  public Set<String> awaitDurable(Duration timeout) {
    node.closing.awaitDurable(List.of(tracker), timeout);
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
    long deadline = node.calls.deadline();
    CommitReceipt last = TrackedReceipt.EMPTY;
    RuntimeException dropped = null;
    try {
      last =
          ref().isLost() || staged.isEmpty() ? last : commit(SessionCommits.Terms.last(deadline));
    } catch (RollbackRequiredException e) {
      dropped =
          new RollbackRequiredException(
              "the session of %s is closed, and staged changes of %s were dropped: %s"
                  .formatted(owner, drop(), e.getMessage()),
              e);
    } catch (ClosedException e) {
      dropped =
          new ClosedException(
              ("the queue was closed before the session of %s: staged changes of %s were"
                      + " dropped")
                  .formatted(owner, drop()));
    } catch (RuntimeException e) {
      dropped = e;
    } finally {
      drop();
    }
    try {
      if (!node.isClosed()) { // else it has given all its sessions up, or left them to recovery
        node.closing.close(tracker, deadline);
      }
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
    current.forget();
    return staged.close();
  }

  @Override
  public String toString() {
    return "OwnerSession[" + ref() + "]";
  }

  /** What a session is told of. Immutable. */
  private record RowsSent(GameRows games, List<EncodedRow> rows) implements SentRows {
    RowsSent {
      rows = rows.stream().sorted(Comparator.comparingLong(EncodedRow::version)).toList();
    }

    @Override
    public Set<String> tables() {
      return rows.stream().map(GameRows::tableOf).collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public <T extends Record> List<T> rows(Class<T> type) {
      RecordMapper<T> mapper = games.mapper(type);
      return rows(mapper.table().name()).stream().map(mapper::fromRow).toList();
    }

    @Override
    public List<Row> rows(String table) {
      Table of = games.table(table);
      return rows.stream()
          .filter(row -> GameRows.tableOf(row).equals(of.name()))
          .map(row -> games.tables().row(games.decode(row), of))
          .toList();
    }

    /** Keys alone. */
    @Override
    public String toString() {
      return rows.stream().map(EncodedRow::key).toList().toString();
    }
  }
}
