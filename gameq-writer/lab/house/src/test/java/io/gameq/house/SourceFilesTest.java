package io.gameq.house;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What all source files have in common, those of tests too; as {@code .editorconfig} says. */
class SourceFilesTest {
  private static final Map<String, Integer> WIDTHS =
      Map.of(".java", 100, ".lua", 140, ".sql", 140, ".md", 140);

  private static final Set<String> NOT_OURS = Set.of("target", ".git", ".mvn");

  private final List<Path> files = files();

  /** All that are ours, in all modules. */
  static List<Path> files() {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.exists(root.resolve("CONTRIBUTING.md"))) {
      root = Objects.requireNonNull(root.getParent(), "the project's root");
    }
    List<Path> all = new ArrayList<>();
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
              return NOT_OURS.contains(String.valueOf(folder.getFileName()))
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              all.add(file);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return all;
  }

  @Test
  void linesAreNotTooLong() throws IOException {
    List<String> tooLong = new ArrayList<>();
    int looked = 0;
    for (Path file : files) {
      String name = file.getFileName().toString();
      Integer width = WIDTHS.get(name.substring(Math.max(0, name.lastIndexOf('.'))));
      if (width == null) {
        continue;
      }
      looked++;
      List<String> lines = Files.readAllLines(file);
      for (int i = 0; i < lines.size(); i++) {
        if (lines.get(i).length() > width) {
          tooLong.add(file + ":" + (i + 1));
        }
      }
    }
    assertTrue(looked > 500, "only " + looked + " files were found");
    assertEquals(List.of(), tooLong);
  }

  @Test
  void noTwoClassesHaveOneName() {
    Map<String, List<Path>> byName = new TreeMap<>();
    for (Path file : files) {
      String name = file.getFileName().toString();
      if (name.endsWith(".java") && !name.equals("package-info.java")) {
        byName.computeIfAbsent(name, of -> new ArrayList<>()).add(file);
      }
    }
    byName.values().removeIf(all -> all.size() == 1);
    assertEquals(Map.of(), byName);
  }
}
