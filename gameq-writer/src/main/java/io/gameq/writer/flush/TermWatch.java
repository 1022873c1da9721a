package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.log.RepeatedWarnings;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.term.Term;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks once a second which Redis primary counts: a worker of which nothing is refused, because its
 * primary has nothing due, would never learn that rows wait on another. Thread-safe.
 */
public final class TermWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TermWatch.class);

  private static final long EVERY_MILLIS = 1_000;

  private final PrimaryConnector primary;
  private final ScheduledExecutorService timer = DaemonTimer.named("gameq-term");
  private final RepeatedWarnings complaints = new RepeatedWarnings(60);
  private volatile long number;

  /** Starts; the term has to be there. */
  public TermWatch(PrimaryConnector primary) {
    this.primary = primary;
    number = primary.term();
    ScheduledFuture<?> unused =
        timer.scheduleWithFixedDelay(this::look, EVERY_MILLIS, EVERY_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      number = primary.term();
    } catch (GameQueueException e) {
      complaints.about(
          "term", LOG::warn, () -> "cannot look which Redis primary counts: " + e.getMessage());
    } catch (RuntimeException | Error e) { // must not end the timer
      LOG.warn("cannot look which Redis primary counts", e);
    }
  }

  /** The connection, opened anew when it leads to a primary that was demoted. */
  ControlConnection.Connected connected(ControlConnection redis) {
    ControlConnection.Connected connected = redis.connected();
    if (connected.term() != Term.NOT_KNOWN && connected.term() < number) {
      redis.close();
      connected = redis.connected();
    }
    return connected;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
