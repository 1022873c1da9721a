package io.gameq.wal;

import io.gameq.GameQueueException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Consumer;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;

/**
 * Reads a WAL from its first record to its last, checking each; also while its node still writes.
 * Stateless.
 */
public final class WalReader {
  private WalReader() {}

  /** A record and its place in the WAL. */
  public record Entry(long sequence, WalRecord record) {}

  /**
   * Hands every record to {@code sink}, in order.
   *
   * @param directory the directory of one process start
   * @throws WalException at the first damaged record or gap, after everything before it was handed
   *     over
   * @throws GameQueueException when this is no WAL
   */
  public static void read(Path directory, Consumer<Entry> sink) {
    JvmFlags.check();
    ChronicleSettings.quiet();
    if (!Files.exists(directory.resolve("metadata.cq4t"))) {
      throw new GameQueueException(
          directory
              + " is no WAL: give a directory <node>-<start>-<process> that holds .cq4 files");
    }
    WalCodec codec = new WalCodec();
    long expected = 1;
    try (ChronicleQueue queue =
            SingleChronicleQueueBuilder.binary(directory)
                .rollCycle(RollCycles.FAST_HOURLY)
                .blockSize(WalWriter.BLOCK_BYTES)
                .readOnly(true)
                .build();
        ExcerptTailer tailer = queue.createTailer()) {
      while (true) {
        try (DocumentContext document = tailer.readingDocument()) {
          if (!document.isPresent()) {
            return;
          }
          Entry entry = codec.decode(Objects.requireNonNull(document.wire()).bytes().toByteArray());
          if (entry.sequence() != expected) {
            throw new WalException(
                "record "
                    + expected
                    + " is missing in "
                    + directory
                    + ": the next one is "
                    + entry.sequence());
          }
          expected++;
          sink.accept(entry);
        }
      }
    }
  }
}
