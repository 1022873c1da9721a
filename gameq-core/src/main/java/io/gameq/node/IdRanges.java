package io.gameq.node;

import io.gameq.Ids;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The ids of one table, out of ranges that are taken in MySQL: the next one while half of this one
 * is left. Thread-safe; whoever finds none left has all others wait with it.
 */
final class IdRanges implements Ids {
  private final LongSupplier taking;
  private final int range;
  private final NodeCalls calls;
  private long next;
  private long left;
  private @Nullable CompletableFuture<Long> coming;

  /**
   * Has none at first.
   *
   * @param taking takes the next range in MySQL and returns its first id
   * @param range how many ids it has
   */
  IdRanges(LongSupplier taking, int range, NodeCalls calls) {
    this.taking = taking;
    this.range = range;
    this.calls = calls;
  }

  /** Takes the first range, if none was taken. */
  synchronized void prepare() {
    if (left == 0) {
      refill();
    }
  }

  @Override
  public synchronized long next() {
    prepare();
    left--;
    if (left <= range / 2 && coming == null) {
      coming =
          calls.startOfMySql(
              "take ids", isAwaited -> taking.getAsLong(), unused -> {}, Runnable::run);
    }
    return next++;
  }

  private void refill() {
    CompletableFuture<Long> ready = coming;
    coming = null;
    next = ready == null ? take() : of(ready);
    left = range;
  }

  private long take() {
    return calls.ofMySql("take ids", isAwaited -> taking.getAsLong(), unused -> {});
  }

  /** What failed, maybe long ago, is tried once more: MySQL may be back. */
  private long of(CompletableFuture<Long> ready) {
    try {
      return ready.join();
    } catch (CompletionException e) {
      return take();
    }
  }
}
