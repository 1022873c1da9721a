package io.gameq.wal;

import java.util.List;
import org.jspecify.annotations.Nullable;

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
   * Whether no record is missing, but for one that was not finished when its writer died: that one
   * was never acknowledged. A power loss can take the newest records without a trace.
   */
  public boolean isWhole() {
    return missing() == 0
        && damage.stream()
            .allMatch(
                found ->
                    switch (found.kind()) {
                      case TORN_TAIL, FOREIGN_FILE, MISSING_FILE, OUT_OF_SEQUENCE, DAMAGED_HEADER ->
                          true;
                      default -> false;
                    });
  }

  /** How many records are known to be missing. */
  public long missing() {
    return damage.stream().mapToLong(WalDamage::missing).sum();
  }
}
