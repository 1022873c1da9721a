package io.gameq.topic;

import io.gameq.GameQueueException;
import org.jspecify.annotations.Nullable;

/**
 * Where a page of messages begins. Immutable.
 *
 * @param list number of the list in the slot
 * @param offset how many of it were on earlier pages
 */
record PageStart(int slot, int list, long offset) {
  private static final PageStart FIRST = new PageStart(0, 0, 0);

  /** Reads what {@link #text} wrote; null for the first. Throws GameQueueException. */
  static PageStart parse(@Nullable String text) {
    if (text == null) {
      return FIRST;
    }
    try {
      String[] words = text.split("-", -1);
      return new PageStart(
          Integer.parseInt(words[0]), Integer.parseInt(words[1]), Long.parseLong(words[2]));
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new GameQueueException("not what a page of messages gave as the next one", e);
    }
  }

  String text() {
    return slot + "-" + list + "-" + offset;
  }
}
