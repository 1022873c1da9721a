package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.writer.flush.SlotWatch.TermWatch;
import io.gameq.writer.flush.SlowLane.LeaseRenewal;
import io.gameq.writer.flush.Stage.ClaimDue;
import io.gameq.writer.flush.Stage.Reap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of a writer's agents that flush: takes slots whose time has come, and their {@linkplain
 * SlotTurn turn}. Killed anywhere, it loses nothing.
 */
public final class Worker implements Agent {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  private final SlotTurn.TurnContext shared;
  private final SlotSchedule schedule;
  private final TermWatch watch;
  private final LeaseRenewal leases;
  private final SlowLane lane;
  private final ControlConnection redis;
  private final FlushBlockers.OutageBreaker mysql;
  private final Backoff backoff = new Backoff(100, 5_000);
  private boolean failing;

  /** With a connection that it closes. */
  public Worker(
      SlotTurn.TurnContext shared,
      SlotSchedule schedule,
      TermWatch watch,
      LeaseRenewal leases,
      SlowLane lane,
      ControlConnection redis) {
    this.shared = shared;
    this.schedule = schedule;
    this.watch = watch;
    this.leases = leases;
    this.lane = lane;
    this.redis = redis;
    this.mysql = shared.blockers().mysql();
  }

  @Override
  public String name() {
    return "flush slots";
  }

  @Override
  public int doWork() {
    SlotSchedule.Assignment taken = schedule.take();
    if (taken == null) {
      return 0;
    }
    int claimed = 0;
    try {
      claimed = takeTurn(taken);
    } finally {
      schedule.ended(taken, claimed);
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
  private int takeTurn(SlotSchedule.Assignment taken) {
    long pauseMillis;
    try {
      pauseMillis = mysql.waitMillis();
      if (pauseMillis == 0) {
        SlotTurn turn = new SlotTurn(shared, redis, watch.connected(redis), lane, false);
        turn.take(
            taken.expired() == null
                ? new ClaimDue(taken.shares(), taken.isUrgent())
                : new Reap(taken.expired()),
            leases);
        backoff.reset();
        if (failing) {
          failing = false;
          LOG.info("works again");
        }
        taken.slots().forEach(slot -> giveBack(taken, slot, turn));
        return turn.rows();
      }
    } catch (MySqlException e) {
      pauseMillis = mysql.close(e.getMessage());
    } catch (RuntimeException
        | Error e) { // an Error of one turn must not end the worker and its slots
      redis.close(); // it may be half dead
      pauseMillis = backoff.nextMillisWithJitter();
      if (failing) { // said once, not with every turn and every try
        LOG.debug("slots {}: {}; again in {} ms", taken.slots(), e.getMessage(), pauseMillis);
      } else {
        failing = true;
        LOG.warn("slots {}: {}; trying again until it works", taken.slots(), e.getMessage());
      }
    }
    for (int slot : taken.slots()) {
      schedule.pause(taken, slot, pauseMillis);
    }
    return 0;
  }

  private void giveBack(SlotSchedule.Assignment taken, int slot, SlotTurn turn) {
    GameQueueException error = turn.failed(slot);
    if (error == null) {
      schedule.giveBack(taken, slot, turn.claimed(slot));
      return;
    }
    schedule.pauseFailed(taken, slot);
    shared
        .warnings()
        .about(
            "slot " + slot,
            LOG::warn,
            () -> "slot %s: %s; trying again until it works".formatted(slot, error.getMessage()));
  }

  /**
   * Flushes groups of owners who hold up others. What fails here comes back when the lease runs
   * out.
   */
  public static final class SlowWorker implements Agent {
    private final SlotTurn.TurnContext shared;
    private final TermWatch watch;
    private final SlowLane lane;
    private final ControlConnection redis;

    /** With a connection that it closes. */
    public SlowWorker(
        SlotTurn.TurnContext shared, TermWatch watch, SlowLane lane, ControlConnection redis) {
      this.shared = shared;
      this.watch = watch;
      this.lane = lane;
      this.redis = redis;
    }

    @Override
    public String name() {
      return "flush owners who hold up others";
    }

    @Override
    public int doWork() {
      try {
        SlowLane.ClaimGroup next = lane.take();
        if (next == null) {
          return 0;
        }
        flush(next);
        return 1;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return 0;
      }
    }

    private void flush(SlowLane.ClaimGroup next) {
      try (LeaseRenewal.Lease held = next.held()) {
        PrimaryConnector.Opened primary = watch.connected(redis);
        if (primary.term() == next.term()) { // else the nodes put it back
          new SlotTurn(shared, redis, primary, lane, true).takeHeld(first(next));
        }
      } catch (MySqlException e) {
        long unused = shared.blockers().mysql().close(e.getMessage());
      } catch (GameQueueException e) {
        redis.close(); // it may be half dead
        LOG.warn("{}; owners come back when their leases run out", e.getMessage());
      } catch (RuntimeException | Error e) { // must not end the lane
        redis.close(); // it may be half dead
        LOG.warn("owners come back when their leases run out", e);
      }
    }

    private Stage first(SlowLane.ClaimGroup of) {
      Stage.End end = new Stage.End();
      long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - of.sinceNanos());
      if (waited > shared.options().bounds().leaseMillis()) { // not renewed for ever
        return Stage.GiveBack.forWantOfRoom(of.claims(), end);
      }
      return of.claims().size() == 1
          ? Stage.Decode.apart(of.claims().get(0), end)
          : Stage.Decode.together(of.claims(), end);
    }

    /** None: it waits for groups. */
    @Override
    public long idleNanos() {
      return 0;
    }

    /** What was taken in is flushed first. */
    @Override
    public void close() {
      try (redis) {
        for (SlowLane.ClaimGroup next = lane.poll(); next != null; next = lane.poll()) {
          flush(next);
        }
      }
    }
  }
}
