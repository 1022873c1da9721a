package io.gameq.wal;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import net.openhft.chronicle.queue.RollCycle;
import net.openhft.chronicle.queue.rollcycles.RollCycleArithmetic;

/**
 * Names the files of a WAL for Chronicle Queue, whose clock {@link WalWriter} sets: it so begins a
 * new file whenever it wants, by bytes and by age. Immutable.
 */
final class WalRollCycle implements RollCycle {
  /** The least time between two names; files begun faster have names ahead of the clock. */
  static final int MILLIS = 2_000;

  static final WalRollCycle INSTANCE = new WalRollCycle();

  private static final String FORMAT = "yyyyMMdd-HHmmss";
  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern(FORMAT, Locale.ROOT).withZone(ZoneOffset.UTC);

  /** Up to 2^32 records in a file, each 256th in Chronicle Queue's own index. */
  private static final RollCycleArithmetic ARITHMETIC = RollCycleArithmetic.of(4 << 10, 256);

  private WalRollCycle() {}

  /** The name of the file at a time of the writer's clock. */
  static String fileName(long millis) {
    return NAME.format(Instant.ofEpochMilli(millis / MILLIS * MILLIS)) + WalDirectory.SUFFIX;
  }

  @Override
  public String format() {
    return FORMAT;
  }

  @Override
  public int lengthInMillis() {
    return MILLIS;
  }

  @Override
  public int defaultIndexCount() {
    return ARITHMETIC.indexCount();
  }

  @Override
  public int defaultIndexSpacing() {
    return ARITHMETIC.indexSpacing();
  }

  @Override
  public long toIndex(int cycle, long sequenceNumber) {
    return ARITHMETIC.toIndex(cycle, sequenceNumber);
  }

  @Override
  public long toSequenceNumber(long index) {
    return ARITHMETIC.toSequenceNumber(index);
  }

  @Override
  public int toCycle(long index) {
    return ARITHMETIC.toCycle(index);
  }

  @Override
  public long maxMessagesPerCycle() {
    return ARITHMETIC.maxMessagesPerCycle();
  }
}
