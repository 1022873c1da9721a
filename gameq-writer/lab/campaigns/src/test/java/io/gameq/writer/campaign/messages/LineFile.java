package io.gameq.writer.campaign.messages;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Lines of fields, straight into the page cache: a kill of the process loses none. Thread-safe. */
public final class LineFile {
  private final FileOutputStream out;

  /** Goes on with a file, or begins it. */
  public LineFile(Path file) throws IOException {
    out = new FileOutputStream(file.toFile(), true);
  }

  /** Writes a line: fields of ASCII without tabs. */
  public synchronized void line(Object... fields) {
    StringBuilder line = new StringBuilder();
    for (Object field : fields) {
      line.append(line.isEmpty() ? "" : "\t").append(field);
    }
    try {
      out.write(line.append('\n').toString().getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An error as a field. */
  public static String plain(Throwable reason) {
    return reason.toString().replaceAll("[^ -~]", " ");
  }

  /** The lines of a file; its last one may be cut off where the process was killed. */
  public static List<String> read(Path file) throws IOException {
    if (!Files.exists(file)) {
      return List.of(); // killed before its first line
    }
    String text = Files.readString(file, StandardCharsets.US_ASCII);
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }
}
