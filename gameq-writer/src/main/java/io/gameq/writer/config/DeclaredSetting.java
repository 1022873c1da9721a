package io.gameq.writer.config;

import io.gameq.terminal.ClassResource;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A setting of gameq.yaml. {@code settings.txt} declares each once, in the table that {@code config
 * settings} prints: name, default, range with its unit, meaning. Immutable.
 *
 * @param name in full, {@code []} standing for the place in a list
 * @param otherwise its default; null for none
 * @param range as the table says it; empty for any text
 */
public record DeclaredSetting(
    String name, boolean isRequired, @Nullable String otherwise, String range) {
  private static final String HOST_AND_PROCESS = "host and process id";
  private static final Pattern NUMBERS = Pattern.compile("([0-9,]+) to ([0-9,]+)( [a-z]+)?");
  private static final Pattern CHARACTERS =
      Pattern.compile("([0-9]+) to ([0-9]+) of (.*?)( each)?");

  /** All, by name. */
  static final Map<String, DeclaredSetting> ALL = declared();

  private static Map<String, DeclaredSetting> declared() {
    Map<String, DeclaredSetting> all = new LinkedHashMap<>();
    for (String row : table().lines().skip(1).toList()) {
      String[] cells = row.split(" *\\| *", -1);
      String name = cells[0];
      String otherwise = cells[1];
      String range = cells[2];
      boolean isRequired = otherwise.equals("required");
      boolean isNone = isRequired || (otherwise.equals("none") && !range.contains("none"));
      all.put(name, new DeclaredSetting(name, isRequired, isNone ? null : otherwise, range));
    }
    return all;
  }

  /** All, as a table in plain text with a line of headings. */
  public static String table() {
    return ClassResource.text(DeclaredSetting.class, "settings.txt");
  }

  /** The setting of this name, which is declared. */
  static DeclaredSetting of(String name) {
    return Objects.requireNonNull(ALL.get(name), name);
  }

  /** Its default as a file would have it; null for none. */
  @Nullable String value() {
    return otherwise == null
        ? null
        : otherwise.equals(HOST_AND_PROCESS)
            ? hostAndProcess()
            : NUMBERS.matcher(range).matches() ? otherwise.replace(",", "") : otherwise;
  }

  private static String hostAndProcess() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (IOException e) {
      host = "writer";
    }
    String plain = host.replaceAll("[^A-Za-z0-9._-]", "-");
    return plain.substring(0, Math.min(48, plain.length())) + "-" + ProcessHandle.current().pid();
  }

  /** Why a value is not one of its range: what to use; null when it is. */
  @Nullable String remedy(String value) {
    Matcher numbers = NUMBERS.matcher(range);
    Matcher characters = CHARACTERS.matcher(range);
    if (numbers.matches()) {
      long least = Long.parseLong(numbers.group(1).replace(",", ""));
      long most = Long.parseLong(numbers.group(2).replace(",", ""));
      return isWithin(value, least, most) ? null : "use a whole number from " + range;
    } else if (characters.matches()) {
      String one =
          "[%s]{%s,%s}"
              .formatted(
                  characters.group(3).replace(" ", ""), characters.group(1), characters.group(2));
      String pattern = characters.group(4) == null ? one : " *%1$s( +%1$s)* *".formatted(one);
      return value.matches(pattern) ? null : "use " + range;
    }
    return switch (range) {
      case "" -> null;
      case "file" ->
          Files.isReadable(Path.of(value)) && !Files.isDirectory(Path.of(value))
              ? null
              : "use a file that can be read";
      case "directory" -> Files.isDirectory(Path.of(value)) ? null : "use a directory";
      case "power of two, 1 to 1024" ->
          isWithin(value, 1, 1024) && Long.bitCount(Long.parseLong(value.strip())) == 1
              ? null
              : "use a " + range;
      default ->
          Set.of(range.split(", ", -1)).contains(value)
              ? null
              : "use " + range.replace(", ", " or ");
    };
  }

  private static boolean isWithin(String value, long least, long most) {
    try {
      long number = Long.parseLong(value.strip());
      return number >= least && number <= most;
    } catch (NumberFormatException e) {
      return false;
    }
  }
}
