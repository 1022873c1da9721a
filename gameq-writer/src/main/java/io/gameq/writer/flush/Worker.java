package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.Slots;
import io.gameq.writer.flush.SlotWatch.TermWatch;
import io.gameq.writer.flush.SlowLane.LeaseRenewal;
import io.gameq.writer.turn.AfterFlush.TurnContext;
import io.gameq.writer.turn.Claiming;
import io.gameq.writer.turn.OutageGate;
import io.gameq.writer.turn.Reaping;
import io.gameq.writer.turn.Turn;
import io.gameq.writer.turn.TurnPorts;
import io.gameq.writer.turn.WriterStats.MeterNames;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of a writer's agents that flush: takes slots whose time has come, and their {@linkplain
 * io.gameq.writer.turn turn}. Killed anywhere, it loses nothing.
 */
public final class Worker implements Agent {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  private final Shared shared;
  private final SlowLane lane;
  private final ControlConnection redis;
  private final OutageGate mysql;
  private final Backoff backoff = new Backoff(100, 5_000);
  private boolean failing;

  /** What the workers of a writer share. */
  public record Shared(
      Slots slots,
      SlotSchedule schedule,
      TermWatch watch,
      LeaseRenewal leases,
      StepTimes steps,
      FlushPace pace,
      TurnContext context) {}

  public Worker(Shared shared, SlowLane lane, ControlConnection redis) {
    this.shared = shared;
    this.lane = lane;
    this.redis = redis;
    this.mysql = shared.context().holdUps().mysql();
  }

  @Override
  public String name() {
    return "flush slots";
  }

  @Override
  public int doWork() {
    SlotSchedule.Taken taken = shared.schedule().take();
    if (taken == null) {
      return 0;
    }
    int claimed = 0;
    try {
      claimed = takeTurn(taken);
    } finally {
      shared.schedule().ended(taken, claimed);
    }
    return 1;
  }

  /** None: it waits for slots. */
  @Override
  public long idleNanos() {
    return 0;
  }

  @Override
  public void close() {
    redis.close();
  }

  /** Returns how many rows were claimed. */
  private int takeTurn(SlotSchedule.Taken taken) {
    long pauseMillis;
    try {
      pauseMillis = mysql.waitMillis();
      if (pauseMillis == 0) {
        SlotTurn turn =
            new SlotTurn(
                shared,
                redis,
                shared.watch().connected(redis),
                lane.entrance(),
                shared.pace()::flushed);
        turn.take(firstStep(taken));
        succeeded();
        taken.slots().forEach(slot -> giveBack(taken, slot, turn));
        return turn.rows();
      }
    } catch (MySqlException e) {
      pauseMillis = mysql.close(e.getMessage());
    } catch (RuntimeException
        | Error e) { // an Error of one turn must not end the worker and its slots
      redis.close(); // it may be half dead
      pauseMillis = backoff.nextMillisWithJitter();
      failed(taken, e, pauseMillis);
    }
    for (int slot : taken.slots()) {
      shared.schedule().pause(taken, slot, pauseMillis);
    }
    return 0;
  }

  private static Turn firstStep(SlotSchedule.Taken taken) {
    return taken.expired() == null
        ? new Claiming(taken.shares(), taken.isUrgent())
        : new Reaping(taken.expired());
  }

  private void giveBack(SlotSchedule.Taken taken, int slot, SlotTurn turn) {
    GameQueueException error = turn.failed(slot);
    if (error == null) {
      shared.schedule().giveBack(taken, slot, turn.claimed(slot));
    } else {
      shared.schedule().pauseFailed(taken, slot);
      shared.context().reports().cannotClaim(slot, error);
    }
  }

  private void succeeded() {
    backoff.reset();
    if (failing) {
      failing = false;
      LOG.info("works again");
    }
  }

  /** Says so once, not with every turn and every try. */
  private void failed(SlotSchedule.Taken taken, Throwable e, long waitMillis) {
    if (failing) {
      LOG.debug("slots {}: {}; trying again in {} ms", taken.slots(), e.getMessage(), waitMillis);
    } else {
      failing = true;
      LOG.warn("slots {}: {}; trying again until it works", taken.slots(), e.getMessage());
    }
  }

  /** Takes steps of turns and measures how long each kind takes. Thread-safe. */
  public static final class StepTimes {
    private static final Duration[] BOUNDS =
        LongStream.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final MeterRegistry meters;
    private final Map<Class<?>, Timer> timers = new ConcurrentHashMap<>();

    public StepTimes(MeterRegistry meters) {
      this.meters = meters;
    }

    Turn take(Turn step, TurnPorts ports) {
      long began = System.nanoTime();
      try {
        return step.next(ports);
      } finally {
        timer(step.getClass()).record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
      }
    }

    private Timer timer(Class<?> step) {
      return timers.computeIfAbsent(
          step,
          of ->
              Timer.builder("gameq.writer.step")
                  .description("How long a step of a writer's turn took, failed ones included")
                  .tag("step", MeterNames.of(of))
                  .serviceLevelObjectives(BOUNDS)
                  .register(meters));
    }
  }
}
