package io.gameq.writer.campaign;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Files that a case leaves behind when it failed. Stateless. */
public final class CampaignFiles {
  private CampaignFiles() {}

  /** Deletes a directory and all in it, if it is there. */
  public static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      List<Path> all;
      try (Stream<Path> files = Files.walk(directory)) {
        all = files.sorted(Comparator.reverseOrder()).toList();
      }
      for (Path file : all) {
        Files.delete(file);
      }
    }
  }
}
