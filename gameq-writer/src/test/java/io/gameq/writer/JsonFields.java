package io.gameq.writer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.writer.terminal.TopCommand;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What commands print for programs is what their help says, and has one kind of time. Each {@code
 * --json} of a test is compared. Stateless.
 */
final class JsonFields {
  /** Three years: no duration is longer, and every moment since 1973 is. */
  private static final double LONGEST_MILLIS = 1e11;

  private JsonFields() {}

  /** The fields of each command, by its help. */
  private static Map<String, Set<String>> documented() {
    Map<String, Set<String>> all = new HashMap<>();
    for (String line : TopCommand.jsonFields()) {
      int colon = line.indexOf(": ");
      String fields = line.substring(colon + 2).replaceAll(" \\(.*?\\)", "");
      all.put(line.substring(0, colon), Set.of(fields.split(", ", -1)));
    }
    return all;
  }

  /** Compares what a command printed; one that printed an error has printed nothing. */
  static void check(String command, String out) {
    String name = nameOf(command);
    Set<String> fields =
        Objects.requireNonNull(
            documented().get(name), () -> "json-fields.txt does not have the fields of " + name);
    out.lines().forEach(line -> check(name, fields, line));
  }

  private static void check(String name, Set<String> fields, String line) {
    try {
      JsonNode object = new ObjectMapper().readTree(line);
      object
          .fieldNames()
          .forEachRemaining(
              field ->
                  assertTrue(
                      fields.contains(field),
                      () -> name + " has '" + field + "', not json-fields.txt"));
      times(name, object);
    } catch (JsonProcessingException e) {
      throw new AssertionError(name + " printed no JSON: " + line, e);
    }
  }

  private static void times(String name, JsonNode of) {
    of.properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue();
              String what = name + " " + field.getKey() + " " + value;
              if (field.getKey().endsWith("Millis")) {
                assertTrue(Math.abs(value.asDouble()) < LONGEST_MILLIS, () -> what + ": a moment?");
              }
              if (field.getKey().endsWith("At") && !value.isNull()) {
                assertTrue(!Instant.parse(value.asText()).equals(Instant.EPOCH), what);
              }
              times(name, value);
            });
    if (of.isArray()) {
      of.forEach(element -> times(name, element));
    }
  }

  private static String nameOf(String command) {
    List<String> words = List.of(command.split(" +", -1));
    if (words.get(0).equals("trace")) {
      long arguments = words.stream().skip(1).filter(word -> !word.startsWith("-")).count();
      return arguments == 1 ? "trace OWNER" : "trace TABLE KEY";
    }
    return words.size() > 1 && words.get(1).matches("[a-z]+")
        ? words.get(0) + " " + words.get(1)
        : words.get(0);
  }
}
