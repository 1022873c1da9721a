package io.gameq.house;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Every class that the pages of packages, ARCHITECTURE and CONTRIBUTING name is there. A package's
 * page names its own classes and those of the API alone; others with the end of their package, as
 * in {@code rows.EncodedRow}.
 */
class PageNamesTest {
  /** Two humps at least, with the package that is written before it, and nested classes after. */
  private static final Pattern NAME =
      Pattern.compile(
          "((?:\\b[a-z]+\\.)*)\\b([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)\\b(?:\\.[A-Z]\\w*)*");

  /** Top-level or nested. */
  private static final Pattern TYPE =
      Pattern.compile("^ *[a-z -]*\\b(?:class|record|enum|interface) (\\w+)", Pattern.MULTILINE);

  /** One hump is a class where a drawing's line begins with it. */
  private static final Pattern DRAWN = Pattern.compile("^ \\* +()([A-Z][a-z]+)(?=[,:]?\\s{2,}|, )");

  private static final Set<String> API = Set.of("io.gameq", "io.gameq.config", "io.gameq.topic");

  private static final String NOT_OURS =
      "Big(Decimal|Integer)|LocalDate|Map(Store|Writer)|MariaDB|MessagePack|MiB|MySQL|NullMarked";

  /** The packages that have a class of a name, those of tests too. */
  private final Map<String, Set<String>> packages = new HashMap<>();

  private final List<String> stale = new ArrayList<>();
  private int looked;

  @Test
  void pagesNameClassesThatAreThere() throws IOException {
    List<Path> files = SourceFilesTest.files();
    for (Path file : files) {
      String name = file.getFileName().toString();
      if (name.endsWith(".java") && !name.equals("package-info.java")) {
        for (Matcher type = TYPE.matcher(Files.readString(file)); type.find(); ) {
          packages.computeIfAbsent(type.group(1), of -> new TreeSet<>()).add(packageOf(file));
        }
      }
    }
    for (Path file : files) {
      String name = file.getFileName().toString();
      if (name.equals("package-info.java")) {
        look(file, packageOf(file));
      } else if (name.equals("ARCHITECTURE.md") || name.equals("CONTRIBUTING.md")) {
        look(file, null);
      }
    }
    assertTrue(looked > 500, "only " + looked + " names were found");
    assertEquals(List.of(), stale, "named, but not there");
  }

  private static String packageOf(Path file) {
    String path = file.toString().replace('\\', '/');
    int from = path.lastIndexOf("/java/") + "/java/".length();
    return path.substring(from, path.lastIndexOf('/')).replace('/', '.');
  }

  /** Looks at a page: of a package, or of the whole project. */
  private void look(Path file, @Nullable String own) throws IOException {
    boolean drawn = false;
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      drawn = (drawn || line.contains("<pre>")) && !line.contains("</pre>");
      for (Pattern pattern : drawn ? List.of(NAME, DRAWN) : List.of(NAME)) {
        for (Matcher name = pattern.matcher(line); name.find(); looked++) {
          if (!isThere(name.group(1), name.group(2), own)) {
            stale.add(file + ":" + (i + 1) + " " + name.group());
          }
        }
      }
    }
  }

  private boolean isThere(String qualifier, String name, @Nullable String own) {
    Set<String> in = packages.getOrDefault(name, Set.of());
    if (name.matches(NOT_OURS)) {
      return true;
    }
    if (!qualifier.isEmpty()) {
      return in.stream().anyMatch(of -> ("." + of + ".").endsWith("." + qualifier));
    }
    return own == null ? !in.isEmpty() : in.contains(own) || in.stream().anyMatch(API::contains);
  }
}
