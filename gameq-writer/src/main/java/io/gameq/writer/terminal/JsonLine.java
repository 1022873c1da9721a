package io.gameq.writer.terminal;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** One JSON object on one line, for other programs. Stateless. */
public final class JsonLine {
  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonLine() {}

  /** Names and values in the order of the map: give a version as text, it has more than 53 bits. */
  public static String of(Map<String, ?> values) {
    return JSON.<JsonNode>valueToTree(values).toString();
  }
}
