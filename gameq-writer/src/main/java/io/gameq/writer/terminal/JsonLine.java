package io.gameq.writer.terminal;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import java.util.Map;

/** One JSON object on one line, for other programs. Stateless. */
public final class JsonLine {
  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonLine() {}

  /** Names and values in the order of the map: give a version as text, it has more than 53 bits. */
  public static String of(Map<String, ?> values) {
    try {
      return JSON.writeValueAsString(values);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
  }
}
