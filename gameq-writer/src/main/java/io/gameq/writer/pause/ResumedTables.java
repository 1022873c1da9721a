package io.gameq.writer.pause;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.writer.redis.DueSlots;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes owners due whose rows waited for a paused table, once it is resumed: while it is paused
 * they are left alone for long, so that a pause costs next to nothing however many they are. One
 * thread.
 */
public final class ResumedTables implements AutoCloseable {
  /**
   * Until an owner of whom only rows of paused tables are left is looked at again: a flush for
   * nothing in five minutes. No longer, for a table that is resumed while no writer runs.
   */
  public static final long PAUSED_MILLIS = TimeUnit.MINUTES.toMillis(5);

  /** Who is due sooner waits for something else; nobody minds when a merge window ends early. */
  private static final long LATER_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private static final Duration EVERY = Duration.ofMillis(500);

  /** For an ack that was sent before and came to Redis after: longer than a call to it takes. */
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(15);

  private static final Logger LOG = LoggerFactory.getLogger(ResumedTables.class);

  private final Function<ControlConnection, RedisConnection> primary;
  private final ControlConnection redis;
  private final Slots slots;
  private final Supplier<Pauses> pauses;
  private final RedisClock clock = new RedisClock();
  private Set<String> before = Set.of();
  private int times;
  private long nextNanos;

  /**
   * For all slots.
   *
   * @param redis is closed with this
   * @param primary finds the connection that counts
   */
  public ResumedTables(
      ControlConnection redis,
      Function<ControlConnection, RedisConnection> primary,
      Slots slots,
      Supplier<Pauses> pauses) {
    this.redis = redis;
    this.primary = primary;
    this.slots = slots;
    this.pauses = pauses;
  }

  /** What looks. */
  public Agent duty() {
    return Duty.every(EVERY, "make due what waited for paused tables", this::look);
  }

  private void look() {
    Set<String> now = pauses.get().tables();
    if (!now.containsAll(before)) {
      times = 2;
      nextNanos = System.nanoTime();
    }
    before = now;
    if (times > 0 && System.nanoTime() - nextNanos >= 0) {
      makeDue();
      times--; // unless Redis did not answer
      nextNanos = System.nanoTime() + AGAIN_NANOS;
    }
  }

  private void makeDue() {
    long owners = 0;
    RedisConnection connection = primary.apply(redis);
    long unused = redis.call(connection, clock::measure);
    long nowMillis = clock.getAsLong();
    for (SlotKeys slot : slots.all()) {
      try {
        owners +=
            redis.call(
                connection,
                on -> DueSlots.pullForward(on, slot, nowMillis + LATER_MILLIS, nowMillis));
      } catch (RedisUnavailableException e) {
        throw e;
      } catch (GameQueueException e) { // somebody else's value is there: a claim tells it
        LOG.debug("slot {}: {}", slot.slot(), e.getMessage());
      }
    }
    if (owners > 0) {
      LOG.info("{} owners are due again, whose rows may have waited for a paused table", owners);
    }
  }

  @Override
  public void close() {
    redis.close();
  }
}
