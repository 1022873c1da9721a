package io.gameq.writer.turn;

import io.gameq.owner.OwnerId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * The owners of which a writer wrote most rows in the last whole minute: who is hot. Thread-safe.
 */
public final class BusyOwners {
  /** Owners that come later in a minute are not counted: the busy ones come soon. */
  static final int MOST_COUNTED = 20_000;

  private static final int MOST_NAMED = 3;
  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanos;
  private final Map<OwnerId, Long> counted = new HashMap<>();
  private String before = "";
  private long since;

  BusyOwners(LongSupplier nanos) {
    this.nanos = nanos;
    this.since = nanos.getAsLong();
  }

  synchronized void wrote(OwnerId owner, int rows) {
    turn();
    if (counted.size() < MOST_COUNTED || counted.containsKey(owner)) {
      counted.merge(owner, (long) rows, Long::sum);
    }
  }

  /** A line for each, the busiest first: rows, a blank, the owner. Empty when nobody was. */
  public synchronized String lastMinute() {
    turn();
    return before;
  }

  private void turn() {
    long passed = nanos.getAsLong() - since;
    if (passed >= MINUTE_NANOS) {
      before = passed < 2 * MINUTE_NANOS ? lines(counted) : ""; // else the last one was idle
      counted.clear();
      since += passed;
    }
  }

  /** The busiest of all that several writers named, as each names its own. */
  public static String together(List<String> named) {
    Map<String, Long> all = new HashMap<>();
    named.stream()
        .flatMap(String::lines)
        .map(line -> line.split(" ", 2))
        .filter(words -> words.length == 2 && words[0].matches("\\d{1,15}"))
        .forEach(words -> all.merge(words[1], Long.parseLong(words[0]), Long::sum));
    return lines(all);
  }

  private static String lines(Map<?, Long> rows) {
    return rows.entrySet().stream()
        .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
        .limit(MOST_NAMED)
        .map(of -> of.getValue() + " " + of.getKey())
        .collect(Collectors.joining("\n"));
  }
}
