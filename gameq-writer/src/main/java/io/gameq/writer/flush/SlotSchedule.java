package io.gameq.writer.flush;

import io.gameq.redis.Backoff;
import io.gameq.redis.script.SlotHeads;
import io.gameq.writer.turn.SlotShare;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which slots a worker takes next: those in which somebody is due, as many together as fill a
 * flush. A slot has one worker at a time, so that workers of one process flush disjoint owners.
 * Thread-safe.
 *
 * <p>A claim, a transaction and an ack cost about the same for few rows and for many. So there are
 * rounds, at most one in a quarter of a second, in which the slots are taken where somebody is due
 * by then: rows of all slots gather. When nothing was due for so long, the next round begins when
 * somebody is. A backlog, and who was made due before his time, wait for no round.
 */
public final class SlotSchedule {
  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final long TAKE_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Of a full flush, expected in a slot of which nothing is known. */
  private static final double FIRST_GUESS = 1 / 16.0;

  /** A slot may bring so much more than is expected before somebody is left behind. */
  private static final double SLACK = 1.5;

  /** Whatever Redis says: somebody else may have written it. */
  private static final long MOST_WAIT_MILLIS = TimeUnit.HOURS.toMillis(1);

  private static final long NEVER = SlotHeads.NEVER;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Slot[] slots;
  private final int mostOwners;
  private final int mostRows;
  private final IntPredicate isPaused;
  private final LongSupplier nanoTime;
  private final long startNanos;
  private long roundNanos = -ROUND_NANOS;

  /** Times are nanoseconds since the schedule was made. */
  private static final class Slot {
    private final int number;
    private boolean isTaken;
    private boolean hasExpired;
    private long dueNanos = NEVER;
    private boolean waitsForNoRound;
    private long pausedUntilNanos;
    private final Backoff backoff = new Backoff(100, 5_000);

    /** Of a full flush. */
    private double expected = FIRST_GUESS;

    Slot(int number) {
      this.number = number;
    }
  }

  /**
   * What a worker does next.
   *
   * @param expired a slot where leases ran out; or null
   * @param shares otherwise, of slots where somebody is due; not empty then
   */
  record Taken(@Nullable Integer expired, List<SlotShare> shares) {
    List<Integer> slots() {
      return expired == null ? shares.stream().map(SlotShare::slot).toList() : List.of(expired);
    }
  }

  /**
   * A schedule of slots of which nothing is known yet.
   *
   * @param mostOwners of a flush
   * @param mostRows of a flush
   * @param isPaused whether operators want nothing claimed of a slot; leases that ran out are taken
   *     back all the same
   */
  public SlotSchedule(int slots, int mostOwners, int mostRows, IntPredicate isPaused) {
    this(slots, mostOwners, mostRows, isPaused, System::nanoTime);
  }

  SlotSchedule(
      int slots, int mostOwners, int mostRows, IntPredicate isPaused, LongSupplier nanoTime) {
    this.mostOwners = mostOwners;
    this.mostRows = mostRows;
    this.isPaused = isPaused;
    this.nanoTime = nanoTime;
    this.startNanos = nanoTime.getAsLong();
    this.slots = new Slot[slots];
    for (int slot = 0; slot < slots; slot++) {
      this.slots[slot] = new Slot(slot);
    }
  }

  private long now() {
    return nanoTime.getAsLong() - startNanos;
  }

  private static long after(long now, long millis) {
    return now + TimeUnit.MILLISECONDS.toNanos(Math.max(0, Math.min(millis, MOST_WAIT_MILLIS)));
  }

