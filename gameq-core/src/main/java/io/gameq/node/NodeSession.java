package io.gameq.node;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.RollbackRequiredException;
import io.gameq.Row;
import io.gameq.SentRows;
import io.gameq.Urgency;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.DurableTracker.SentToSession;
import io.gameq.durability.TrackedCommit;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import io.gameq.topic.DeadLetter;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.Topic;
import io.gameq.view.GameRows;
import io.gameq.view.OwnerView;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
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
final class NodeSession extends StagedChanges.GameChanges implements OwnerSession {
  /** Of a session's text, which begins with them. */
  private static final int EPOCH_DIGITS = 16;

  private final SessionHost node;
  private final SessionCommits commits;
  private final OpenOwner owner;
  private final StagedChanges staged;
  private final SentToSession sentToGame = new SentToSession();

  /** Told to the game once, however often it asks; null before it does. */
  private @Nullable CompletionStage<Void> lost;

  private @Nullable CompletionStage<Void> asked;

  /** What ends the handling of its owner's messages, by topic. */
  private final Map<String, Runnable> handled = new HashMap<>();

  private boolean isClosing;

  NodeSession(SessionHost node, SessionCommits commits, OpenOwner owner) {
    super(node.rows(), commits);
    this.node = node;
    this.commits = commits;
    this.owner = owner;
    this.staged = new StagedChanges(node, owner);
    owner.tracker.sent().takenBy(sent -> sentToGame.came(owner.came(sent)));
  }

  SessionRef ref() {
    return owner.session();
  }

  DurableTracker tracker() {
    return owner.tracker;
  }

  @Override
  public String owner() {
    return owner.id.id();
  }

  // --- what the owner has

  @Override
  public <T extends Record> List<T> rows(Class<T> type) {
    return rows.records(type, this::rows);
  }

  @Override
  public List<Row> rows(String table) {
    return owner.ofLoaded(view -> rows.rows(view, rows.table(table)));
  }

  @Override
  public <T extends Record> List<T> current(Class<T> type) {
    return rows.records(type, this::current);
  }

  @Override
  public List<Row> current(String table) {
    return owner.current(rows.table(table), staged.rows());
  }

  @Override
  public List<DeadLetter> deadLetters() {
    return owner.ofLoaded(OwnerView::deadLetters);
  }

  @Override
  public void forgetLoaded() {
    owner.forget();
  }

  // --- news

  @Override
  public synchronized CompletionStage<Void> lost() {
    lost = lost == null ? node.callbacks().tell(owner.untilClosed(owner.tracker.whenLost())) : lost;
    return lost;
  }

  @Override
  public synchronized CompletionStage<Void> askedToClose() {
    asked = asked == null ? node.callbacks().tell(owner.tracker.whenAsked()) : asked;
    return asked;
  }

  @Override
  public void onSent(Consumer<SentRows> listener) {
    sentToGame.takenBy(
        sent -> node.callbacks().execute(() -> listener.accept(new RowsSent(rows, sent))));
  }

  // --- messages

  @Override
  public <T> void handle(Topic<T> topic, Executor executor, OwnerHandler<T> handler) {
    String epoch = ref().id().text().substring(0, EPOCH_DIGITS);
    synchronized (handled) {
      if (isClosing) {
        throw new ClosedException(
            "the session of %s is closed: open the owner again".formatted(owner.id));
      }
      handled.put(topic.name(), ofNode(topic).handle(this, owner.id, epoch, executor, handler));
      if (handled.size() == 1) {
        var unused = owner.tracker.whenLost().thenRun(this::handleNothing);
      }
    }
  }

  /** Whoever has the owner next handles its messages. */
  private void handleNothing() {
    synchronized (handled) {
      isClosing = true;
      handled.values().forEach(Runnable::run);
      handled.clear();
    }
  }

  // --- changes

  @Override
  StagedChanges first() {
    return staged;
  }

  /** When it is refused, what is staged in both becomes rollback-only. */
  @Override
  void stageMove(Supplier<TableRow> row, OwnerSession other) {
    StagedChanges to = StagedChanges.of(other);
    to.change("move", () -> change("move", () -> staged.move(row.get(), to)));
  }

  // --- commit, rollback, close

  @Override
  public void rollback() {
    staged.rollback();
  }

  @Override
  public CommitReceipt commit(Urgency urgency) {
    return commits.commit(urgency, List.of(), List.of(staged));
  }

  @Override
  public Set<String> notDurable() {
    return owner.tracker.notDurable();
  }

  @Override
  public Set<String> awaitDurable(Duration timeout) {
    node.awaitDurable(List.of(owner.tracker), timeout);
    return notDurable();
  }

  @Override
  public void close() {
    if (!owner.close()) {
      return;
    }
    handleNothing();
    long deadline = node.deadline();
    CommitReceipt last = TrackedCommit.Receipt.EMPTY;
    RuntimeException dropped = null;
    try {
      if (!staged.takesNoMore() && !staged.isEmpty()) {
        last = commits.commitLast(staged, deadline);
      }
    } catch (RuntimeException e) {
      dropped = dropped(e);
    } finally {
      owner.forget();
      var unused = staged.close();
    }
    try {
      if (!node.isClosed()) { // else it has given all its sessions up, or left them to recovery
        node.close(owner.tracker, deadline);
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

  /** What the game is told when the last commit was not taken. */
  private RuntimeException dropped(RuntimeException e) {
    if (e instanceof RollbackRequiredException) {
      return new RollbackRequiredException(
          "the session of %s is closed, and staged changes of %s were dropped: %s"
              .formatted(owner.id, staged.close(), e.getMessage()),
          e);
    }
    return e instanceof ClosedException
        ? new ClosedException(
            "the queue was closed before the session of %s: staged changes of %s were dropped"
                .formatted(owner.id, staged.close()))
        : e;
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
      return games.records(type, this::rows);
    }

    @Override
    public List<Row> rows(String table) {
      Table of = games.table(table);
      return rows.stream()
          .filter(row -> GameRows.tableOf(row).equals(of.name()))
          .map(row -> games.row(games.decode(row), of))
          .toList();
    }

    /** Keys alone. */
    @Override
    public String toString() {
      return rows.stream().map(EncodedRow::key).toList().toString();
    }
  }
}
