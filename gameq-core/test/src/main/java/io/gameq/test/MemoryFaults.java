package io.gameq.test;

import io.gameq.CommitReceipt;
import io.gameq.CommitUnknownException;
import io.gameq.MySqlUnavailableException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What goes wrong with servers in memory, from the call on until {@link #clear} or {@link
 * #mySqlIsBack}; but an outcome is unknown of the next commit alone. Thread-safe.
 */
public final class MemoryFaults {
  private final MemoryStore store;
  boolean redisFull;
  boolean redisAway;
  boolean mySqlAway;
  boolean held;
  @Nullable Boolean unknownIsApplied;
  final Map<String, Refusal> refusals = new LinkedHashMap<>();

  /** What MySQL says. */
  record Refusal(int errorCode, String error) {}

  MemoryFaults(MemoryStore store) {
    this.store = store;
  }

  /** Commits fail with {@link RedisFullException}, but for those that only handle messages. */
  public void redisIsFull() {
    set(() -> redisFull = true);
  }

  /**
   * Redis does not answer: opens and reads fail with {@link RedisUnavailableException}. A commit is
   * in the WAL, and is {@linkplain CommitReceipt#queued queued} by {@link #redisIsBack}.
   */
  public void redisIsAway() {
    set(() -> redisAway = true);
  }

  /** Ends {@link #redisIsAway}, and has what was committed meanwhile arrive, in order. */
  public void redisIsBack() {
    set(() -> redisAway = false);
    store.arrive();
  }

  /** MySQL does not answer: opens fail with {@link MySqlUnavailableException}; nothing flushes. */
  public void mySqlIsAway() {
    set(() -> mySqlAway = true);
  }

  /** MySQL is slow: nothing is flushed, so that nothing becomes durable. */
  public void mySqlIsSlow() {
    set(() -> held = true);
  }

  /** Ends {@link #mySqlIsAway} and {@link #mySqlIsSlow}, and flushes. */
  public void mySqlIsBack() {
    set(
        () -> {
          mySqlAway = false;
          held = false;
        });
    store.flush();
  }

  /**
   * The next commit fails with {@link CommitUnknownException}.
   *
   * @param isApplied whether it took place all the same, which the game is not told
   */
  public void nextOutcomeIsUnknown(boolean isApplied) {
    set(() -> unknownIsApplied = isApplied);
  }

  /**
   * MySQL refuses rows: each becomes a dead letter of its owner, once it is flushed.
   *
   * @param what a table, or one row, {@code table:primary key}
   */
  public void mySqlRefuses(String what, int errorCode, String error) {
    set(() -> refusals.put(what, new Refusal(errorCode, error)));
  }

  /** All is well again. */
  public void clear() {
    set(
        () -> {
          redisFull = false;
          unknownIsApplied = null;
          refusals.clear();
        });
    redisIsBack();
    mySqlIsBack();
  }

  private void set(Runnable fault) {
    synchronized (store) {
      fault.run();
    }
  }
}
