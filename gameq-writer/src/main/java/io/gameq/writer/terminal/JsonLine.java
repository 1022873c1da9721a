package io.gameq.writer.terminal;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One JSON object on one line, for other programs. Stateless. */
public final class JsonLine {
  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonLine() {}

  /** A moment, ms since 1970, as text; null for 0, which stands for never. */
  public static @Nullable String moment(long millis) {
    return millis == 0 ? null : Instant.ofEpochMilli(millis).toString();
  }

  /** Names and values in the order of the map: give a version as text, it has more than 53 bits. */
  public static String of(Map<String, ?> values) {
    return JSON.<JsonNode>valueToTree(values).toString();
  }

  /** The same on many lines, for people. */
  public static String indented(Map<String, ?> values) {
    return JSON.<JsonNode>valueToTree(values).toPrettyString();
  }
}
