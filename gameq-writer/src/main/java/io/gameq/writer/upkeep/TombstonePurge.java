package io.gameq.writer.upkeep;

import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.TombstoneHorizon;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes old tombstones, a chunk at a time. Any number of writers may do so at once, and a writer
 * that is killed meanwhile leaves the rest to the next round. Thread-safe.
 */
public final class TombstonePurge implements Runnable, AutoCloseable {
  /** Short enough that a flush never waits for it noticeably. */
  public static final int CHUNK_ROWS = 1_000;

  /** Leaves MySQL to the flushes most of the time. */
  private static final long CHUNK_PAUSE_MILLIS = 100;

  private static final Logger LOG = LoggerFactory.getLogger(TombstonePurge.class);

  private final MySql mysql;
  private final Duration kept;
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * A purge that does nothing until {@link #run} or {@link #purge}.
   *
   * @param kept how long a deleted row is remembered
   */
  public TombstonePurge(MySql mysql, Duration kept) {
    this.mysql = mysql;
    this.kept = kept;
  }

  @Override
  public void run() {
    long purged = purge();
    if (purged > 0) {
      LOG.info("purged {} tombstones older than {} days", purged, kept.toDays());
    }
  }

  /**
   * Removes all old tombstones, unless it is closed meanwhile; returns how many.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer; what was removed stays removed
   */
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
  }
}
