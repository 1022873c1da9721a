package io.gameq.node;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.Row;
import io.gameq.change.ChangedRow;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.PendingHandovers;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.topic.ClaimLostException;
import io.gameq.view.GameRows;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerView.MissingTables;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of its owner: what was loaded at open, what it has committed since of the
 * tables whose current rows were asked for, and what others sent. Thread-safe.
 *
 * <p>Of each row that was changed since then it keeps the newest image, and those of commits that
 * Redis has not answered; of other tables nothing but their names.
 */
final class OpenOwner {
  /** Below this it is not worth looking for rows that came and went. */
  private static final int FEW = 1_000;

  final OwnerId id;
  final DurableTracker tracker;

  /** Tables of which nothing is known. */
  final MissingTables missing;

  final PendingHandovers handovers;
  final UnflushedHandlers handled;
  private final GameRows rows;
  private @Nullable OwnerView loaded;
  private boolean isClosed;
  private boolean isForgotten;
  private final Set<String> asked = new HashSet<>();
  private final Set<String> changedSince = new HashSet<>();
  private final Map<String, List<Committed>> committed = new HashMap<>();
  private final Map<String, EncodedRow> sent = new LinkedHashMap<>();
  private int pruneAt = FEW;

  /** Whether anything was committed before the first table was asked for: then none can be. */
  private volatile boolean changedBefore;

  /** A change of a row, and what becomes of it. */
  private record Committed(EncodedRow row, CompletableFuture<Void> outcome) {
    boolean isHere() {
      return outcome.isDone() && !outcome.isCompletedExceptionally();
    }
  }

  /** With what the node saw and adopted at the open. */
  OpenOwner(GameRows rows, DurableTracker tracker, OwnerView loaded, List<EncodedRow> adopted) {
    this.rows = rows;
    this.tracker = tracker;
    this.id = tracker.session().owner();
    this.missing = loaded.missing();
    this.handovers = new PendingHandovers(tracker, adopted);
    this.handled = new UnflushedHandlers(tracker, adopted);
    this.loaded = loaded;
  }

  SessionRef session() {
    return tracker.session();
  }

  /** What was loaded; throws when it was forgotten, or the session is closed. */
  private OwnerView loaded() {
    if (isClosed) {
      throw new ClosedException("the session of " + id + " is closed: open the owner again");
    }
    if (loaded == null) {
      throw new GameQueueException(
          "the loaded rows of " + id + " were forgotten: read them before forgetLoaded()");
    }
    return loaded;
  }

  /** What {@code question} is answered by what was loaded. */
  synchronized <T> T ofLoaded(Function<OwnerView, T> question) {
    return question.apply(loaded());
  }

  synchronized void forget() {
    loaded = null;
    committed.clear();
    sent.clear();
    isForgotten = true;
  }

  /** Tells nothing from now on; false when it was closed before. */
  synchronized boolean close() {
    boolean isFirst = !isClosed;
    isClosed = true;
    return isFirst;
  }

  /** Ends as the other does, unless the session was closed before: then never. */
  CompletableFuture<Void> untilClosed(CompletableFuture<Void> other) {
    return other.thenCompose(
        nothing -> {
          synchronized (this) {
            return isClosed ? new CompletableFuture<>() : CompletableFuture.completedFuture(null);
          }
        });
  }

  /**
   * These were committed, after all that were before. Nothing is kept where nothing was asked for
   * before the first commit, as in nearly every session.
   *
   * @param outcome gives what ends when Redis has answered
   */
  void committed(List<ChangedRow> changed, Supplier<CompletableFuture<Void>> outcome) {
    if (!changedBefore) { // else it costs no lock
      keep(changed, outcome);
    }
  }

