package io.gameq.writer.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the settings came to when a file was read, and where each is from; secrets are masked as
 * they are noted. Used by one thread.
 */
public final class EffectiveSettings {
  private static final String DEFAULT = "default";
  private static final String MASK = "***";

  /** Not {@code passwordFile}, which names a file. */
  private static final Pattern SECRET = Pattern.compile("(?i).*(password|passphrase|secret|token)");

  /** User and password in a URI, and parameters of it such as {@code password=...}. */
  private static final Pattern IN_URI =
      Pattern.compile("(?i)(?<=//).*(?=@)|(?<=(password|secret|token)=)[^&#]*");

  private final Map<String, Setting> settings = new LinkedHashMap<>();

  /**
   * One setting; immutable.
   *
   * @param name in full, such as {@code writer.workers}
   * @param value in effect, masked where it is a secret; null for none
   * @param origin {@code default}, {@code file}, or {@code environment variable NAME}
   */
  public record Setting(String name, @Nullable String value, String origin) {}

  /**
   * The file has a setting.
   *
   * @param variables of the environment that it names
   */
  void given(String name, String value, Set<String> variables) {
    settings.put(
        name,
        new Setting(
            name,
            masked(name, value),
            variables.isEmpty() ? "file" : "environment variable " + String.join(", ", variables)));
  }

  /** The file does not have a setting. */
  void absent(String name) {
    settings.putIfAbsent(name, new Setting(name, null, DEFAULT));
  }

  /** A setting takes its default. */
  void otherwise(String name, String value) {
    settings.put(name, new Setting(name, masked(name, value), DEFAULT));
  }

  /** All settings, in the order in which they were read. */
  public List<Setting> all() {
    return new ArrayList<>(settings.values());
  }

  private static String masked(String name, String value) {
    return SECRET.matcher(name).matches() ? MASK : IN_URI.matcher(value).replaceAll(MASK);
  }
}
