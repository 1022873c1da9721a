package io.gameq.house;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What the project weighs, against {@code budget.properties}. A step that makes it lighter lowers
 * the numbers; who needs more raises them in a commit of its own, which names the capability and
 * what was taken out for it.
 */
class BudgetTest {
  private static final List<String> SHIPPED =
      List.of("gameq-core", "gameq-writer", "gameq-recovery");

  /** How much a number may lie above what was counted, in percent: else it is to be lowered. */
  private static final int SLACK = 2;

  private static final Pattern COMMENT = Pattern.compile("\\s*(//|\\*|/\\*|--).*|\\s*");

  /** A class smaller than this, in lines of code, belongs into its only user. */
  private static final int SMALL = 40;

  private final Map<String, Long> counted = new TreeMap<>();

  BudgetTest() throws IOException {
    Map<String, Long> lines = new HashMap<>();
    for (Path file : SourceFilesTest.files()) {
      String path = file.toString().replace('\\', '/');
      if (path.endsWith(".md")) {
        count("markdown.bytes", Files.size(file));
      } else if (path.endsWith(".lua")) {
        count("lua.lines", codeLines(file));
      } else if (path.endsWith(".java")) {
        long code = codeLines(file);
        String module = SHIPPED.stream().filter(of -> isIn(path, of)).findFirst().orElse("other");
        boolean main = path.contains("/src/main/java/");
        count(module + (main ? ".main.lines" : ".test.lines"), code);
        if (main && !module.equals("other")) {
          count(module + ".main.files", 1);
          lines.put(path.substring(path.indexOf("/src/main/java/") + 15), code);
        }
        if (path.matches(".*/gameq-core/src/main/java/io/gameq/\\w+\\.java")
            && Files.readString(file).matches("(?s).*\npublic .*")) {
          count("io.gameq.public.types", 1);
        }
      }
    }
    Map<String, Set<String>> uses = uses();
    count("class.cycles", cycles(uses));
    count("small.classes.with.one.user", smallWithOneUser(uses, lines));
    count("way.of.a.row.classes", wayOfARow());
  }

  @Test
  void nothingWeighsMoreThanItsBudget() throws IOException {
    Map<String, Long> budget = budget();
    assertEquals(counted.keySet(), budget.keySet(), () -> "all counts: " + counted);
    List<String> wrong = new ArrayList<>();
    counted.forEach(
        (what, now) -> {
          long may = budget.getOrDefault(what, 0L);
          if (now > may) {
            wrong.add(what + " is " + now + ", may be " + may + ": take something out");
          } else if (may > now * (100 + SLACK) / 100 + 2) {
            wrong.add(what + " is " + now + ": lower " + may + " in budget.properties");
          }
        });
    assertEquals(List.of(), wrong, () -> "all counts: " + counted);
  }

  private static Map<String, Long> budget() throws IOException {
    Properties read = new Properties();
    try (InputStream in = BudgetTest.class.getResourceAsStream("budget.properties")) {
      read.load(in);
    }
    Map<String, Long> all = new TreeMap<>();
    read.forEach((what, number) -> all.put((String) what, Long.valueOf((String) number)));
    return all;
  }

  private void count(String what, long number) {
    counted.merge(what, number, Long::sum);
  }

  private static boolean isIn(String path, String module) {
    return path.matches(".*/" + module + "/src/.*");
  }

  /** Lines that are neither blank nor comment, as cloc counts them. */
  private static long codeLines(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(Predicate.not(COMMENT.asMatchPredicate()))
        .count();
  }

  /** Which files of what is shipped a file uses, both by the name of the file's own class. */
  private static Map<String, Set<String>> uses() {
    Map<String, Set<String>> uses = new TreeMap<>();
    for (JavaClass of : ArchitectureTest.CLASSES) {
      if (!isShipped(of)) {
        continue;
      }
      Set<String> all = uses.computeIfAbsent(file(of), name -> new TreeSet<>());
      of.getDirectDependenciesFromSelf().stream()
          .map(dependency -> dependency.getTargetClass().getBaseComponentType())
          .filter(BudgetTest::isShipped)
          .map(BudgetTest::file)
          .filter(name -> !name.equals(file(of)))
          .forEach(all::add);
    }
    return uses;
  }

  private static boolean isShipped(JavaClass of) {
    return of.getPackageName().matches("io\\.gameq(\\..*)?")
        && !of.getPackageName().matches("io\\.gameq\\.(lab|spring|example|test)(\\..*)?");
  }

  private static String file(JavaClass of) {
    String name = of.getName();
    int nested = name.indexOf('$');
    return nested < 0 ? name : name.substring(0, nested);
  }

  /** How many sets of two and more files use each other, directly or through others. */
  private static long cycles(Map<String, Set<String>> uses) {
    Map<String, Set<String>> reached = new HashMap<>();
    uses.keySet().forEach(from -> reached.put(from, reachedFrom(from, uses)));
    Set<Set<String>> knots = new HashSet<>();
    for (String file : uses.keySet()) {
      Set<String> knot = new TreeSet<>();
      for (String other : reached.getOrDefault(file, Set.of())) {
        if (reached.getOrDefault(other, Set.of()).contains(file)) {
          knot.add(other);
        }
      }
      if (knot.size() > 1) {
        knots.add(knot);
      }
    }
    return knots.size();
  }

  private static Set<String> reachedFrom(String from, Map<String, Set<String>> uses) {
    Set<String> reached = new TreeSet<>();
    Deque<String> next = new ArrayDeque<>(uses.getOrDefault(from, Set.of()));
    while (!next.isEmpty()) {
      String file = next.pop();
      if (reached.add(file)) {
        next.addAll(uses.getOrDefault(file, Set.of()));
      }
    }
    return reached;
  }

  private static long smallWithOneUser(
      Map<String, Set<String>> uses, Map<String, Long> linesByPath) {
    Map<String, Set<String>> users = new HashMap<>();
    uses.forEach(
        (user, all) ->
            all.forEach(used -> users.computeIfAbsent(used, of -> new TreeSet<>()).add(user)));
    return users.entrySet().stream()
        .filter(used -> used.getValue().size() == 1)
        .filter(
            used ->
                used.getValue().stream()
                    .allMatch(user -> packageOf(user).equals(packageOf(used.getKey()))))
        .filter(
            used ->
                linesByPath.getOrDefault(used.getKey().replace('.', '/') + ".java", 99L) < SMALL)
        .count();
  }

  private static String packageOf(String file) {
    return file.substring(0, file.lastIndexOf('.'));
  }

  /** The classes that ARCHITECTURE draws on the way of one row change. */
  private static long wayOfARow() throws IOException {
    Path page =
        SourceFilesTest.files().stream()
            .filter(file -> file.endsWith("ARCHITECTURE.md"))
            .findFirst()
            .orElseThrow();
    Matcher way =
        Pattern.compile("## The way of one row change\n.*?```(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(page));
    if (!way.find()) {
      throw new AssertionError("ARCHITECTURE.md draws no way of one row change");
    }
    return Pattern.compile("\\b[A-Z][a-z]+(?:[A-Z][a-z]*)+\\b")
        .matcher(way.group(1))
        .results()
        .map(name -> name.group())
        .distinct()
        .count();
  }
}