  private synchronized void keep(
      List<ChangedRow> changed, Supplier<CompletableFuture<Void>> outcome) {
    if (asked.isEmpty()) {
      changedBefore = true;
      return;
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
  }

  /**
   * Others sent these rows, under new keys; some may have been told before. Returns those that the
   * game does not have since the open.
   */
  synchronized List<EncodedRow> came(List<EncodedRow> all) {
    OwnerView view = loaded;
    List<EncodedRow> news =
        view == null ? all : all.stream().filter(row -> !isLoaded(row, view)).toList();
    if (!isForgotten) {
      news.forEach(row -> sent.put(row.key(), row));
    }
    return news;
  }

  private boolean isLoaded(EncodedRow row, OwnerView view) {
    if (!rows.games().manages(GameRows.tableOf(row))) {
      return false; // of a table that came after this node started
    }
    Table table = rows.table(GameRows.tableOf(row));
    RowImage there = view.rowIfKnown(table, new RowKey(table, row.key()));
    return there != null && there.version() >= row.version();
  }

  // --- current rows

  /**
   * The rows of a table: those loaded and sent, changed by what was committed and by what is
   * staged.
   */
  synchronized List<Row> current(Table table, List<ChangedRow> staged) {
    OwnerView view = loaded();
    ask(table);
    Map<RowKey, RowImage> images = new LinkedHashMap<>();
    view.rows(table).forEach(image -> images.put(image.rowKey(), image));
    sent.values().forEach(row -> change(images, table, row));
    committed.values().forEach(of -> change(images, table, newest(of)));
    staged.forEach(row -> change(images, table, row.encoded()));
    return images.values().stream().map(image -> rows.row(image, table)).toList();
  }

  /**
   * What the owner has of a row now, with a change that is staged; null when it has no such row.
   * Waits for the answer to the row's last commit: it may be refused by itself, as a trade is, and
   * then nothing may build on it.
   */
  @Nullable Row current(Table table, RowKey key, @Nullable ChangedRow staged, long deadlineNanos) {
    CompletableFuture<Void> unanswered;
    while ((unanswered = unanswered(key)) != null) {
      awaitAnswer(unanswered, deadlineNanos);
    }
    synchronized (this) {
      OwnerView view = loaded();
      ask(table);
      prune(view);
      EncodedRow came = sent.get(key.text());
      RowImage image = came == null ? view.row(table, key) : rows.decode(came);
      List<Committed> of = committed.get(key.text());
      image = after(image, of == null ? null : newest(of));
      image = after(image, staged == null ? null : staged.encoded());
      return image == null ? null : rows.row(image, table);
    }
  }

  private synchronized @Nullable CompletableFuture<Void> unanswered(RowKey key) {
    List<Committed> of = committed.get(key.text());
    CompletableFuture<Void> last = of == null ? null : of.get(of.size() - 1).outcome;
    return last == null || last.isDone() ? null : last;
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
              .formatted(id));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GameQueueException("interrupted while the last commit had no answer", e);
    }
  }

  private void ask(Table table) {
    if (!asked.contains(table.name()) && (changedBefore || changedSince.contains(table.name()))) {
      throw new GameQueueException(
          ("the current rows of %s in table %s are not known: ask for them once before the"
                  + " session's first commit, or read them with GameQueue.read")
              .formatted(id, table.name()));
    }
    asked.add(table.name());
  }

  /** Forgets rows that came and went. */
  private void prune(OwnerView view) {
    if (committed.size() > pruneAt) {
      committed
          .values()
          .removeIf(
              of -> {
                EncodedRow row = of.get(0).row;
                Table table = rows.table(GameRows.tableOf(row));
                boolean isGone =
                    of.size() == 1
                        && of.get(0).isHere()
                        && row.op() != RowOp.PUT
                        && view.row(table, new RowKey(table, row.key())) == null;
                if (isGone) {
                  sent.remove(row.key());
                }
                return isGone;
              });
      pruneAt = Math.max(FEW, 2 * committed.size());
    }
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
    if (row != null && GameRows.tableOf(row).equals(table.name())) {
      images.compute(new RowKey(table, row.key()), (key, before) -> after(before, row));
    }
  }

  /** What a change, if there is one, makes of a row; null when it is not there afterwards. */
  private @Nullable RowImage after(@Nullable RowImage before, @Nullable EncodedRow change) {
    if (change == null) {
      return before;
    }
    RowImage image = rows.decode(change);
    if (image.op() != RowOp.PUT) {
      return null;
    }
    return before == null ? image : image.over(before);
  }

  /**
   * Messages whose handlers' rows a session has committed or adopted, until MySQL has them.
   * Thread-safe.
   *
   * <p>Of two handlers of a message whose rows wait in one owner together MySQL could take neither:
   * each row has one image by then. So the second is refused before it is sent. Once the first's
   * rows are in MySQL, it is the flush that refuses the second's.
   */
  static final class UnflushedHandlers {
    /** Beyond it those are searched for that are in MySQL by now. */
    private static final int MANY = 256;

    private final DurableTracker tracker;
    private final Map<String, String> byMessage = new HashMap<>();
    private int commitsUnderWay;
    private int searchAbove = MANY;

    private UnflushedHandlers(DurableTracker tracker, List<EncodedRow> adopted) {
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
