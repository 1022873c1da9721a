package io.gameq.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class VersionClockTest {
  private final AtomicLong millis = new AtomicLong(1_790_000_000_000L);
  private final AtomicLong host = new AtomicLong(millis.get());
  private final VersionClock clock = new VersionClock(millis::get, host::get);

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
  void refusesAVersionFromAClockFarAheadAndSaysWhichOneIsWrong() {
    long far = (millis.get() + VersionClock.MAX_AHEAD_MILLIS + 60_000) << 16;
    assertRefused(far, "is 360 s ahead of the Redis server's clock, more than the 300 s allowed; ");
    assertRefused(far, "Redis' was ahead when the row was changed: wait 61 s");
    host.addAndGet(350_000);
    assertRefused(far, "this host's clock is 350 s ahead of Redis', and not behind the row");
    assertRefused(far, "Redis' is late, set it by NTP (chrony)");
    host.addAndGet(-700_000);
    assertRefused(far, "this host's clock is 350 s behind Redis': set the one that is wrong");
    assertEquals(millis.get(), clock.next(1) >>> 16);
  }

  private void assertRefused(long version, String why) {
    String message =
        String.valueOf(
            assertThrows(GameQueueException.class, () -> clock.observe(version)).getMessage());
    assertTrue(message.contains(why), message);
  }

  @Test
  void givesAMoveTwoVersions() {
    long before = clock.next(1);
    assertEquals(before + 2, clock.next(2));
  }
}
