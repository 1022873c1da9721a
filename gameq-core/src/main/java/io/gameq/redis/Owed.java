package io.gameq.redis;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/**
 * The WAL records that a replay is to send. Immutable. A replay that does not come to its end
 * leaves them owed: the journal marks, which it moved, say nothing of them any more.
 */
final class Owed {
  static final Owed NOTHING = new Owed(new long[0], true);

  private final long[] sequences;
  private final boolean trustsMarks;

  private Owed(long[] sequences, boolean trustsMarks) {
    this.sequences = sequences;
    this.trustsMarks = trustsMarks;
  }

  /**
   * The next {@link #plusLost} adds everything that is not known to be in MySQL: Redis lost
   * something, and took commits since then.
   */
  Owed distrustingMarks() {
    return new Owed(sequences, false);
  }

  /**
   * Adds what Redis has lost of these sessions, which own.
   *
   * @param mark the newest sequence of this WAL that Redis holds in a slot; asked once for each
   */
  Owed plusLost(Collection<Replay.Session> sessions, ToLongFunction<SlotKeys> mark) {
    LongStream.Builder lost = LongStream.builder();
    Map<SlotKeys, Long> marks = new HashMap<>();
    for (Replay.Session of : sessions) {
      long held =
          trustsMarks ? marks.computeIfAbsent(of.keys().slot, slot -> mark.applyAsLong(slot)) : 0;
      of.unsettled().beyond(held, lost);
    }
    return new Owed(
        LongStream.concat(Arrays.stream(sequences), lost.build()).sorted().distinct().toArray(),
        true);
  }

  /** Nothing but these records. */
  static Owed of(Collection<Long> sequences) {
    return new Owed(sequences.stream().mapToLong(Long::longValue).sorted().toArray(), true);
  }

  /** In WAL order. */
  long[] sequences() {
    return sequences.clone();
  }
}
