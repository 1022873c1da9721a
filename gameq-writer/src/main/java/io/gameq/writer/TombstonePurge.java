package io.gameq.writer;

import io.gameq.GameQueueException;
import io.gameq.mysql.TombstoneHorizon;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Jdbi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes old tombstones about once an hour, a chunk at a time. Any number of writers may do so at
 * once, and a writer that is killed meanwhile leaves the rest to the next round. Thread-safe.
 */
final class TombstonePurge implements AutoCloseable {
  /** Short enough that a flush never waits for it noticeably. */
  static final int CHUNK_ROWS = 1_000;

  /** Leaves MySQL to the flushes most of the time. */
  private static final long CHUNK_PAUSE_MILLIS = 100;

  private static final long MOST_FIRST_DELAY_MILLIS = 5_000;
  private static final long EVERY_MILLIS = TimeUnit.HOURS.toMillis(1);

  /** Writers that were started together must not purge together for ever. */
  private static final long JITTER_MILLIS = TimeUnit.MINUTES.toMillis(6);

  private static final Logger LOG = LoggerFactory.getLogger(TombstonePurge.class);

  private final Jdbi jdbi;
  private final Duration kept;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ScheduledExecutorService timer = DaemonTimer.named("gameq-tombstones");

  /**
   * A purge that does nothing until {@link #start} or {@link #purge}.
   *
   * @param kept how long a deleted row is remembered
   */
  TombstonePurge(Jdbi jdbi, Duration kept) {
    this.jdbi = jdbi;
    this.kept = kept;
  }

  void start() {
    schedule(ThreadLocalRandom.current().nextLong(MOST_FIRST_DELAY_MILLIS));
  }

  private void schedule(long delayMillis) {
    ScheduledFuture<?> unused = timer.schedule(this::round, delayMillis, TimeUnit.MILLISECONDS);
  }

  private void round() {
    try {
      long purged = purge();
      if (purged > 0) {
        LOG.info("purged {} tombstones older than {} days", purged, kept.toDays());
      }
    } catch (GameQueueException e) {
      LOG.debug("cannot purge tombstones now: {}", e.getMessage());
    } catch (RuntimeException e) { // must not end the timer
      LOG.warn("cannot purge tombstones", e);
    }
    if (closed.getCount() > 0) {
      schedule(EVERY_MILLIS + ThreadLocalRandom.current().nextLong(JITTER_MILLIS));
    }
  }

  /**
   * Removes all old tombstones, unless it is closed meanwhile; returns how many.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer; what was removed stays removed
   */
  long purge() {
    Instant before = TombstoneHorizon.advance(jdbi, kept);
    if (before == null) {
      return 0;
    }
    long purged = 0;
    int chunk;
    do {
      chunk = TombstoneHorizon.purge(jdbi, before, CHUNK_ROWS);
      purged += chunk;
    } while (chunk == CHUNK_ROWS && !isClosedWithin(CHUNK_PAUSE_MILLIS));
    return purged;
  }

  private boolean isClosedWithin(long millis) {
    try {
      return closed.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Stops after the chunk at hand. */
  @Override
  public void close() {
    closed.countDown();
    timer.shutdownNow();
  }
}
