package io.gameq.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * README.md shows parts of the game as they are: what lies between {@code // page: NAME} and {@code
 * // page: end}.
 */
class ExamplePageTest {
  private static final Pattern PART =
      Pattern.compile("( *)// page: (?!end\\n)(.+)\\n((?s:.*?)) *// page: end\\n");
  private static final Pattern BLOCK = Pattern.compile("```java\\n((?s:.*?))```\\n");

  @Test
  void thePageShowsEachPartAsItIsAndNothingElse() throws IOException {
    Map<String, String> parts = parts();
    List<String> blocks = new ArrayList<>();
    for (Matcher block = BLOCK.matcher(Files.readString(Path.of("README.md"))); block.find(); ) {
      blocks.add(block.group(1));
    }
    parts.forEach(
        (name, part) -> assertTrue(blocks.contains(part), () -> name + " reads now:\n" + part));
    assertEquals(new TreeSet<>(parts.values()), new TreeSet<>(blocks), "no part reads like this");
    assertTrue(parts.size() > 3, "only " + parts.size() + " parts were found");
  }

  private static Map<String, String> parts() throws IOException {
    Map<String, String> parts = new LinkedHashMap<>();
    try (Stream<Path> all = Files.walk(Path.of("src/main"))) {
      for (Path file : all.filter(Files::isRegularFile).sorted().toList()) {
        String text = Files.readString(file);
        for (Matcher part = PART.matcher(text); part.find(); ) {
          String indent = part.group(1);
          parts.put(file + ": " + part.group(2), part.group(3).replaceAll("(?m)^" + indent, ""));
        }
      }
    }
    return parts;
  }
}
