package io.gameq.mysql.schema;

import io.gameq.GameQueueException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The numbered schema files that gameq-core carries, in order; stateless. A new file gets the next
 * number; a published one is never changed.
 */
public final class SchemaFiles {
  private static final String FOLDER = "/io/gameq/sql/";

  /** A jar cannot list its files: a test holds this list to the folder. */
  private static final List<String> NAMES =
      List.of(
          "001_setting.sql",
          "002_owner.sql",
          "003_tombstone.sql",
          "004_dead_letter.sql",
          "005_table.sql",
          "006_layout.sql",
          "007_owner_before.sql",
          "008_redis_term.sql",
          "009_handover.sql",
          "013_discard.sql",
          "014_owner_adopted.sql",
          "015_pause.sql",
          "016_audit.sql",
          "017_id.sql",
          "018_owner_adoptions.sql",
          "019_handled.sql",
          "020_topic.sql",
          "021_database.sql",
          "022_node.sql",
          "023_dropped_column.sql");

  private SchemaFiles() {}

  /**
   * One file.
   *
   * @param statements its statements, without comments and semicolons
   */
  public record SchemaFile(int number, String name, List<String> statements) {
    public SchemaFile {
      statements = List.copyOf(statements);
    }
  }

  /** All files by number, which begins at 1. */
  public static List<SchemaFile> all() {
    return NAMES.stream().map(name -> new SchemaFile(number(name), name, read(name))).toList();
  }

  private static int number(String name) {
    return Integer.parseInt(name.substring(0, 3));
  }

  /** The number of the last file: what gameq_setting 'schema' holds once all are applied. */
  public static int latest() {
    return number(NAMES.get(NAMES.size() - 1));
  }

  private static List<String> read(String name) {
    try (InputStream file = SchemaFiles.class.getResourceAsStream(FOLDER + name)) {
      if (file == null) {
        throw new GameQueueException("gameq-core's jar lacks " + FOLDER + name + ": build it anew");
      }
      String sql =
          new String(file.readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> !line.startsWith("--"))
              .collect(Collectors.joining("\n"));
      List<String> statements = new ArrayList<>();
      // The files end every statement at the end of a line, and no other line ends like this.
      for (String statement : sql.split(";(\n|$)", -1)) {
        if (!statement.isBlank()) {
          statements.add(statement.strip());
        }
      }
      return statements;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
