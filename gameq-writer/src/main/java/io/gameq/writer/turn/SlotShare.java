package io.gameq.writer.turn;

import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How much is claimed of a slot in a turn.
 *
 * @param owners at most
 * @param rows at most; the last owner may pass it
 */
public record SlotShare(int slot, int owners, int rows) {
  /** Redis does nothing else while a script claims: rows of one call. */
  private static final int MOST_AT_ONCE = 500;

  /** The same in parts, a call each. */
  Stream<SlotShare> parts() {
    int parts = (rows + MOST_AT_ONCE - 1) / MOST_AT_ONCE;
    return IntStream.range(0, parts)
        .mapToObj(i -> new SlotShare(slot, Math.max(1, (owners + i) / parts), (rows + i) / parts));
  }
}
