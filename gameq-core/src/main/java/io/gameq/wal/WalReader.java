package io.gameq.wal;

import io.gameq.GameQueueException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;

/**
 * Reads a WAL from its first record to its last, checking each; also while its node still writes.
 * Stateless, thread-safe.
 */
public final class WalReader {
  private WalReader() {}

  /** A record and its place in the WAL. */
  public record Entry(long sequence, WalRecord record) {}

  /** As {@link #read(Path, long, Consumer)}, from the first record on. */
  public static WalReport read(Path directory, Consumer<Entry> sink) {
    return read(directory, 1, sink);
  }

  /**
   * Hands every intact record from {@code fromSequence} on to {@code sink}, in order, also those
   * behind damage. Headers and layouts come again at the start of each file. Never fails because of
   * damage.
   *
   * @param directory the directory of one process start
   * @return what was found, and what is missing
   * @throws GameQueueException when this is no WAL, or cannot be read at all
   */
  public static WalReport read(Path directory, long fromSequence, Consumer<Entry> sink) {
    JvmFlags.check();
    ChronicleSettings.quiet();
    if (!Files.exists(directory.resolve("metadata.cq4t"))) {
      throw new GameQueueException(
          directory
              + " is no WAL: give a directory <node>-<start>-<process> that holds .cq4 files");
    }
    WalCodec codec = new WalCodec();
    WalRecord.Header header = null;
    long bytesRead = 0;
    long records = 0;
    long last = 0;
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
            return new WalReport(header, records, bytesRead, last, false, List.of());
          }
          byte[] record = Objects.requireNonNull(document.wire()).bytes().toByteArray();
          Entry entry = codec.decode(record);
          last = entry.sequence();
          if (entry.record() instanceof WalRecord.Header found) {
            header = found;
          }
          if (last >= fromSequence) {
            records++;
            bytesRead += record.length;
            sink.accept(entry);
          }
        } catch (WalException e) {
          return new WalReport(
              header,
              records,
              bytesRead,
              last,
              false,
              List.of(
                  new WalDamage(
                      WalDamage.Kind.BAD_CHECKSUM, "", 0, 0, last + 1, last, e.getMessage())));
        }
      }
    }
  }
}