  /** Waits a little for slots whose time has come; null when there is none by then. */
  @Nullable Taken take() {
    lock.lock();
    try {
      long left = TAKE_WAIT_NANOS;
      while (true) {
        Taken taken = poll();
        if (taken != null || left <= 0) {
          return taken;
        }
        long wait = Math.min(left, firstNanos() - now());
        left -= wait - changed.awaitNanos(wait);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** Slots whose time has come; null when there is none. */
  @Nullable Taken poll() {
    lock.lock();
    try {
      long now = now();
      List<Slot> ready = ready(now);
      return ready.isEmpty() ? null : take(ready, now);
    } finally {
      lock.unlock();
    }
  }

  private long firstNanos() {
    return Arrays.stream(slots).mapToLong(this::nextNanos).min().orElse(NEVER);
  }

  /** When a slot is to be taken; in this round if somebody was due when it began. */
  private long nextNanos(Slot slot) {
    if (slot.isTaken || (!slot.hasExpired && isPaused.test(slot.number))) {
      return NEVER;
    }
    long next = slot.hasExpired ? 0 : slot.dueNanos;
    if (!slot.hasExpired && !slot.waitsForNoRound && slot.dueNanos > roundNanos) {
      next = Math.max(next, roundNanos + ROUND_NANOS);
    }
    return Math.max(next, slot.pausedUntilNanos);
  }

  /** Who has waited longest comes first. */
  private List<Slot> ready(long now) {
    return Arrays.stream(slots)
        .filter(slot -> nextNanos(slot) <= now)
        .sorted(Comparator.comparingLong(slot -> slot.dueNanos))
        .toList();
  }

  private Taken take(List<Slot> ready, long now) {
    for (Slot slot : ready) {
      if (slot.hasExpired) {
        slot.isTaken = true;
        slot.hasExpired = false;
        changed.signal();
        return new Taken(slot.number, List.of());
      }
    }
    if (now >= roundNanos + ROUND_NANOS) {
      roundNanos = now;
    }
    List<Slot> together = new ArrayList<>();
    double sum = 0;
    for (Slot slot : ready) {
      if (sum > 0 && sum + SLACK * slot.expected > 1) {
        changed.signal(); // the rest is for another worker
        break;
      }
      slot.isTaken = true;
      slot.waitsForNoRound = false;
      sum += SLACK * slot.expected;
      together.add(slot);
    }
    double more = Math.max(0, 1 - sum) / together.size();
    return new Taken(null, together.stream().map(slot -> share(slot, more)).toList());
  }

  private SlotShare share(Slot slot, double more) {
    double share = Math.min(1, SLACK * slot.expected + more);
    return new SlotShare(slot.number, part(share, mostOwners), part(share, mostRows));
  }

  private static int part(double share, int of) {
    return Math.max(1, (int) (share * of));
  }

  /**
   * Somebody is due.
   *
   * @param millis by slot: when its next owner is due, as {@link SlotHeads#due} tells
   * @param nowMillis Redis TIME now
   */
  void sawDue(long[] millis, long nowMillis) {
    saw(
        millis,
        (slot, dueMillis, now) -> {
          slot.dueNanos = Math.min(slot.dueNanos, after(now, dueMillis - nowMillis));
          if (dueMillis == 0) { // before his time
            slot.waitsForNoRound = true;
          }
        });
  }

  /** Owners that a claim left for the next one, as {@link SlotHeads#ready} tells. */
  void sawReady(long[] millis) {
    saw(millis, (slot, always, now) -> slot.dueNanos = Math.min(slot.dueNanos, now));
  }

  /** Leases, as {@link SlotHeads#leases} tells. */
  void sawLeases(long[] millis, long nowMillis) {
    saw(millis, (slot, endMillis, now) -> slot.hasExpired |= endMillis <= nowMillis);
  }

  private interface Sight {
    void of(Slot slot, long millis, long now);
  }

  /** Of a slot that is taken its turn will know more. */
  private void saw(long[] millis, Sight sight) {
    lock.lock();
    try {
      long now = now();
      for (Slot slot : slots) {
        if (!slot.isTaken && millis[slot.number] != SlotHeads.NEVER) {
          sight.of(slot, millis[slot.number], now);
        }
      }
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends a turn of a slot.
   *
   * @param owners that were claimed
   * @param rows of theirs
   * @param waitMillis until its next owner is due; -1 when none is known, 0 when somebody was left
   */
  void giveBack(int slot, int owners, int rows, long waitMillis) {
    giveBack(
        slot,
        (of, now) -> {
          boolean isBacklog = waitMillis == 0;
          of.dueNanos = waitMillis < 0 ? NEVER : after(now, waitMillis);
          of.waitsForNoRound = isBacklog;
          if (rows > 0) {
            double share = Math.max((double) owners / mostOwners, (double) rows / mostRows);
            of.expected = isBacklog ? 2 * share : share;
          }
          of.backoff.reset();
        });
  }

  /** Ends a turn in which the slot could not be asked: it is tried again later and later. */
  void pauseFailed(int slot) {
    pause(slot, slots[slot].backoff.nextMillisWithJitter());
  }

  /** Ends a turn that came to nothing: the slot is left alone for so long. */
  void pause(int slot, long millis) {
    giveBack(
        slot,
        (of, now) -> {
          of.pausedUntilNanos = after(now, millis);
          of.dueNanos = of.pausedUntilNanos;
        });
  }

  private void giveBack(int number, BiConsumer<Slot, Long> change) {
    lock.lock();
    try {
      Slot slot = slots[number];
      slot.isTaken = false;
      change.accept(slot, now());
      changed.signal();
    } finally {
      lock.unlock();
    }
  }
}
