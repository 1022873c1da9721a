package io.gameq.writer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What commands print for programs is what the operators' page says, and has one kind of time. Each
 * {@code --json} of a test is compared. Stateless.
 */
final class JsonFields {
  private static final Pattern NAME = Pattern.compile("`([^`]+)`");

  /** Three years: no duration is longer, and every moment since 1973 is. */
  private static final double LONGEST_MILLIS = 1e11;

  private JsonFields() {}

  /** The fields of each command, by the page. */
  private static Map<String, Set<String>> documented() {
    Map<String, Set<String>> all = new HashMap<>();
    try {
      String page = Files.readString(Path.of("REFERENCE.md"));
      String section =
          page.substring(page.indexOf("\n## For programs"), page.indexOf("\nA pause is"));
      for (String item : List.of(section.split("\n- ", -1)).subList(1, 17)) {
        int colon = item.indexOf(": ");
        Set<String> fields = new HashSet<>();
        Matcher field = NAME.matcher(item.substring(colon));
        while (field.find()) {
          fields.add(field.group(1));
        }
        Matcher command = NAME.matcher(item.substring(0, colon));
        while (command.find()) {
          all.computeIfAbsent(command.group(1), of -> new HashSet<>()).addAll(fields);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }

  /** Compares what a command printed; one that printed an error has printed nothing. */
  static void check(String command, String out) {
    String name = nameOf(command);
    Set<String> fields =
        Objects.requireNonNull(
            documented().get(name), () -> "REFERENCE.md does not have the fields of " + name);
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
                      () -> name + " has '" + field + "', not REFERENCE.md"));
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
