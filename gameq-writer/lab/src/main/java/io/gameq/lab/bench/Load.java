package io.gameq.lab.bench;

import io.gameq.CommitReceipt;
import io.gameq.lab.bench.workload.Actions;
import io.gameq.lab.bench.workload.BenchException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;

/** Game threads that act, and how long it takes until Redis has what they did. */
final class Load {
  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final int DIGITS = 3;

  private final BenchGame game;
  private final List<Actions> actions;
  private final Pace pace;
  private final Recorder queued = new Recorder(DIGITS);
  private final Recorder call = new Recorder(DIGITS);
  private final Recorder handOver = new Recorder(DIGITS);
  private final LongAdder acted = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();

  /**
   * How threads act.
   *
   * @param inFlight commits of one thread without an answer from Redis: 1 is a closed loop
   * @param perSecond actions of all threads together, each due at its time whatever became of those
   *     before (open loop), and measured from that time on; 0: as fast as they can
   * @param handOvers share of the actions after which their player logs out and in again
   */
  record Pace(int inFlight, int perSecond, double handOvers) {
    static Pace closedLoop(double handOvers) {
      return new Pace(1, 0, handOvers);
    }

    static Pace openLoop(int perSecond, double handOvers) {
      return new Pace(Integer.MAX_VALUE, perSecond, handOvers);
    }
  }

  /** When a load ends: after so many actions of each thread, or after a time. */
  record Until(long actionsPerThread, long nanos) {
    static Until actions(long perThread) {
      return new Until(perThread, Long.MAX_VALUE);
    }

    static Until seconds(double seconds) {
      return new Until(Long.MAX_VALUE, (long) (seconds * 1e9));
    }
  }

  /**
   * What a load came to.
   *
   * @param acknowledged actions of each thread that Redis has, those before this load included
   * @param queuedNanos from when the action was due until Redis had it
   * @param callNanos what put and commit kept the game thread
   * @param handOverNanos from logging out until logged in again
   */
  record Result(
      long[] acknowledged,
      double seconds,
      Histogram queuedNanos,
      Histogram callNanos,
      Histogram handOverNanos,
      Resources.Used used) {
    /** Of this load. */
    long actions() {
      return queuedNanos.getTotalCount();
    }

    double perSecond() {
      return actions() / seconds;
    }
  }

  /** A load that goes on where {@code actions} are. */
  Load(BenchGame game, List<Actions> actions, Pace pace) {
    this.game = game;
    this.actions = actions;
    this.pace = pace;
  }

  /** Acts and waits until Redis has all. Throws {@link BenchException} when a commit failed. */
  Result run(Until until) throws InterruptedException {
    Resources before = Resources.now();
    LongAdder ofGameThreads = new LongAdder();
    long began = System.nanoTime();
    Threads.run(
        actions.size(),
        "game",
        thread -> {
          try {
            play(thread, began, until);
          } catch (RuntimeException e) { // the others are to end as well
            failed.compareAndSet(null, e);
          }
          ofGameThreads.add(Resources.allocatedByThisThread());
        });
    double seconds = (System.nanoTime() - began) / 1e9;
    Throwable error = failed.get();
    if (error != null) {
      throw new BenchException("a commit failed: " + error.getMessage(), error);
    }
    return new Result(
        actions.stream().mapToLong(Actions::seq).toArray(),
        seconds,
        queued.getIntervalHistogram(),
        call.getIntervalHistogram(),
        handOver.getIntervalHistogram(),
        before.usedSince().with(ofGameThreads.sum()));
  }

  /** Actions begun so far. Any thread. */
  long acted() {
    return acted.sum();
  }

  private void play(int thread, long began, Until until) throws InterruptedException {
    Actions mine = actions.get(thread);
    SplittableRandom chance = new SplittableRandom(thread);
    Semaphore room = new Semaphore(pace.inFlight);
    long everyNanos = pace.perSecond == 0 ? 0 : 1_000_000_000L * actions.size() / pace.perSecond;
    for (long n = 0; n < until.actionsPerThread; n++) {
      long due = began + n * everyNanos;
      awaitTime(everyNanos == 0 ? began : due);
      if (System.nanoTime() - began >= until.nanos || failed.get() != null) {
        break;
      }
      room.acquire();
      act(mine, everyNanos == 0 ? System.nanoTime() : due, room);
      if (pace.handOvers > 0 && chance.nextDouble() < pace.handOvers) {
        long closing = System.nanoTime();
        game.handOver(mine.player());
        handOver.recordValue(System.nanoTime() - closing);
      }
    }
    if (!room.tryAcquire(pace.inFlight, ANSWER.toSeconds(), TimeUnit.SECONDS)) {
      throw new BenchException(
          "Redis did not answer all commits within " + ANSWER.toSeconds() + " s");
    }
  }

  private void act(Actions mine, long due, Semaphore room) {
    mine.next();
    acted.increment();
    long called = System.nanoTime();
    CommitReceipt receipt = game.act(mine);
    call.recordValue(System.nanoTime() - called);
    if (pace.inFlight == 1 && pace.perSecond == 0) {
      receipt.awaitQueued(ANSWER);
      queued.recordValue(System.nanoTime() - due);
      room.release();
    } else {
      receipt
          .queued()
          .whenComplete(
              (done, error) -> {
                if (error != null) {
                  failed.compareAndSet(null, error);
                }
                queued.recordValue(System.nanoTime() - due);
                room.release();
              });
    }
  }

  private static void awaitTime(long nanos) {
    for (long left; (left = nanos - System.nanoTime()) > 0; ) {
      LockSupport.parkNanos(left);
    }
  }
}
