package io.gameq.topic;

/** Every so many milliseconds. Immutable. */
record Interval(long millis) implements Rhythm {
  /** Counted from the time that was asked for, but not before now. */
  @Override
  public long first(long from, long now) {
    if (from < 0) {
      return now + millis;
    }
    return from >= now ? from : from + (now - from + millis - 1) / millis * millis;
  }

  @Override
  public long after(long occurrence, long time) {
    return occurrence + ((time - occurrence) / millis + 1) * millis;
  }

  /** Any time may be the first. */
  @Override
  public boolean occursAt(long time) {
    return true;
  }

  @Override
  public long number(int number, long first) {
    return first + (number - 1) * millis;
  }
}
