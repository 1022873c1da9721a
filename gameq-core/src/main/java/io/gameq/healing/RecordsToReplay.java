package io.gameq.healing;

import io.gameq.redis.script.JournalMarks;
import java.util.Arrays;
import java.util.Collection;
import java.util.stream.LongStream;

/**
 * The WAL records that a replay is to send. Immutable. A replay that does not come to its end
 * leaves them owed.
 */
public final class RecordsToReplay {
  public static final RecordsToReplay NOTHING = new RecordsToReplay(new long[0]);

  private final long[] sequences;

  private RecordsToReplay(long[] sequences) {
    this.sequences = sequences;
  }

  /** Adds what Redis may have lost of these sessions: what its marks do not prove. */
  public RecordsToReplay plusLost(Collection<HeldSession> sessions, JournalMarks marks) {
    LongStream.Builder lost = LongStream.builder();
    for (HeldSession of : sessions) {
      of.unsettled().beyond(marks.sequence(of.ref().slot()), lost);
    }
    return new RecordsToReplay(
        LongStream.concat(Arrays.stream(sequences), lost.build()).sorted().distinct().toArray());
  }

  /** Nothing but these records. */
  static RecordsToReplay of(Collection<Long> sequences) {
    return new RecordsToReplay(sequences.stream().mapToLong(Long::longValue).sorted().toArray());
  }

  /** In WAL order. */
  public long[] sequences() {
    return sequences.clone();
  }

  @Override
  public String toString() {
    return Arrays.toString(sequences);
  }
}
