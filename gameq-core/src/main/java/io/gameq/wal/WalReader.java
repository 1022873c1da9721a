package io.gameq.wal;

import io.gameq.wal.WalReading.LiveWals;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a WAL from its first record to its last, checking each; also while its node still writes.
 * It needs neither Chronicle Queue nor its JVM flags. Stateless, thread-safe.
 */
public final class WalReader {
  private WalReader() {}

  /**
   * A record and its place in the WAL.
   *
   * @param sequence names it: journal marks and marks of failed commits go on meaning this one
   * @param place the sequence where it stands now: a higher one, when it was carried forward. Until
   *     the old file is deleted it stands in both
   */
  public record Entry(long sequence, long place, WalRecord record) {
    public boolean isCarried() {
      return place != sequence;
    }
  }

  /** As {@link #read(Path, long, long, Consumer)}, of all records. */
  public static WalReport read(Path directory, Consumer<Entry> sink) {
    return read(directory, 1, Long.MAX_VALUE, sink);
  }

  /** As {@link #read(Path, long, long, Consumer)}, to the last record. */
  public static WalReport read(Path directory, long fromSequence, Consumer<Entry> sink) {
    return read(directory, fromSequence, Long.MAX_VALUE, sink);
  }

  /**
   * Hands every intact record from {@code fromSequence} on to {@code sink}, in order, also those
   * behind damage, and those behind {@code toSequence} in the same file. Headers and layouts come
   * again at the start of each file. Never fails because of damage; what is not read, since it lies
   * before, is not checked either.
   *
   * @param directory the directory of one process start
   * @param fromSequence a place, as is {@code toSequence}
   * @return what was found, and what is missing
   * @throws io.gameq.GameQueueException when this is no WAL: it has no .cq4 file
   */
  public static WalReport read(
      Path directory, long fromSequence, long toSequence, Consumer<Entry> sink) {
    return new WalReading(directory, fromSequence, toSequence, sink).run();
  }

  /**
   * Whether a process on this host writes the WAL: then marks of failed commits may still be added.
   * Once it does not it never will again: every process begins a WAL of its own. False for a copy,
   * and on a file system without locks.
   */
  public static boolean isBeingWritten(Path directory) {
    return LiveWals.isLive(directory);
  }

  /**
   * What reading a WAL found; immutable.
   *
   * @param header null when no header survived
   * @param records how many were handed over
   * @param bytes that they take in the files
   * @param lastSequence the highest one handed over; 0 when there was none
   * @param complete whether its node ended with everything durable: nothing in it is needed
   * @param damage in the order of the files; empty for a healthy WAL
   */
  public record WalReport(
      WalRecord.@Nullable Header header,
      long records,
      long bytes,
      long lastSequence,
      boolean complete,
      List<WalDamage> damage) {

    /**
     * Whether no record is missing, but for one that was not finished when its writer died: that
     * one was never acknowledged. A power loss can take the newest records without a trace.
     */
    public boolean isWhole() {
      return missing() == 0
          && damage.stream()
              .allMatch(
                  found ->
                      switch (found.kind()) {
                        case TORN_TAIL,
                            FOREIGN_FILE,
                            MISSING_FILE,
                            OUT_OF_SEQUENCE,
                            DAMAGED_HEADER ->
                            true;
                        default -> false;
                      });
    }

    /** How many records are known to be missing. */
    public long missing() {
      return damage.stream().mapToLong(WalDamage::missing).sum();
    }
  }
}
