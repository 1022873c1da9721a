package io.gameq.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;

/**
 * The time of servers in memory, which stands still until a test moves it. What falls due on the
 * way is handled on the test's thread, in order, at the moment at which it is due; when a method
 * returns, it has been. Thread-safe.
 */
public final class TestClock extends Clock {
  /** Noon in UTC of no special day: a Thursday. */
  static final Instant BEGINNING = Instant.parse("2026-01-15T12:00:00Z");

  private final ZoneId zone;
  private final MemoryTime time;

  /** What is moved. */
  interface MemoryTime {
    Instant now();

    void moveTo(Instant to);
  }

  TestClock(ZoneId zone, MemoryTime time) {
    this.zone = zone;
    this.time = time;
  }

  static TestClock of(MemoryTime time) {
    return new TestClock(ZoneOffset.UTC, time);
  }

  /** Goes on by so much. Throws IllegalArgumentException when it is negative. */
  public void advance(Duration by) {
    to(instant().plus(by));
  }

  /** Goes on to the next time that the clock on the wall shows this, a day on if it does now. */
  public void to(LocalTime wall) {
    ZonedDateTime now = instant().atZone(zone);
    ZonedDateTime today = now.with(wall);
    to((today.isAfter(now) ? today : now.plusDays(1).with(wall)).toInstant());
  }

  /** Goes on to a moment. Throws IllegalArgumentException when it is past. */
  public void to(Instant moment) {
    if (moment.isBefore(instant())) {
      throw new IllegalArgumentException(
          "the clock is at %s and goes on only, not to %s".formatted(instant(), moment));
    }
    time.moveTo(moment);
  }

  @Override
  public Instant instant() {
    return time.now();
  }

  @Override
  public ZoneId getZone() {
    return zone;
  }

  /** The same clock, for {@link #to(LocalTime)} in another zone. */
  @Override
  public TestClock withZone(ZoneId other) {
    return new TestClock(other, time);
  }
}
