package io.gameq.writer.flush;

import io.gameq.redis.Backoff;
import io.gameq.writer.redis.DueSlots;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Which slots a worker takes next: those in which somebody is due, as many together as fill a
 * flush. A slot has one worker at a time, so that workers of one process flush disjoint owners.
 * Thread-safe.
 *
 * <p>A claim, a transaction and an ack cost about the same for few rows and for many. So there are
 * rounds, at most one in a quarter of a second, in which the slots are taken where somebody is due
 * by then: rows of all slots gather. When nothing was due for so long, the next round begins when
 * somebody is. A backlog waits for no round.
 *
 * <p>Who is urgent, or was made due before his time, has turns of his own, of all slots together:
 * every second one while others wait as well, and beside one that has his slot. So he waits for one
 * flush rather than for a backlog, and a backlog has half of the turns at least.
 */
public final class SlotSchedule {
  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final long TAKE_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** The share of a full flush that is expected of a slot about which nothing is known. */
  private static final double FIRST_GUESS = 1 / 16.0;

  /** Urgent ones are few. */
  private static final double FIRST_GUESS_OF_URGENT = 1 / 256.0;

  /** A slot may hold this much more than expected before owners are left behind. */
  private static final double SLACK = 1.5;

  /** An owner that is due later than this counts as due now: {@code claim.lua} takes it. */
  private static final long MOST_WAIT_MILLIS = DueSlots.LONGEST_WAIT_MILLIS;

  private static final long NEVER = DueSlots.NEVER;

  /**
   * How much is claimed of a slot in a turn.
   *
   * @param owners at most
   * @param rows at most; the last owner may pass it
   */
  public record SlotShare(int slot, int owners, int rows) {}

  /**
   * What was claimed of a slot.
   *
   * @param waitMillis until its next owner is due; -1 when none is, 0 when some were left
   */
  record ClaimResult(int owners, int rows, long waitMillis) {
    /** After leases ran out, somebody is due at once. */
    static final ClaimResult REAPED = new ClaimResult(0, 0, 0);

