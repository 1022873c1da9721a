package io.gameq.healing;

import io.gameq.redis.SlotKeys;
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
public final class RecordsToReplay {
  public static final RecordsToReplay NOTHING = new RecordsToReplay(new long[0], true);

  private final long[] sequences;
  private final boolean trustsMarks;

  private RecordsToReplay(long[] sequences, boolean trustsMarks) {
    this.sequences = sequences;
    this.trustsMarks = trustsMarks;
  }

  /**
   * The next {@link #plusLost} adds everything that is not known to be in MySQL: Redis lost
   * something, and took commits since then.
   */
  public RecordsToReplay distrustingMarks() {
    return new RecordsToReplay(sequences, false);
  }

  /**
   * Adds what Redis has lost of these sessions, which own.
   *
   * @param mark the newest sequence of this WAL that Redis holds in a slot; asked once for each
   */
  public RecordsToReplay plusLost(Collection<HeldSession> sessions, ToLongFunction<SlotKeys> mark) {
    LongStream.Builder lost = LongStream.builder();
    Map<SlotKeys, Long> marks = new HashMap<>();
    for (HeldSession of : sessions) {
      long held =
          trustsMarks ? marks.computeIfAbsent(of.keys().slot, slot -> mark.applyAsLong(slot)) : 0;
      of.unsettled().beyond(held, lost);
    }
    return new RecordsToReplay(
        LongStream.concat(Arrays.stream(sequences), lost.build()).sorted().distinct().toArray(),
        true);
  }

  /** Nothing but these records. */
  static RecordsToReplay of(Collection<Long> sequences) {
    return new RecordsToReplay(
        sequences.stream().mapToLong(Long::longValue).sorted().toArray(), true);
  }

  /** In WAL order. */
  public long[] sequences() {
    return sequences.clone();
  }

  @Override
  public String toString() {
    return (trustsMarks ? "" : "distrusting ") + Arrays.toString(sequences);
  }
}
