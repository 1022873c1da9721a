package io.gameq.durability;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Since when each row of one session was seen to be in neither Redis nor MySQL. Used under the
 * {@link DurableTracker}'s lock.
 */
final class UnheldRows {
  private final Map<String, Seen> rows = new HashMap<>();

  private record Seen(long version, long sinceNanos) {}

  /** Takes what a look showed; returns the rows that were unheld in every look for so long. */
  SortedMap<String, Long> after(Map<String, Long> unheld, long graceNanos) {
    long now = System.nanoTime();
    rows.entrySet()
        .removeIf(row -> !Objects.equals(unheld.get(row.getKey()), row.getValue().version));
    unheld.forEach((key, version) -> rows.putIfAbsent(key, new Seen(version, now)));
    SortedMap<String, Long> missing = new TreeMap<>();
    rows.forEach(
        (key, seen) -> {
          if (now - seen.sinceNanos >= graceNanos) {
            missing.put(key, seen.version);
          }
        });
    return missing;
  }

  void forget(String key) {
    rows.remove(key);
  }
}
