package io.gameq.lab.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What grows along a curve. */
enum GrowthKind {
  PLAYERS,
  BACKLOG,
  WRITERS,
  SLOTS,
  ROWBYTES;

  /** The name in options and results. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The points of the curve.
   *
   * @param bound of players and backlog, which must be logged in or filled; 0: the default
   */
  List<Long> points(long bound) {
    return switch (this) {
      case PLAYERS -> steps(1_000, bound == 0 ? 100_000 : bound);
      case BACKLOG -> steps(10_000, bound == 0 ? 1_000_000 : bound);
      case WRITERS -> List.of(1L, 2L, 4L, 8L);
      case SLOTS -> List.of(1L, 4L, 16L, 64L, 256L);
      case ROWBYTES -> List.of(30L, 100L, 300L, 1_000L, 3_000L);
    };
  }

  /** 1, 3, 10, 30 ... thousand; only the last when even the first is beyond it. */
  private static List<Long> steps(long first, long last) {
    List<Long> steps = new ArrayList<>();
    for (long ten = first; ten <= last; ten *= 10) {
      steps.add(ten);
      if (3 * ten <= last) {
        steps.add(3 * ten);
      }
    }
    return steps.isEmpty() ? List.of(last) : steps;
  }
}
