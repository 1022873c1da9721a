package io.gameq.lab.demo;

import io.gameq.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Rows that are not as the game's memory has them: counts of each kind, and a few by name.
 * Thread-safe.
 */
final class Mismatches {
  private static final int MOST_NAMED = 10;
  private static final int MOST_VALUE_CHARS = 60;

  final LongAdder compared = new LongAdder();
  final LongAdder lost = new LongAdder();
  final LongAdder stale = new LongAdder();
  final LongAdder resurrected = new LongAdder();
  private final List<String> named = new ArrayList<>();

  /**
   * Compares what should be there with what is.
   *
   * @param where for the names of rows, for example {@code at login}
   */
  void compare(String where, List<Row> expected, List<Row> found) {
    Map<String, Row> there = new HashMap<>();
    found.forEach(row -> there.put(row.key(), row));
    for (Row row : expected) {
      compare(where, row, there.remove(row.key()));
    }
    there.values().forEach(row -> resurrected(where, row));
  }

  void compare(String where, Row expected, @Nullable Row found) {
    compared.increment();
    if (found == null) {
      lost.increment();
      name("lost " + where + ": " + expected.key());
    } else if (!found.equals(expected)) {
      stale.increment();
      name("stale " + where + ": " + expected.key() + differences(expected, found));
    }
  }

  void resurrected(String where, Row found) {
    resurrected.increment();
    name("resurrected " + where + ": " + found.key());
  }

  long sum() {
    return lost.sum() + stale.sum() + resurrected.sum();
  }

  /** The first few, one line each. */
  synchronized List<String> named() {
    return List.copyOf(named);
  }

  private synchronized void name(String line) {
    if (named.size() < MOST_NAMED) {
      named.add(line);
    }
  }

  private static String differences(Row expected, Row found) {
    StringBuilder out = new StringBuilder();
    Map<String, @Nullable Object> there = found.asMap();
    expected
        .asMap()
        .forEach(
            (column, value) -> {
              Object other = there.get(column);
              if (!Arrays.deepEquals(new Object[] {value}, new Object[] {other})) {
                out.append(", %s is %s, not %s".formatted(column, shown(other), shown(value)));
              }
            });
    return out.toString();
  }

  private static String shown(@Nullable Object value) {
    String text = value instanceof byte[] bytes ? bytes.length + " bytes" : String.valueOf(value);
    return text.length() <= MOST_VALUE_CHARS ? text : text.substring(0, MOST_VALUE_CHARS) + "...";
  }
}
