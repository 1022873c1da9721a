package io.gameq.wal;

import io.gameq.wal.WalReading.WalFile;
import io.gameq.wal.WalWriter.Permissions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/** The small files beside a WAL's records, one number a line. Stateless. */
final class WalMarkers {
  /** {@code sequence}: records below it were durable, and their files were deleted. */
  static final String TRIMMED_FILE = "trimmed";

  /** {@code last sequence, bytes}: its node ended with everything durable. */
  static final String COMPLETE_FILE = "complete";

  /**
   * {@code Unix ms}: a complete WAL has messages that Redis may yet lose. From then on they are
   * safe once a start of its node has seen that Redis has them.
   */
  static final String MESSAGES_FILE = "messages";

  /** {@code sequence}: a record of it was written; what a copy holds may end before. */
  static final String NEWEST_FILE = "newest";

  private WalMarkers() {}

  /** What {@link #COMPLETE_FILE} says. */
  record Complete(long lastSequence, long bytes) {}

  static void writeTrimmed(Path directory, long below) throws IOException {
    write(directory, TRIMMED_FILE, String.valueOf(below));
  }

  static void writeComplete(Path directory, Complete complete) throws IOException {
    write(directory, COMPLETE_FILE, complete.lastSequence() + "\n" + complete.bytes());
  }

  static void writeMessages(Path directory, long untilMillis) throws IOException {
    write(directory, MESSAGES_FILE, String.valueOf(untilMillis));
  }

  static void writeNewest(Path directory, long sequence) throws IOException {
    write(directory, NEWEST_FILE, String.valueOf(sequence));
  }

  /** A sequence that was written; 0 when nobody knows. */
  static long newest(Path directory) {
    return numbers(directory, NEWEST_FILE, 1).map(n -> n[0]).orElse(0L);
  }

  /** Whether Redis may yet lose messages that the WAL has, though it is complete. */
  static boolean isKeptForMessages(Path directory) {
    return Files.exists(directory.resolve(MESSAGES_FILE));
  }

  /** Redis has the messages: forgets that they are to be kept, if that has been for long enough. */
  static void messagesAreThere(Path directory) throws IOException {
    if (numbers(directory, MESSAGES_FILE, 1)
        .filter(until -> until[0] > System.currentTimeMillis())
        .isEmpty()) {
      Files.deleteIfExists(directory.resolve(MESSAGES_FILE));
    }
  }

  /** The first sequence that is not deleted on purpose: 1 when none was, or nobody knows. */
  static long trimmedBelow(Path directory) {
    return numbers(directory, TRIMMED_FILE, 1).map(n -> Math.max(1, n[0])).orElse(1L);
  }

  static Optional<Complete> complete(Path directory) {
    return numbers(directory, COMPLETE_FILE, 2).map(n -> new Complete(n[0], n[1]));
  }

  /** Never half a file: the reader would take it for another number. */
  private static void write(Path directory, String name, String text) throws IOException {
    Path part = directory.resolve(name + WalFile.PREPARED_SUFFIX);
    Files.writeString(part, text + "\n");
    Permissions.ownerOnly(part);
    Files.move(
        part,
        directory.resolve(name),
        StandardCopyOption.REPLACE_EXISTING,
        StandardCopyOption.ATOMIC_MOVE);
  }

  private static Optional<long[]> numbers(Path directory, String name, int count) {
    try {
      long[] numbers =
          Files.readAllLines(directory.resolve(name)).stream().mapToLong(Long::parseLong).toArray();
      return numbers.length == count ? Optional.of(numbers) : Optional.empty();
    } catch (IOException | NumberFormatException e) { // mostly: there is no such file
      return Optional.empty();
    }
  }
}
