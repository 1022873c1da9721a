package io.gameq.wal;

import io.gameq.wal.WalDamage.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Follows the sequences of the records that are found: which are missing, and which damage hides
 * them. Not thread-safe.
 */
final class SequenceCheck {
  private static final int NONE = -1;

  private final LongSupplier trimmedBelow;
  private final List<WalDamage> damage = new ArrayList<>();
  private final TreeMap<Long, Long> gaps = new TreeMap<>(); // first to last missing
  private long expected = 1;
  private long last;
  private String lastFile = "";
  private int hiding = NONE; // the damage since the last record that may hide the next ones
  private int again = NONE; // the damage that tells of records that came again, if the last did

  /**
   * @param trimmedBelow asked when records are missing: those below it were deleted on purpose
   */
  SequenceCheck(LongSupplier trimmedBelow) {
    this.trimmedBelow = trimmedBelow;
  }

  /** Nothing before {@code sequence} is missed. */
  void beginAt(long sequence) {
    expected = sequence;
  }

  /** Notes damage that hides no record of this WAL. */
  void found(Kind kind, String file, long offset, long bytes, String detail) {
    damage.add(new WalDamage(kind, file, offset, bytes, expected, expected - 1, detail));
  }

  /** Notes damage where records were; at least {@code records} of them. */
  void hidden(Kind kind, String file, long offset, long bytes, long records, String detail) {
    if (hiding == NONE) {
      hiding = damage.size();
    }
    damage.add(new WalDamage(kind, file, offset, bytes, expected, expected + records - 1, detail));
  }

  /** Notes an accepted record that cannot be decoded. */
  void unreadable(String file, long offset, long bytes, long sequence, String detail) {
    damage.add(
        new WalDamage(Kind.UNREADABLE_RECORD, file, offset, bytes, sequence, sequence, detail));
  }

  /** Notes an intact record; false when it was handed over before. */
  boolean accept(String file, long offset, long sequence) {
    if (sequence < expected) {
      return acceptEarlier(file, offset, sequence);
    }
    if (sequence > expected) {
      boolean isSameFile = file.equals(lastFile);
      missing(
          sequence - 1,
          isSameFile ? Kind.OUT_OF_SEQUENCE : Kind.MISSING_FILE,
          file,
          offset,
          isSameFile ? "the sequence jumps" : "nothing is damaged before it");
    }
    expected = sequence + 1;
    last = sequence;
    lastFile = file;
    hiding = NONE;
    again = NONE;
    return true;
  }

  /** The WAL is said to end with {@code sequence}. */
  void endsAt(long sequence, String source) {
    if (sequence >= expected) {
      missing(
          sequence, Kind.MISSING_FILE, source, 0, "it says that the WAL went on: this copy is cut");
      expected = sequence + 1;
    }
  }

  private void missing(long to, Kind kind, String file, long offset, String detail) {
    long from = Math.max(expected, trimmedBelow.getAsLong());
    if (from > to) {
      return;
    }
    gaps.put(from, to);
    if (hiding == NONE) {
      damage.add(new WalDamage(kind, file, offset, 0, from, to, detail));
    } else {
      WalDamage known = damage.get(hiding);
      damage.set(
          hiding,
          new WalDamage(
              known.kind(), known.file(), known.offset(), known.bytes(), from, to, known.detail()));
    }
  }

  private boolean acceptEarlier(String file, long offset, long sequence) {
    Map.Entry<Long, Long> gap = gaps.floorEntry(sequence);
    boolean isNew = gap != null && sequence <= gap.getValue();
    if (gap != null && isNew) {
      gaps.remove(gap.getKey());
      if (gap.getKey() < sequence) {
        gaps.put(gap.getKey(), sequence - 1);
      }
      if (sequence < gap.getValue()) {
        gaps.put(sequence + 1, gap.getValue());
      }
    }
    if (again == NONE || !damage.get(again).file().equals(file)) {
      again = damage.size();
      found(
          Kind.OUT_OF_SEQUENCE,
          file,
          offset,
          0,
          "record %s comes behind record %s, %s"
              .formatted(sequence, last, isNew ? "late" : "again; it was not handed over twice"));
    }
    return isNew;
  }

  /** The highest sequence found. */
  long last() {
    return last;
  }

  List<WalDamage> damage() {
    return List.copyOf(damage);
  }
}
