package io.gameq.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class VersionClockTest {
  private final AtomicLong millis = new AtomicLong(1_790_000_000_000L);
  private final VersionClock clock = new VersionClock(millis::get);

  @Test
  void risesWithinOneMillisecondAndWhenTheWallClockGoesBack() {
    long first = clock.next(1);
    long second = clock.next(1);
    millis.addAndGet(-3_600_000);
    long third = clock.next(1);
    assertTrue(first < second && second < third);
  }

  @Test
  void followsTheWallClockForward() {
    clock.next(1);
    millis.addAndGet(10);
    assertEquals(millis.get(), clock.next(1) >>> 16);
  }

  @Test
  void isAboveEveryVersionItObserved() {
    long ahead = (millis.get() + VersionClock.MAX_AHEAD_MILLIS) << 16;
    clock.observe(ahead);
    assertTrue(clock.next(1) > ahead);
  }

  @Test
  void refusesAVersionFromAClockFarAhead() {
    long far = (millis.get() + VersionClock.MAX_AHEAD_MILLIS + 1_000) << 16;
    assertTrue(
        assertThrows(GameQueueException.class, () -> clock.observe(far))
            .getMessage()
            .contains("ahead of the Redis server's clock"));
    assertEquals(millis.get(), clock.next(1) >>> 16);
  }

  @Test
  void givesAMoveTwoVersions() {
    long before = clock.next(1);
    assertEquals(before + 2, clock.next(2));
  }
}
