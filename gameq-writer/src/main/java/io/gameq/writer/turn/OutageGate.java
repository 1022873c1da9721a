package io.gameq.writer.turn;

import io.gameq.redis.Backoff;
import io.gameq.terminal.Shown;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether MySQL takes flushes. While it does not, nothing is claimed and rows go on merging in
 * Redis; one thread at a time asks MySQL whether it is back. Thread-safe.
 */
public final class OutageGate {
  private static final Logger LOG = LoggerFactory.getLogger(OutageGate.class);

  private static final int MOST_HELD_UP = 8;

  private final BooleanSupplier probe;
  private final Backoff backoff = new Backoff(100, 5_000);
  private int heldUp; // in a row
  private boolean closed;
  private boolean probing;
  private boolean hasPassed = true; // since it was closed
  private long closedNanos;
  private long probeAtNanos;

  /**
   * A gate that is open.
   *
   * @param probe whether MySQL answers
   */
  public OutageGate(BooleanSupplier probe) {
    this.probe = probe;
  }

  /** A flush failed because MySQL is away; returns how long to wait, ms. */
  public synchronized long close(String reason) {
    long wait = backoff.nextMillisWithJitter();
    if (!closed) {
      closed = true;
      if (hasPassed) { // else it is the same outage still
        closedNanos = System.nanoTime();
        hasPassed = false;
      }
      LOG.warn(
          "MySQL is away ({}): rows stay in Redis, asking again in {}",
          reason,
          Shown.duration(wait));
    }
    probeAtNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(wait);
    return wait;
  }

  /** Whether nothing is claimed, because MySQL is away. */
  public synchronized boolean isClosed() {
    return closed;
  }

  /** For how long MySQL has been away, s; 0 while it is there. */
  public synchronized double awaySeconds() {
    return closed ? seconds(System.nanoTime() - closedNanos) : 0;
  }

  /** How long until MySQL is asked again, s; 0 while it is there. */
  public synchronized double backoffSeconds() {
    return closed ? Math.max(0, seconds(probeAtNanos - System.nanoTime())) : 0;
  }

  private static double seconds(long nanos) {
    return (double) nanos / TimeUnit.SECONDS.toNanos(1);
  }

  /** Whether MySQL answers now: asks it. */
  boolean answers() {
    return probe.getAsBoolean();
  }

  /** A flush committed. */
  synchronized void passed() {
    heldUp = 0;
    hasPassed = true;
    backoff.reset();
  }

  /** A flush was held up though MySQL answers: when none passes, MySQL is slow or locked. */
  synchronized void heldUp(String reason) {
    if (++heldUp >= MOST_HELD_UP) {
      heldUp = 0;
      close(reason);
    }
  }

  /** How long to wait before the next claim, ms; 0 when MySQL takes flushes. May ask MySQL. */
  public long waitMillis() {
    synchronized (this) {
      if (!closed) {
        return 0;
      }
      long left = TimeUnit.NANOSECONDS.toMillis(probeAtNanos - System.nanoTime());
      if (left > 0 || probing) {
        return Math.max(100, left);
      }
      probing = true;
    }
    boolean answers = false;
    try {
      answers = probe.getAsBoolean();
    } finally {
      probed(answers);
    }
    return answers ? 0 : 100;
  }

  private synchronized void probed(boolean answers) {
    probing = false;
    if (answers) {
      closed = false;
      LOG.info(
          "MySQL answers again after {} s",
          TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - closedNanos));
    } else {
      close("no answer");
    }
  }
}
