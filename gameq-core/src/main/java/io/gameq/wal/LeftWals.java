package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.wal.WalReading.LiveWals;
import io.gameq.wal.WalReading.WalFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the WALs that earlier starts of a node left without having everything in MySQL, or with
 * messages that Redis may yet lose. Stateless.
 */
public final class LeftWals {
  /** What follows the node in a WAL id: the start and the process. */
  private static final String START_AND_PROCESS = "-\\d{8}T\\d{6}Z-[0-9a-f]{8}";

  private static final int PROCESS_DIGITS = 8;

  private LeftWals() {}

  /**
   * Their directories, the oldest first: of nodes of this name, written by no process now, with
   * records, and not complete or with messages that are to be kept.
   *
   * @throws WalException when the directory cannot be read
   */
  public static List<Path> of(Path walDirectory, String node) {
    Pattern ofNode = Pattern.compile(Pattern.quote(node) + START_AND_PROCESS);
    if (!Files.isDirectory(walDirectory)) {
      return List.of();
    }
    try (Stream<Path> directories = Files.list(walDirectory)) {
      return directories
          .filter(of -> ofNode.matcher(String.valueOf(of.getFileName())).matches())
          .filter(of -> !isComplete(of) || WalMarkers.isKeptForMessages(of))
          .filter(of -> hasRecords(of) && !LiveWals.isLive(of))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new WalException("cannot read the WAL directory " + walDirectory + " (" + e + ")", e);
    }
  }

  /** Whether everything of it is in MySQL. */
  public static boolean isComplete(Path wal) {
    return WalMarkers.complete(wal).isPresent();
  }

  /** Redis has all messages of a complete WAL: it need not be kept for them much longer. */
  public static void messagesAreThere(Path wal) {
    try {
      WalMarkers.messagesAreThere(wal);
    } catch (IOException e) {
      throw new WalException("cannot write into the WAL directory " + wal + " (" + e + ")", e);
    }
  }

  /** The id of the process that wrote a WAL, 8 hex digits. */
  public static String process(Path wal) {
    String id = String.valueOf(wal.getFileName());
    return id.substring(Math.max(0, id.length() - PROCESS_DIGITS));
  }

  private static boolean hasRecords(Path wal) {
    try (Stream<Path> files = Files.list(wal)) {
      return files.anyMatch(file -> file.toString().endsWith(WalFile.SUFFIX));
    } catch (IOException e) { // no directory, or removed meanwhile
      return false;
    }
  }
}
