package io.gameq.writer.flush;

import io.gameq.agent.Agent;
import io.gameq.agent.Duty;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.SlotHeads;
import io.gameq.writer.turn.OutageGate;
import java.time.Duration;

/**
 * Looks at all slots several times a second and tells the {@link SlotSchedule} in which of them
 * there is something to do, so that workers ask no slot in vain. One thread.
 */
public final class SlotWatch implements AutoCloseable {
  /** The most delay of a flush that is pulled forward, and of one whose merge window is shorter. */
  private static final Duration EVERY = Duration.ofMillis(200);

  /** What writers that are gone left is looked for with every so many looks. */
  private static final int LOOKS_FOR_EACH_WHOLE = 5;

  private final ControlConnection redis;
  private final TermWatch term;
  private final Slots slots;
  private final SlotSchedule schedule;
  private final OutageGate mysql;
  private final RedisClock clock = new RedisClock();
  private int looks;

  /** A watch with a connection that it closes. */
  public SlotWatch(
      ControlConnection redis,
      TermWatch term,
      Slots slots,
      SlotSchedule schedule,
      OutageGate mysql) {
    this.redis = redis;
    this.term = term;
    this.slots = slots;
    this.schedule = schedule;
    this.mysql = mysql;
  }

  /** What looks. */
  public Agent duty() {
    return Duty.every(Duration.ZERO, EVERY::toNanos, "look which slots are due", this::look);
  }

  /** Not while MySQL is away, when nothing is claimed: then it asks whether MySQL is back. */
  private void look() {
    if (mysql.waitMillis() > 0) {
      return;
    }
    ControlConnection.Connected unused = term.connected(redis);
    redis.call(
        connection -> {
          look(connection);
          return true;
        });
  }

  private void look(RedisConnection connection) {
    boolean isWhole = looks % LOOKS_FOR_EACH_WHOLE == 0;
    if (isWhole) {
      clock.measure(connection);
      schedule.sawReady(SlotHeads.ready(connection, slots));
      schedule.sawLeases(SlotHeads.leases(connection, slots), clock.getAsLong());
    }
    schedule.sawDue(SlotHeads.due(connection, slots), clock.getAsLong());
    looks++;
  }

  @Override
  public void close() {
    redis.close();
  }
}
