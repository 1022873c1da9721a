package io.gameq.node;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.RedisUnavailableException;
import io.gameq.RollbackRequiredException;
import io.gameq.Row;
import io.gameq.SentRows;
import io.gameq.Urgency;
import io.gameq.change.ChangedRow;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.DurableTracker.SentToSession;
import io.gameq.durability.PendingHandovers;
import io.gameq.durability.TrackedCommit;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.topic.DeadLetter;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.view.OwnerView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
    this.handovers = new PendingHandovers(tracker, adopted);
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
    return lost.told(tracker.whenLost());
  }

  @Override
  public CompletionStage<Void> askedToClose() {
    return asked.told(tracker.whenAsked());
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
    staged.change("put", () -> staged.put(rows.given(row)));
  }

  @Override
  public void put(String table, Map<String, ?> columns) {
    staged.change("put", () -> staged.put(rows.given(table, columns)));
  }

  @Override
  public <T extends Record> void update(T row) {
    staged.change("update", () -> staged.update(rows.part(row)));
  }

  @Override
  public void update(String table, Map<String, ?> columns) {
    staged.change("update", () -> staged.update(rows.part(table, columns)));
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
    staged.change("delete", () -> staged.delete(rows.mapper(type).table(), key));
  }

  @Override
  public void delete(String table, Object... key) {
    staged.change("delete", () -> staged.delete(rows.table(table), key));
  }

  @Override
  public <T extends Record> void move(T row, OwnerSession to) {
    move(of(to).staged, () -> rows.given(row));
  }

  @Override
  public void move(String table, Map<String, ?> columns, OwnerSession to) {
    move(of(to).staged, () -> rows.given(table, columns));
  }

  /** When it is refused, what is staged in both becomes rollback-only. */
  private void move(StagedChanges to, Supplier<GameRows.Given> row) {
    to.change("move", () -> staged.change("move", () -> staged.move(row.get(), to)));
  }

  @Override
  public <T> void publish(Topic<T> topic, Publish<T> message) {
    staged.change("publish", () -> staged.stage(queue.change(topic, message)));
  }

  @Override
  public <T extends Record> void send(String to, T row) {
    OwnerId receiver = OwnerId.of(to);
    staged.change("send", () -> staged.send(receiver, rows.given(row)));
  }

  @Override
  public void send(String to, String table, Map<String, ?> columns) {
    OwnerId receiver = OwnerId.of(to);
    staged.change("send", () -> staged.send(receiver, rows.given(table, columns)));
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
    CommitReceipt last = TrackedCommit.Receipt.EMPTY;
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

  /**
   * What a session has committed of the tables whose current rows were asked for, and what others
   * sent to its owner. Thread-safe.
   *
   * <p>Of each row that was changed since then it keeps the newest image, and those of commits that
   * Redis has not answered; of other tables nothing but their names.
   */
  static final class CurrentRows {
    /** Below this it is not worth looking for rows that came and went. */
    private static final int FEW = 1_000;

    private final OwnerId owner;
    private final GameRows rows;
    private final Set<String> asked = new HashSet<>();
    private final Set<String> changedSince = new HashSet<>();
    private final Map<String, List<Committed>> committed = new HashMap<>();

    private final Map<String, EncodedRow> sent = new LinkedHashMap<>();
    private boolean isForgotten;

    private int pruneAt = FEW;

    /** Whether anything was committed before the first table was asked for: then none can be. */
    private boolean changedBefore;

    /** A change of a row, and what becomes of it. */
    private record Committed(EncodedRow row, CompletableFuture<Void> outcome) {
      boolean isHere() {
        return outcome.isDone() && !outcome.isCompletedExceptionally();
      }
    }

    CurrentRows(OwnerId owner, GameRows rows) {
      this.owner = owner;
      this.rows = rows;
    }

    /**
     * These were committed, after all that were before. Returns whether the next ones are to be
     * told as well: not where nothing was asked for before the first commit, as in nearly every
     * session, since nothing can be then.
     */
    synchronized boolean committed(
        List<ChangedRow> changed, Supplier<CompletableFuture<Void>> outcome) {
      if (asked.isEmpty()) {
        changedBefore = true;
        return false;
      }
      CompletableFuture<Void> known = outcome.get();
      for (ChangedRow row : changed) {
        String table = RowKey.tableName(row.key());
        if (asked.contains(table)) {
          List<Committed> of = committed.computeIfAbsent(row.key(), key -> new ArrayList<>(1));
          of.removeIf(before -> before.outcome.isCompletedExceptionally());
          while (of.size() > 1 && of.get(1).isHere()) {
            of.remove(0); // the first one stays: it counts when those after it fail
          }
          of.add(new Committed(row.encoded(), known));
        } else {
          changedSince.add(table);
        }
      }
      return true;
    }

    /** Others sent these rows, under new keys; some may have been told before. */
    synchronized void came(List<EncodedRow> rows) {
      if (!isForgotten) {
        rows.forEach(row -> sent.put(row.key(), row));
      }
    }

    /**
     * The rows of a table: those loaded and sent, changed by what was committed and by what is
     * staged.
     */
    synchronized List<Row> rows(OwnerView loaded, Table table, List<ChangedRow> staged) {
      ask(table);
      Map<RowKey, RowImage> images = new LinkedHashMap<>();
      loaded.rows(table).forEach(image -> images.put(image.rowKey(), image));
      sent.values().forEach(row -> change(images, table, row));
      committed.values().stream()
          .map(CurrentRows::newest)
          .forEach(row -> change(images, table, row));
      staged.forEach(row -> change(images, table, row.encoded()));
      return images.values().stream().map(image -> rows.tables().row(image, table)).toList();
    }

    /**
     * The commit of this row's newest change, if it has no answer yet: it may be refused by itself,
     * as a trade is, and then nothing may build on it. Null when there is none.
     */
    synchronized @Nullable CompletableFuture<Void> unanswered(RowKey key) {
      List<Committed> of = committed.get(key.text());
      if (of == null) {
        return null;
      }
      CompletableFuture<Void> last = of.get(of.size() - 1).outcome;
      return last.isDone() ? null : last;
    }

    /** One of them; null when there is none. */
    synchronized @Nullable Row row(
        OwnerView loaded, Table table, RowKey key, @Nullable ChangedRow staged) {
      ask(table);
      prune(loaded);
      EncodedRow came = sent.get(key.text());
      RowImage image = came == null ? loaded.row(table, key) : rows.decode(came);
      List<Committed> of = committed.get(key.text());
      EncodedRow last = of == null ? null : newest(of);
      if (last != null) {
        image = after(image, last);
      }
      if (staged != null) {
        image = after(image, staged.encoded());
      }
      return image == null ? null : rows.tables().row(image, table);
    }

    /** Forgets rows that came and went. */
    private void prune(OwnerView loaded) {
      if (committed.size() > pruneAt) {
        committed.values().removeIf(of -> of.size() == 1 && forgets(of.get(0), loaded));
        pruneAt = Math.max(FEW, 2 * committed.size());
      }
    }

    private boolean forgets(Committed of, OwnerView loaded) {
      Table table = rows.table(RowKey.tableName(of.row.key()));
      boolean isGone =
          of.isHere()
              && of.row.op() != RowOp.PUT
              && loaded.row(table, new RowKey(table, of.row.key())) == null;
      if (isGone) {
        sent.remove(of.row.key());
      }
      return isGone;
    }

    private void ask(Table table) {
      if (!asked.contains(table.name()) && (changedBefore || changedSince.contains(table.name()))) {
        throw new GameQueueException(
            ("the current rows of %s in table %s are not known: ask for them once before the"
                    + " session's first commit, or read them with GameQueue.read")
                .formatted(owner, table.name()));
      }
      asked.add(table.name());
    }

    /** The newest change of a row that has not failed; null when all have. */
    private static @Nullable EncodedRow newest(List<Committed> of) {
      for (int i = of.size() - 1; i >= 0; i--) {
        if (!of.get(i).outcome.isCompletedExceptionally()) {
          return of.get(i).row;
        }
      }
      return null;
    }

    private void change(Map<RowKey, RowImage> images, Table table, @Nullable EncodedRow row) {
      if (row == null || !RowKey.tableName(row.key()).equals(table.name())) {
        return;
      }
      images.compute(new RowKey(table, row.key()), (key, before) -> after(before, row));
    }

    /** What a change makes of a row; null when it is not there, or not there any more. */
    private @Nullable RowImage after(@Nullable RowImage before, EncodedRow change) {
      RowImage image = rows.decode(change);
      if (image.op() != RowOp.PUT) {
        return null;
      }
      return before == null ? image : image.over(before);
    }

    synchronized void forget() {
      committed.clear();
      sent.clear();
      isForgotten = true;
    }
  }
}
