package io.gameq.writer.flush;

import io.gameq.MySqlException;
import io.gameq.agent.Agent;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.writer.turn.Claiming;
import io.gameq.writer.turn.OutageGate;
import io.gameq.writer.turn.Reaping;
import io.gameq.writer.turn.TurnContext;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of a writer's agents that flush: takes a slot whose time has come, and its {@linkplain
 * io.gameq.writer.turn turn}. Killed anywhere, it loses nothing.
 */
public final class Worker implements Agent {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  private static final long MOST_REAP_DELAY_MILLIS = 3_000;

  private final Shared shared;
  private final SlowLane lane;
  private final ControlConnection redis;
  private final OutageGate mysql;
  private final Backoff backoff = new Backoff(100, 5_000);
  private final Map<Integer, Long> nextReapNanos = new HashMap<>();
  private boolean failing;

  /** What the workers of a writer share. */
  public record Shared(
      SlotKeys[] slots,
      SlotSchedule schedule,
      TermWatch watch,
      LeaseRenewal leases,
      TurnContext context) {}

  public Worker(Shared shared, SlowLane lane, ControlConnection redis) {
    this.shared = shared;
    this.lane = lane;
    this.redis = redis;
    this.mysql = shared.context().holdUps().mysql();
  }

  @Override
  public String name() {
    return "flush a slot";
  }

  @Override
  public int doWork() {
    Integer slot = shared.schedule().take();
    if (slot == null) {
      return 0;
    }
    shared.schedule().giveBack(slot, takeTurn(shared.slots()[slot]));
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

  /** One turn of a slot; returns the delay until its next one, ms. */
  private long takeTurn(SlotKeys slot) {
    try {
      long closed = mysql.waitMillis();
      if (closed > 0) {
        return closed;
      }
      SlotTurn turn =
          new SlotTurn(shared, redis, shared.watch().connected(redis), slot, lane.entrance());
      long wait = turn.take(reaps(slot) ? new Reaping() : new Claiming()).waitMillis();
      succeeded();
      return wait < 0
          ? shared.schedule().idleMillis()
          : Math.min(wait, shared.schedule().waitingMillis());
    } catch (MySqlException e) {
      return mysql.close(e.getMessage());
    } catch (RuntimeException
        | Error e) { // an Error of one turn must not end the worker and its slot
      redis.close(); // it may be half dead
      long wait = backoff.nextMillisWithJitter();
      failed(slot, e, wait);
      return wait;
    }
  }

  private void succeeded() {
    backoff.reset();
    if (failing) {
      failing = false;
      LOG.info("works again");
    }
  }

  /** Says so once, not with every slot and every try. */
  private void failed(SlotKeys slot, Throwable e, long waitMillis) {
    if (failing) {
      LOG.debug("slot {}: {}; trying again in {} ms", slot.slot(), e.getMessage(), waitMillis);
    } else {
      failing = true;
      LOG.warn("slot {}: {}; trying again until it works", slot.slot(), e.getMessage());
    }
  }

  /** What writers that are gone had claimed is taken back soon after its lease ran out. */
  private boolean reaps(SlotKeys slot) {
    long now = System.nanoTime();
    if (now - nextReapNanos.getOrDefault(slot.slot(), now) < 0) {
      return false;
    }
    long lease = shared.context().options().bounds().leaseMillis();
    long every = Math.min(lease / 3, MOST_REAP_DELAY_MILLIS);
    nextReapNanos.put(slot.slot(), now + TimeUnit.MILLISECONDS.toNanos(every));
    return true;
  }
}
