package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.OpenProgress;
import io.gameq.OpenResult;
import io.gameq.OwnerSession;
import io.gameq.RedisUnavailableException;
import io.gameq.durability.Callbacks;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Opens many owners, so many at a time that opens of others have their turn as well. Thread-safe;
 * what the game is told it is told on the executor of callbacks.
 */
final class OwnersOpening {
  /**
   * Half of those that may be under way on a node: who comes alone does not wait for a crowd. With
   * more no more log in a second on two cores, and commits meanwhile take longer.
   */
  private static final int MOST_UNDER_WAY = 32;

  /** Of one server that is away, in a row: one connection that broke fails those under way. */
  private static final int MOST_AWAY = 2 * MOST_UNDER_WAY;

  private final List<String> owners;
  private final Function<String, CompletionStage<OwnerSession>> open;
  private final Consumer<OpenProgress> progress;
  private final Executor callbacks;
  private final CompletableFuture<List<OpenResult>> all = new CompletableFuture<>();
  private final OpenResult[] results;
  private int begun;
  private int opened;
  private int failed;
  private int awayInARow;

  /**
   * For some owners, each of them once.
   *
   * @param open one of them; what it returns ends on {@code callbacks}
   */
  OwnersOpening(
      Collection<String> owners,
      Function<String, CompletionStage<OwnerSession>> open,
      Consumer<OpenProgress> progress,
      Executor callbacks) {
    this.owners = List.copyOf(new LinkedHashSet<>(owners)); // null is refused before any is begun
    this.open = open;
    this.progress = progress;
    this.callbacks = callbacks;
    this.results = new OpenResult[this.owners.size()];
  }

  /** Begins; the future ends when all of them have. */
  CompletableFuture<List<OpenResult>> start() {
    if (owners.isEmpty()) {
      all.complete(List.of());
    }
    for (int i = 0; i < MOST_UNDER_WAY; i++) {
      beginNext(null);
    }
    return all;
  }

  /** Begins one, or fails it at once for that reason. */
  private void beginNext(@Nullable GameQueueException away) {
    int next;
    synchronized (this) {
      if (begun == owners.size()) {
        return;
      }
      next = begun++;
    }
    try {
      if (away != null) {
        throw away;
      }
      if (all.isCancelled()) {
        throw new GameQueueException("opening " + owners.get(next) + ": cancelled");
      }
      var unused = open.apply(owners.get(next)).whenComplete((it, e) -> ended(next, it, e));
    } catch (RuntimeException e) { // also of an id that is malformed
      callbacks.execute(() -> ended(next, null, e)); // not here: there may be thousands
    }
  }

  private void ended(int of, @Nullable OwnerSession session, @Nullable Throwable error) {
    OpenProgress now;
    GameQueueException away;
    synchronized (this) {
      GameQueueException failure = error == null ? null : failure(error);
      results[of] = new OpenResult(owners.get(of), session, failure);
      opened += failure == null ? 1 : 0;
      failed += failure == null ? 0 : 1;
      awayInARow = isAway(failure) ? awayInARow + 1 : 0;
      away = awayInARow >= MOST_AWAY ? failure : null;
      now = new OpenProgress(results[of], opened, failed, results.length);
    }
    callbacks.execute(() -> progress.accept(now));
    if (now.open() + now.failed() == now.all()) {
      callbacks.execute(() -> all.complete(List.of(results)));
    }
    beginNext(away);
  }

  private static boolean isAway(@Nullable GameQueueException failure) {
    return failure instanceof RedisUnavailableException
        || failure instanceof MySqlUnavailableException;
  }

  private static GameQueueException failure(Throwable error) {
    Throwable cause = Callbacks.cause(error);
    return cause instanceof GameQueueException known
        ? known
        : new GameQueueException("the open failed: " + cause, cause);
  }
}