    ClaimResult plus(ClaimResult later) {
      return new ClaimResult(owners + later.owners, rows + later.rows, later.waitMillis);
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Slot[] slots;
  private final Slot[] urgent;
  private final FlushPace pace;
  private final IntPredicate isPaused;
  private final LongSupplier nanoTime;
  private final long startNanos;
  private long roundNanos = -ROUND_NANOS;
  private boolean wasUrgent;
  private int running;

  /** A slot, or its urgent owners. Times are nanoseconds since the schedule was made. */
  private static final class Slot {
    private final int number;
    private boolean isTaken;
    private boolean hasExpired;
    private long dueNanos = NEVER;
    private boolean waitsForNoRound;
    private long pausedUntilNanos;
    private final Backoff backoff = new Backoff(100, 5_000);

    /** As a share of a full flush. */
    private double expected;

    Slot(int number, double expected) {
      this.number = number;
      this.expected = expected;
    }

    void isDueAt(long nanos) {
      dueNanos = Math.min(dueNanos, nanos);
    }
  }

  /**
   * What a worker does next.
   *
   * @param expired a slot where leases ran out; or null
   * @param shares otherwise, of slots where somebody is due; not empty then
   * @param isUrgent whether to claim only owners that are due before their time
   */
  record Assignment(@Nullable Integer expired, List<SlotShare> shares, boolean isUrgent) {
    /** The most rows to claim; the last owner of each slot may exceed it. */
    int rows() {
      return shares.stream().mapToInt(SlotShare::rows).sum();
    }

    List<Integer> slots() {
      return expired == null ? shares.stream().map(SlotShare::slot).toList() : List.of(expired);
    }
  }

  /**
   * A schedule that knows nothing of its slots yet.
   *
   * @param isPaused whether operators paused a slot: nothing is claimed, but leases that ran out
   *     are taken back
   */
  public SlotSchedule(int slots, FlushPace pace, IntPredicate isPaused, LongSupplier nanoTime) {
    this.pace = pace;
    this.isPaused = isPaused;
    this.nanoTime = nanoTime;
    this.startNanos = nanoTime.getAsLong();
    this.slots = all(slots, FIRST_GUESS);
    this.urgent = all(slots, FIRST_GUESS_OF_URGENT);
  }

  private static Slot[] all(int slots, double expected) {
    return IntStream.range(0, slots)
        .mapToObj(number -> new Slot(number, expected))
        .toArray(Slot[]::new);
  }

  private long now() {
    return nanoTime.getAsLong() - startNanos;
  }

  private static long after(long now, long millis) {
    return millis > MOST_WAIT_MILLIS
        ? now
        : now + TimeUnit.MILLISECONDS.toNanos(Math.max(0, millis));
  }

  /** Waits a little for slots whose time has come; null when there is none by then. */
  @Nullable Assignment take() {
    lock.lock();
    try {
      long left = TAKE_WAIT_NANOS;
      while (true) {
        Assignment taken = poll();
        if (taken != null || left <= 0) {
          return taken;
        }
        long wait = Math.max(1, Math.min(left, firstNanos() - now()));
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
  @Nullable Assignment poll() {
    lock.lock();
    try {
      long now = now();
      List<Slot> before = ready(urgent, now);
      List<Slot> ready = pace.hasRoom(running) ? ready(slots, now) : List.of();
      boolean isUrgent = !before.isEmpty() && (ready.isEmpty() || !wasUrgent);
      if (pace.waitNanos() > 0 || (before.isEmpty() && ready.isEmpty())) {
        return null;
      }
      wasUrgent = isUrgent;
      if (!before.isEmpty() && !ready.isEmpty()) {
        changed.signal(); // the others are for another worker
      }
      Assignment taken = isUrgent ? share(before, true) : take(ready, now);
      running += isUrgent ? 0 : 1;
      pace.begins(taken.rows());
      return taken;
    } finally {
      lock.unlock();
    }
  }

  private long firstNanos() {
    return Math.max(
        Math.min(firstNanos(urgent), pace.hasRoom(running) ? firstNanos(slots) : NEVER),
        now() + pace.waitNanos());
  }

  private long firstNanos(Slot[] of) {
    return Arrays.stream(of).mapToLong(this::nextNanos).min().orElse(NEVER);
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

  /** The slot that has waited longest comes first. */
  private List<Slot> ready(Slot[] of, long now) {
    return Arrays.stream(of)
        .filter(slot -> nextNanos(slot) <= now)
        .sorted(Comparator.comparingLong(slot -> slot.dueNanos))
        .toList();
  }

  private Assignment take(List<Slot> ready, long now) {
    for (Slot slot : ready) {
      if (slot.hasExpired) {
        slot.isTaken = true;
        slot.hasExpired = false;
        changed.signal();
        return new Assignment(slot.number, List.of(), false);
      }
    }
    if (now >= roundNanos + ROUND_NANOS) {
      roundNanos = now;
    }
    return share(ready, false);
  }

  /** As many slots as fill the next flush, whose size changes. */
  private Assignment share(List<Slot> ready, boolean isUrgent) {
    double full = pace.share();
    List<Slot> together = new ArrayList<>();
    double sum = 0;
    for (Slot slot : ready) {
      double expected = SLACK * slot.expected;
      if (sum > 0 && sum + expected > full) {
        changed.signal(); // the rest is for another worker
        break;
      }
      slot.isTaken = true;
      slot.waitsForNoRound = isUrgent;
      sum += expected;
      together.add(slot);
    }
    double more = Math.max(0, full - sum) / together.size();
    List<SlotShare> shares = new ArrayList<>();
    for (Slot slot : together) {
      double share = Math.min(full, SLACK * slot.expected + more);
      shares.add(
          new SlotShare(
              slot.number,
              Math.max(1, (int) (share * pace.mostOwners())),
              Math.max(1, (int) (share * pace.mostRows()))));
    }
    return new Assignment(null, shares, isUrgent);
  }

  /**
   * Notes what there is to do. The turn of a taken slot will know more.
   *
   * @param nowMillis Redis TIME now
   */
  void saw(DueSlots.EarliestTimes firsts, long nowMillis) {
    change(
        () -> {
          long now = now();
          for (int i = 0; i < slots.length; i++) {
            long dueMillis = firsts.due()[i];
            if (dueMillis <= 0 && !urgent[i].isTaken) { // before his time
              urgent[i].isDueAt(now);
              urgent[i].waitsForNoRound = true;
            }
            if (slots[i].isTaken) {
              continue;
            }
            if (dueMillis > 0 && dueMillis != NEVER) {
              slots[i].isDueAt(after(now, dueMillis - nowMillis));
            }
            if (i < firsts.ready().length && firsts.ready()[i] != NEVER) {
              slots[i].isDueAt(now);
            }
            slots[i].hasExpired |= i < firsts.leases().length && firsts.leases()[i] <= nowMillis;
          }
        });
  }

  /**
   * Ends a turn, after all its slots were given back.
   *
   * @param rows that were claimed
   */
  void ended(Assignment turn, int rows) {
    change(
        () -> {
          running -= turn.isUrgent() ? 0 : 1;
          pace.ended(turn.rows(), rows);
        });
  }

  /**
   * Ends a turn of a slot.
   *
   * @param claimed what of it, and when its next owner is due; of an urgent turn: its next urgent
   *     one
   */
  void giveBack(Assignment turn, int slot, ClaimResult claimed) {
    Slot of = of(turn, slot);
    change(
        () -> {
          boolean isBacklog = claimed.waitMillis() == 0;
          of.isTaken = false;
          of.dueNanos = claimed.waitMillis() < 0 ? NEVER : after(now(), claimed.waitMillis());
          of.waitsForNoRound = isBacklog || turn.isUrgent();
          if (claimed.rows() > 0) {
            double share =
                Math.max(
                    (double) claimed.owners() / pace.mostOwners(),
                    (double) claimed.rows() / pace.mostRows());
            of.expected = isBacklog ? 2 * share : share;
          }
          of.backoff.reset();
        });
  }

  /** Ends a turn in which the slot could not be asked: it is tried again later and later. */
  void pauseFailed(Assignment turn, int slot) {
    pause(turn, slot, of(turn, slot).backoff.nextMillisWithJitter());
  }

  /** Ends a turn that came to nothing: the slot is left alone for so long. */
  void pause(Assignment turn, int slot, long millis) {
    Slot of = of(turn, slot);
    change(
        () -> {
          of.isTaken = false;
          of.pausedUntilNanos = after(now(), millis);
          of.dueNanos = of.pausedUntilNanos;
        });
  }

  private Slot of(Assignment turn, int slot) {
    return turn.isUrgent() ? urgent[slot] : slots[slot];
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signal();
    } finally {
      lock.unlock();
    }
  }
}
