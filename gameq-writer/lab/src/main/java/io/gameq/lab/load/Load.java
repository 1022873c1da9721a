package io.gameq.lab.load;

import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchException;
import java.time.Duration;
import java.util.ArrayList;
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

/**
 * Game threads that act, and how long it takes until what they did is acknowledged. One thread runs
 * it, once; any may ask what has been done so far.
 */
public final class Load {
  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final int DIGITS = 3;

  private final GameThreads threads;
  private final List<Actions> actions;
  private final Pace pace;
  private final Acknowledged acknowledged;
  private final Recorder queued = new Recorder(DIGITS);
  private final Histogram queuedBefore = new Histogram(DIGITS);
  private final Recorder call = new Recorder(DIGITS);
  private final Recorder handOver = new Recorder(DIGITS);
  private final LongAdder acted = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
  private volatile boolean stopped;
  private long began;

  /** Told by a game thread, in a closed loop alone: its number, and how many actions are safe. */
  public interface Acknowledged {
    void upTo(int thread, long actions);
  }

  /**
   * How threads act.
   *
   * @param inFlight actions of one thread that are not acknowledged: 1 is a closed loop
   * @param perSecond actions of all threads together, each due at its time whatever became of those
   *     before (open loop), and measured from that time on; 0: as fast as they can
   * @param handOvers share of the actions after which their player logs out and in again
   */
  public record Pace(int inFlight, int perSecond, double handOvers) {
    /** As fast as {@code inFlight} allows, without hand-overs. */
    public static Pace pressure(int inFlight) {
      return new Pace(inFlight, 0, 0);
    }

    /** Each thread waits for each of its actions. */
    public static Pace closedLoop(double handOvers) {
      return new Pace(1, 0, handOvers);
    }

    /** Actions that are due at their time. */
    public static Pace openLoop(int perSecond, double handOvers) {
      return new Pace(Integer.MAX_VALUE, perSecond, handOvers);
    }

    boolean isClosedLoop() {
      return inFlight == 1 && perSecond == 0;
    }
  }

  /** When a load ends: after so many actions of each thread, or after a time. */
  public record Until(long actionsPerThread, long nanos) {
    public static Until actions(long perThread) {
      return new Until(perThread, Long.MAX_VALUE);
    }

    public static Until seconds(double seconds) {
      return new Until(Long.MAX_VALUE, (long) (seconds * 1e9));
    }
  }

  /**
   * What a load came to.
   *
   * @param acknowledged actions of each thread, those before this load included
   * @param beganNanos of {@link System#nanoTime}, when the game threads were let go
   * @param queuedNanos from when the action was due until it was acknowledged
   * @param callNanos what the call itself kept the game thread
   * @param handOverNanos from logging out until logged in again
   * @param gameThreadBytes allocated by the game threads, the making of the rows included
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by nobody
  public record Result(
      long[] acknowledged,
      long beganNanos,
      double seconds,
      Histogram queuedNanos,
      Histogram callNanos,
      Histogram handOverNanos,
      long gameThreadBytes,
      Resources.Used used) {
    /** Of this load. */
    public long actions() {
      return queuedNanos.getTotalCount();
    }

    public double perSecond() {
      return actions() / seconds;
    }
  }

  /** A load that goes on where {@code actions} are, those of one game thread each. */
  public Load(GameThreads threads, List<Actions> actions, Pace pace) {
    this(threads, actions, pace, (thread, safe) -> {});
  }

  /** The same, which tells of what was acknowledged. */
  public Load(GameThreads threads, List<Actions> actions, Pace pace, Acknowledged acknowledged) {
    this.threads = threads;
    this.actions = actions;
    this.pace = pace;
    this.acknowledged = acknowledged;
  }

  /**
   * Acts and waits until all is acknowledged.
   *
   * @throws BenchException when an action failed; the other threads have ended then
   */
  public Result run(Until until) throws InterruptedException {
    List<GameThreads.GameThread> games = connected();
    LongAdder ofGameThreads = new LongAdder();
    Resources before = Resources.now();
    began = System.nanoTime();
    Threads.run(
        games.size(),
        "game",
        thread -> {
          try (GameThreads.GameThread game = games.get(thread)) {
            play(thread, game, until);
          } catch (Exception e) { // the others are to end as well
            failed.compareAndSet(null, e);
          }
          ofGameThreads.add(Resources.allocatedByThisThread());
        });
    double seconds = (System.nanoTime() - began) / 1e9;
    Throwable error = failed.get();
    if (error != null) {
      throw new BenchException("an action failed: " + error.getMessage(), error);
    }
    return new Result(
        actions.stream().mapToLong(Actions::seq).toArray(),
        began,
        seconds,
        queuedNanos(),
        call.getIntervalHistogram(),
        handOver.getIntervalHistogram(),
        ofGameThreads.sum(),
        before.usedSince().with(ofGameThreads.sum()));
  }

  /** All of them, before the clock starts. */
  private List<GameThreads.GameThread> connected() {
    List<GameThreads.GameThread> games = new ArrayList<>();
    try {
      for (int thread = 0; thread < actions.size(); thread++) {
        games.add(threads.gameThread(thread));
      }
      return games;
    } catch (Exception e) {
      throw new BenchException("a game thread cannot connect: " + e.getMessage(), e);
    }
  }

  /** From when actions were due until they were acknowledged, of those since it was asked last. */
  public synchronized Histogram latestQueuedNanos() {
    Histogram latest = queued.getIntervalHistogram();
    queuedBefore.add(latest);
    return latest;
  }

  private synchronized Histogram queuedNanos() {
    var unused = latestQueuedNanos();
    return queuedBefore;
  }

  /** Actions begun so far. Any thread. */
  public long acted() {
    return acted.sum();
  }

  /** Lets it end before its time. Any thread. */
  public void stop() {
    stopped = true;
  }

  private void play(int thread, GameThreads.GameThread game, Until until) throws Exception {
    Actions mine = actions.get(thread);
    SplittableRandom chance = new SplittableRandom(thread);
    Semaphore room = new Semaphore(pace.inFlight);
    long everyNanos = pace.perSecond == 0 ? 0 : 1_000_000_000L * actions.size() / pace.perSecond;
    for (long n = 0; n < until.actionsPerThread; n++) {
      long due = began + n * everyNanos;
      awaitTime(everyNanos == 0 ? began : due);
      if (System.nanoTime() - began >= until.nanos || failed.get() != null || stopped) {
        break;
      }
      room.acquire();
      act(thread, game, everyNanos == 0 ? System.nanoTime() : due, room);
      if (pace.handOvers > 0 && chance.nextDouble() < pace.handOvers) {
        long closing = System.nanoTime();
        game.handOver(mine.player());
        handOver.recordValue(System.nanoTime() - closing);
      }
    }
    if (!room.tryAcquire(pace.inFlight, ANSWER.toSeconds(), TimeUnit.SECONDS)) {
      throw new BenchException(
          "not all actions were acknowledged within " + ANSWER.toSeconds() + " s");
    }
  }

  private void act(int thread, GameThreads.GameThread game, long due, Semaphore room)
      throws Exception {
    Actions mine = actions.get(thread);
    mine.next();
    acted.increment();
    long called = System.nanoTime();
    Acknowledgement answer = game.perform(mine);
    call.recordValue(System.nanoTime() - called);
    if (pace.isClosedLoop()) {
      answer.await(ANSWER);
      queued.recordValue(System.nanoTime() - due);
      acknowledged.upTo(thread, mine.seq());
      room.release();
    } else {
      var unused =
          answer
              .future()
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
