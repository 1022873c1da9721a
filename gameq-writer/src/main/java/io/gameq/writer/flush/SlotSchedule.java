package io.gameq.writer.flush;

import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Which slot a worker takes next: the one whose turn came first. A slot has one worker at a time,
 * so that workers of one process flush disjoint owners. Thread-safe.
 */
public final class SlotSchedule {
  /** Idle slots are looked at so often in all that a writer sends under 100 commands a second. */
  private static final long IDLE_MILLIS_PER_SLOT = 64;

  private static final long LEAST_IDLE_MILLIS = 1_000;

  private static final int LOOKS_WHILE_WAITING = 5;

  private static final long TAKE_WAIT_MILLIS = 200;

  private final DelayQueue<Turn> turns = new DelayQueue<>();
  private final long idleMillis;

  private record Turn(int slot, long atNanos) implements Delayed {
    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(atNanos - ((Turn) other).atNanos, 0);
    }
  }

  public SlotSchedule(int slots) {
    idleMillis = Math.max(LEAST_IDLE_MILLIS, IDLE_MILLIS_PER_SLOT * slots);
    for (int slot = 0; slot < slots; slot++) {
      giveBack(slot, 0);
    }
  }

  /** Waits a little for the next slot whose turn has come; null when there is none by then. */
  @Nullable Integer take() {
    try {
      Turn turn = turns.poll(TAKE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
      return turn == null ? null : turn.slot();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** After how long an idle slot is looked at again: the most delay of a first commit, ms. */
  long idleMillis() {
    return idleMillis;
  }

  /**
   * After how long a slot is looked at again whose owners are due later: the most delay of a flush
   * that is pulled forward, ms.
   */
  long waitingMillis() {
    return idleMillis / LOOKS_WHILE_WAITING;
  }

  /** Ends a turn; the next one comes after {@code delayMillis}. */
  void giveBack(int slot, long delayMillis) {
    turns.add(new Turn(slot, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMillis)));
  }
}
