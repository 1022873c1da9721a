package io.gameq.writer.campaign;

import io.gameq.CommitReceipt;
import io.gameq.writer.campaign.messages.Certainty;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes a player's commits into the history: invoked before, outcome after. Used by the player's
 * thread; outcomes come from gameq's.
 */
final class Ledger {
  /** Enough to have commits on their way at every moment; few enough to feel an outage at once. */
  private static final int MOST_OPEN = 32;

  private final String prefix;
  private final HistoryFile history;
  private final Semaphore room = new Semaphore(MOST_OPEN);
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger unsettled = new AtomicInteger();
  private final long firstRowId;
  private int counter;
  private int rows;
  private volatile boolean haltNext;

  /** A ledger; {@code number} tells it from all others of the case. */
  Ledger(String prefix, int number, HistoryFile history) {
    this.prefix = prefix;
    this.firstRowId = number * 1_000_000L;
    this.history = history;
  }

  /** A value that no other commit writes. */
  String nextId() {
    return prefix + "-" + ++counter;
  }

  /** The same for a commit with a row that MySQL refuses. */
  String nextPoison() {
    return CampaignTables.POISON + nextId();
  }

  /** A primary key that no other row has. */
  long nextRowId() {
    return firstRowId + ++rows;
  }

  void haltNext() {
    haltNext = true;
  }

  /**
   * Commits, with the invocation written down before and the outcome after; {@code ended} hears
   * what it failed with, null when it was acknowledged. Waits while too many are without an answer.
   */
  void commit(
      String id,
      List<Attempt.Part> parts,
      List<Change> changes,
      Supplier<CommitReceipt> commit,
      Consumer<@Nullable Throwable> ended) {
    room.acquireUninterruptibly();
    history.invoke(id, parts, changes);
    if (haltNext) {
      Runtime.getRuntime().halt(137);
    }
    open.incrementAndGet();
    try {
      CommitReceipt receipt = commit.get();
      receipt.queued().whenComplete((ignored, error) -> end(id, error, ended));
      unsettled.incrementAndGet();
      receipt.durable().whenComplete((ignored, error) -> settled(id, error));
    } catch (RuntimeException e) {
      end(id, e, ended);
    }
  }

  /** Writes down a commit whose outcome nobody hears but gameq. */
  void invoked(String id, List<Attempt.Part> parts, List<Change> changes) {
    history.invoke(id, parts, changes);
  }

  private void settled(String id, @Nullable Throwable error) {
    if (error == null) {
      history.durable(id);
    }
    unsettled.decrementAndGet();
  }

  private void end(String id, @Nullable Throwable error, Consumer<@Nullable Throwable> ended) {
    Throwable cause = Certainty.cause(error);
    if (cause == null) {
      history.ok(id);
    } else if (Certainty.isCertain(cause)) {
      history.fail(id, cause);
    } else {
      history.unknown(id, cause);
    }
    ended.accept(cause);
    open.decrementAndGet();
    room.release();
  }

  void opened(long from, String owner, long epoch, Map<String, String> rows) {
    history.open(from, owner, epoch, rows, Attempt.process(prefix));
  }

  void told(Attempt.Part session, String row) {
    history.told(session, row);
  }

  void holds(Attempt.Part session) {
    history.holds(session);
  }

  /** Waits until every commit has its outcome; returns how many have none. */
  int awaitAnswers(long deadlineNanos) throws InterruptedException {
    return awaitNone(open, deadlineNanos);
  }

  /**
   * Waits until everything that was acknowledged is durable, set aside or reported as lost; returns
   * of how many commits nothing is known.
   */
  int awaitSettled(long deadlineNanos) throws InterruptedException {
    return awaitNone(unsettled, deadlineNanos);
  }

  private static int awaitNone(AtomicInteger left, long deadlineNanos) throws InterruptedException {
    while (left.get() > 0 && System.nanoTime() < deadlineNanos) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    return left.get();
  }
}
