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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What all source files have in common, those of tests too; as {@code .editorconfig} says. */
class SourceFilesTest {
  private static final Map<String, Integer> WIDTHS =
      Map.of(".java", 100, ".lua", 140, ".sql", 140, ".md", 140);

  private static final Set<String> NOT_OURS = Set.of("target", ".git", ".mvn");

  /** Calls that take the locale, or the time zone, of the JVM; others Error Prone finds. */
  private static final Pattern BY_LOCALE =
      Pattern.compile(
          "NumberFormat\\.get\\w+\\(\\)|new DecimalFormat|new"
              + " SimpleDateFormat|ZoneId\\.systemDefault"
              + "|\\.ofPattern\\(\"[^\"]*\"\\)|ofLocalized|String\\.format\\((?!\\s*Locale)");

  private static final Pattern FORMATTED = Pattern.compile("\\s*\\)?\\s*\\.formatted\\(");

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

  /**
   * Where letters and digits are not those of English, {@code "%d".formatted(1)} is no number that
   * a server reads. Whole numbers are put in by %s; what needs more, by {@code Locale.ROOT}, as
   * {@code Shown.line} does.
   */
  @Test
  void nothingShippedIsFormattedByTheLocaleOfTheJvm() throws IOException {
    Pattern literal = Pattern.compile("\"(?:[^\"\\\\\n]|\\\\.)*\"");
    Pattern localized = Pattern.compile("%(\\d+\\$)?[-#+ 0,(]*\\d*(\\.\\d+)?([feEgG]|d(?!\\{))");
    Pattern asked =
        Pattern.compile(
            "(Locale\\.ROOT,|Shown\\.line\\()\\s*\\(?\\s*(\"(?:[^\"\\\\\n"
                + "]|\\\\.)*\"\\s*\\+\\s*)*$");
    List<String> found = new ArrayList<>();
    int looked = 0;
    for (Path file : files) {
      if (!file.toString().contains("/src/main/") || !file.toString().endsWith(".java")) {
        continue;
      }
      String text = Files.readString(file);
      for (Matcher of = literal.matcher(text); of.find(); ) {
        if (localized.matcher(of.group()).find()) {
          looked++;
          String behind = text.substring(of.end());
          boolean isOfReports = file.toString().contains("/lab/"); // which have own helpers
          if (isOfReports
              ? FORMATTED.matcher(behind).lookingAt()
              : !asked.matcher(text.substring(0, of.start())).find()) {
            found.add(file + ": " + of.group());
          }
        }
      }
      for (Matcher of = BY_LOCALE.matcher(text); of.find(); ) {
        found.add(file + ": " + of.group());
      }
    }
    assertTrue(looked > 50, "only " + looked + " numbers are formatted");
    assertEquals(List.of(), found);
  }
}
