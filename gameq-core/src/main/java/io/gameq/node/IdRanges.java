package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.Ids;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The ids of one table, out of ranges that are taken in MySQL: the next one while half of this one
 * is left. Thread-safe; nobody waits with the lock, and all who find none left wait for the same
 * range, each for its own time.
 */
final class IdRanges implements Ids {
  private static final String TAKE = "take ids";

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
  void prepare() {
    long unused = await(false);
  }

  @Override
  public long next() {
    return await(true);
  }

  /**
   * The first id that is left; waits for a range when none is.
   *
   * @param takes whether the id is given away
   */
  private long await(boolean takes) {
    long deadline = calls.deadline();
    CompletableFuture<Long> earlier;
    synchronized (this) {
      earlier = coming;
    }
    while (true) {
      CompletableFuture<Long> awaited;
      synchronized (this) {
        if (hasLeft()) {
          return takes ? give() : next;
        }
        awaited = coming();
      }
      try {
        long unused = calls.await(TAKE, deadline, awaited);
      } catch (GameQueueException e) {
        if (awaited != earlier) {
          throw e;
        }
        earlier = null; // it was begun before this call, maybe long ago: MySQL may be back
      }
    }
  }

  /** Goes on to the range that came, if none is left of the one before. */
  private boolean hasLeft() {
    CompletableFuture<Long> ready = coming;
    if (left == 0 && ready != null && ready.isDone()) {
      coming = null;
      if (!ready.isCompletedExceptionally()) {
        next = ready.join();
        left = range;
      }
    }
    return left > 0;
  }

  private long give() {
    left--;
    if (left <= range / 2) {
      CompletableFuture<Long> unused = coming();
    }
    return next++;
  }

  private CompletableFuture<Long> coming() {
    CompletableFuture<Long> ready = coming;
    if (ready == null) {
      ready = calls.shareOfMySql(TAKE, isAwaited -> taking.getAsLong());
      coming = ready;
    }
    return ready;
  }
}
