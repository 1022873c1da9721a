package io.gameq.writer.http;

import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts addresses that give wrong tokens: who gave ten within a minute is told to wait for the
 * rest of it. A right token passes: others may share the address, as behind a proxy, and a token of
 * 16 characters is not guessed. Thread-safe; forgotten with the process.
 */
public final class WrongTokens {
  /** Leaves room for slips, and makes guessing a matter of many lifetimes. */
  static final int MOST_A_MINUTE = 10;

  /** Whoever has more addresses than this is not stopped by counting them. */
  private static final int MOST_ADDRESSES = 1_000;

  private static final long MINUTE_MILLIS = 60_000;

  private final Clock clock;
  private final Map<String, Count> counts =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Count> eldest) {
          return size() > MOST_ADDRESSES;
        }
      };

  private record Count(long sinceMillis, int wrong) {}

  public WrongTokens(Clock clock) {
    this.clock = clock;
  }

  /** Whether who gives a wrong one from this address is to wait. */
  public synchronized boolean isHeldBack(String address) {
    return current(address).wrong() >= MOST_A_MINUTE;
  }

  /** Somebody at this address gave a wrong one. */
  public synchronized void count(String address) {
    Count count = current(address);
    counts.put(address, new Count(count.sinceMillis(), count.wrong() + 1));
  }

  private Count current(String address) {
    long now = clock.millis();
    Count count = counts.get(address);
    return count == null || now - count.sinceMillis() >= MINUTE_MILLIS ? new Count(now, 0) : count;
  }
}
