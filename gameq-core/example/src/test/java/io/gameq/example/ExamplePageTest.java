package io.gameq.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** README.md has the code of the game, whole and as it is. */
class ExamplePageTest {
  @Test
  void thePageHasEveryFileAsItIs() throws IOException {
    String page = Files.readString(Path.of("README.md"));
    List<String> missing = new ArrayList<>();
    int looked = 0;
    try (Stream<Path> all = Files.walk(Path.of("src/main"))) {
      for (Path file : all.filter(Files::isRegularFile).sorted().toList()) {
        if (!file.endsWith("package-info.java")) {
          looked++;
          if (!page.contains("\n" + Files.readString(file) + "```\n")) {
            missing.add(file.toString());
          }
        }
      }
    }
    assertEquals(List.of(), missing, "paste these into README.md anew");
    assertTrue(looked > 8, "only " + looked + " files were found");
  }
}
