package io.gameq.rows;

import io.gameq.LayoutException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Tells a column that was dropped from one that may have been renamed: where a new column stands in
 * the place of the one that is gone, its values may belong there. Stateless.
 */
final class Renamed {
  private Renamed() {}

  /**
   * Passes when all of these columns were dropped.
   *
   * @param before names of all columns that the row was written with
   * @param gone those of them that the table lacks
   * @throws LayoutException naming the columns that one of them may be now, and the remedy
   */
  static void requireNone(Table table, List<String> before, List<String> gone) {
    List<String> now = table.columns().stream().map(Column::name).toList();
    for (String name : gone) {
      Set<String> inItsPlace = inPlaceOf(name, before, now);
      if (!inItsPlace.isEmpty()) {
        throw new LayoutException(
            ("row of table %s written with column %s, which is gone or has become %s:"
                    + " rename it back until such rows are in MySQL, or, if it was dropped, run"
                    + " 'gameq-writer schema drop-column %s %s'")
                .formatted(
                    table.name(), name, String.join(" or ", inItsPlace), table.name(), name));
      }
    }
  }

  /** New columns right behind its neighbour before it, or right before the one behind it. */
  private static Set<String> inPlaceOf(String name, List<String> before, List<String> now) {
    Set<String> found = new LinkedHashSet<>();
    int at = before.indexOf(name);
    int left = at - 1;
    while (left >= 0 && !now.contains(before.get(left))) {
      left--;
    }
    for (int i = left < 0 ? 0 : now.indexOf(before.get(left)) + 1;
        i < now.size() && !before.contains(now.get(i));
        i++) {
      found.add(now.get(i));
    }
    int right = at + 1;
    while (right < before.size() && !now.contains(before.get(right))) {
      right++;
    }
    for (int i = right < before.size() ? now.indexOf(before.get(right)) - 1 : now.size() - 1;
        i >= 0 && !before.contains(now.get(i));
        i--) {
      found.add(now.get(i));
    }
    return found;
  }
}
