package io.gameq.writer.campaign;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The host's clock, ahead by an offset that may change at any time. Thread-safe. */
final class MovableClock extends Clock {
  private volatile long offsetMillis;

  MovableClock(long offsetMillis) {
    this.offsetMillis = offsetMillis;
  }

  void setOffsetMillis(long millis) {
    offsetMillis = millis;
  }

  @Override
  public Instant instant() {
    return Instant.now().plusMillis(offsetMillis);
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }
}
