package io.gameq.writer.upkeep;

import io.gameq.GameQueueException;
import io.gameq.writer.flush.DaemonTimer;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what a writer has to do about once an hour, on a thread of its own. A duty that fails is
 * done with the next round. Thread-safe.
 */
public final class HourlyDuties implements AutoCloseable {
  private static final long MOST_FIRST_DELAY_MILLIS = 5_000;
  private static final long EVERY_MILLIS = TimeUnit.HOURS.toMillis(1);

  /** Writers that were started together must not do it together for ever. */
  private static final long JITTER_MILLIS = TimeUnit.MINUTES.toMillis(6);

  private static final Logger LOG = LoggerFactory.getLogger(HourlyDuties.class);

  private final List<Runnable> duties;
  private final ScheduledExecutorService timer = DaemonTimer.named("gameq-hourly");
  private volatile boolean closed;

  public HourlyDuties(Runnable... duties) {
    this.duties = List.of(duties);
  }

  public void start() {
    schedule(ThreadLocalRandom.current().nextLong(MOST_FIRST_DELAY_MILLIS));
  }

  private void schedule(long delayMillis) {
    ScheduledFuture<?> unused = timer.schedule(this::round, delayMillis, TimeUnit.MILLISECONDS);
  }

  private void round() {
    duties.forEach(HourlyDuties::run);
    if (!closed) {
      schedule(EVERY_MILLIS + ThreadLocalRandom.current().nextLong(JITTER_MILLIS));
    }
  }

  private static void run(Runnable duty) {
    try {
      duty.run();
    } catch (GameQueueException e) {
      LOG.warn("housekeeping is put off for an hour: {}", e.getMessage());
    } catch (RuntimeException e) { // must not end the timer
      LOG.warn("housekeeping failed, again in an hour", e);
    }
  }

  @Override
  public void close() {
    closed = true;
    timer.shutdownNow();
  }
}
