package io.gameq.writer.service;

import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.RedisServerCheck.EvictionWatch;
import io.gameq.redis.Slots;
import io.gameq.redis.script.JournalMarks;
import io.gameq.writer.mysql.OldOwners;
import io.gameq.writer.mysql.OldOwners.OldOwner;
import io.gameq.writer.redis.UnusedOwners;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a writer looks after beside its flushes: about once an hour old tombstones, owners that
 * nothing needs and the journal marks of nodes that are gone, every 3 s whether Redis may evict. A
 * duty that fails is done with the next round. Thread-safe.
 */
public final class WriterUpkeep implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WriterUpkeep.class);

  private static final Duration EVICTION_EVERY = Duration.ofSeconds(3);
  private static final long MOST_FIRST_DELAY_MILLIS = 5_000;
  private static final long HOUR_NANOS = TimeUnit.HOURS.toNanos(1);

  /** Writers that were started together must not do it together for ever. */
  private static final long JITTER_NANOS = TimeUnit.MINUTES.toNanos(6);

  private final ControlConnection redis;
  private final TombstonePurge purge;
  private final OwnerPurge owners;
  private final EvictionWatch eviction = new EvictionWatch();
  private final AgentRunner hourly = new AgentRunner("gameq-hourly");

  /** A thread of its own: a purge may take long. */
  private final AgentRunner watching = new AgentRunner("gameq-eviction");

  /** Starts, with a connection that it closes. */
  public WriterUpkeep(ControlConnection redis, Slots slots, MySql mysql, Duration kept) {
    this.redis = redis;
    this.purge = new TombstonePurge(mysql, kept);
    this.owners = new OwnerPurge(mysql, redis, slots, kept);
    hourly.start(
        everyHour("purge tombstones", purge),
        everyHour("purge owners", owners),
        everyHour(
            "forget the journal marks of nodes that are gone",
            () -> JournalMarks.forgetDead(redis, slots.namespace(), slots.all())));
    watching.start(Duty.every(EVICTION_EVERY, "look whether Redis evicts", this::watchEviction));
  }

  private static Agent everyHour(String name, Runnable work) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return Duty.every(
        Duration.ofMillis(random.nextLong(MOST_FIRST_DELAY_MILLIS)),
        () -> HOUR_NANOS + ThreadLocalRandom.current().nextLong(JITTER_NANOS),
        name,
        work);
  }

  private void watchEviction() {
    try {
      boolean unused = eviction.mayEvict(() -> redis.call(RedisServerCheck::evictionPolicy));
    } catch (GameQueueException e) { // the workers say that Redis is away
      LOG.debug("cannot look whether Redis evicts: {}", e.getMessage());
    }
  }

  /** Ends a purge after the chunk at hand; waits for nothing. */
  @Override
  public void close() {
    purge.close();
    owners.close();
    hourly.closeNow();
    watching.closeNow();
    redis.close();
  }

  /**
   * Removes what is old, a chunk at a time. Any number of writers may do so at once, and a writer
   * that is killed meanwhile leaves the rest to the next round. Thread-safe.
   */
  public abstract static class Purge implements Runnable, AutoCloseable {
    /** Short enough that a flush never waits for it noticeably. */
    public static final int CHUNK_ROWS = 1_000;

    /** Leaves MySQL to the flushes most of the time. */
    private static final long CHUNK_PAUSE_MILLIS = 100;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final String what;
    final Duration kept;

    private Purge(String what, Duration kept) {
      this.what = what;
      this.kept = kept;
    }

    @Override
    public final void run() {
      long purged = purge();
      if (purged > 0) {
        LOG.info("purged {} {} {} days", purged, what, kept.toDays());
      }
    }

    /**
     * Removes all that is old, unless it is closed meanwhile; returns how many.
     *
     * @throws GameQueueException when a server does not answer; what was removed stays removed
     */
    public abstract long purge();

    final boolean isClosedWithinPause() {
      try {
        return closed.await(CHUNK_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return true;
      }
    }

    /** Stops after the chunk at hand. */
    @Override
    public final void close() {
      closed.countDown();
    }
  }

  /** Removes old tombstones. Thread-safe. */
  public static final class TombstonePurge extends Purge {
    private final MySql mysql;

    /**
     * A purge that does nothing until {@link #run} or {@link #purge}.
     *
     * @param kept how long a deleted row is remembered
     */
    public TombstonePurge(MySql mysql, Duration kept) {
      super("tombstones older than", kept);
      this.mysql = mysql;
    }

    @Override
    public long purge() {
      Instant before = TombstoneHorizon.advance(mysql, kept);
      if (before == null) {
        return 0;
      }
      long purged = 0;
      int chunk;
      do {
        chunk = TombstoneHorizon.purge(mysql, before, CHUNK_ROWS);
        purged += chunk;
      } while (chunk == CHUNK_ROWS && !isClosedWithinPause());
      return purged;
    }
  }

  /**
   * Removes owners that were not opened for as long as tombstones are kept, and that nothing needs:
   * who comes back is as new, with an epoch above all that were purged. Thread-safe.
   */
  public static final class OwnerPurge extends Purge {
    private final OldOwners old;
    private final ControlConnection redis;
    private final Slots slots;

    /**
     * A purge that does nothing until {@link #run} or {@link #purge}.
     *
     * @param kept how long the row of an owner is kept that nothing needs
     */
    public OwnerPurge(MySql mysql, ControlConnection redis, Slots slots, Duration kept) {
      super("owners that were not opened for", kept);
      this.old = new OldOwners(mysql, kept);
      this.redis = redis;
      this.slots = slots;
    }

    @Override
    public long purge() {
      long purged = 0;
      OldOwner last = null;
      List<OldOwner> some;
      do {
        some = old.next(last, CHUNK_ROWS);
        List<OldOwner> chunk = some;
        if (!chunk.isEmpty()) {
          last = chunk.get(chunk.size() - 1);
          purged += old.remove(redis.call(to -> UnusedOwners.among(to, slots, chunk)));
        }
      } while (some.size() == CHUNK_ROWS && !isClosedWithinPause());
      return purged;
    }
  }
}
