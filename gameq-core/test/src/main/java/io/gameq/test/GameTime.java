package io.gameq.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets time go by, for tests that run in memory and on servers: the clock's in memory, which a
 * second of a test does not take, or everybody's. Thread-safe.
 */
public final class GameTime {
  private static final int MOST_SECONDS = 30;

  /** By which the clock in memory goes on, once a millisecond. */
  private static final Duration STEP = Duration.ofMillis(100);

  private final @Nullable TestClock clock;

  GameTime(@Nullable TestClock clock) {
    this.clock = clock;
  }

  /** The time by which messages are due: the clock's in memory, or everybody's. */
  public Instant now() {
    return clock().instant();
  }

  /** The same, for a game that asks a clock. */
  public Clock clock() {
    return clock == null ? Clock.systemUTC() : clock;
  }

  /**
   * Waits until this is so, for 30 s at most by the clock of the game, and by everybody's.
   *
   * @throws AssertionError when it is not so then
   */
  public void until(BooleanSupplier isSo) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(MOST_SECONDS);
    long steps = clock == null ? 0 : TimeUnit.SECONDS.toMillis(MOST_SECONDS) / STEP.toMillis();
    while (!isSo.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError(
            String.format(
                Locale.ROOT, "what the test waits for is not so after %d s", MOST_SECONDS));
      }
      if (clock != null && steps-- > 0) {
        clock.advance(STEP);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(clock == null ? 10 : 1));
    }
  }
}
