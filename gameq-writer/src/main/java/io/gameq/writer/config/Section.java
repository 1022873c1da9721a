package io.gameq.writer.config;

import com.fasterxml.jackson.databind.JsonNode;
import io.gameq.GameQueueException;
import io.gameq.rows.Table.SimilarNames;
import io.gameq.terminal.Variables;
import io.gameq.writer.config.ConfigReader.EffectiveSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One map of the configuration file, which knows its path, so that every error names the setting in
 * full. Used by one thread.
 *
 * <p>Whoever reads it asks for every setting there is and then calls {@link #refuseOthers}: what
 * was not asked for is unknown or misspelt.
 */
final class Section {

  private final String path;
  private final JsonNode map;
  private final UnaryOperator<@Nullable String> environment;
  private final EffectiveSettings effective;
  private final Set<String> known = new TreeSet<>();

  /** A section; all that are made from it note in {@code effective} what they hand out. */
  Section(
      String path,
      JsonNode map,
      UnaryOperator<@Nullable String> environment,
      EffectiveSettings effective) {
    this.path = path;
    this.map = map;
    this.environment = environment;
    this.effective = effective;
    if (!map.isObject() && !map.isMissingNode() && !map.isNull()) {
      throw wrong("", "must hold settings, as in 'name: value'");
    }
  }

  /** Whether the file does not have it; it may be there without any setting. */
  boolean isMissing() {
    return map.isMissingNode();
  }

  /** The setting as text, with each ${NAME} replaced by that environment variable; null: absent. */
  @Nullable String text(String name) {
    JsonNode value = value(name);
    if (value.isMissingNode() || value.isNull()) {
      effective.absent(full(name));
      return null;
    }
    if (!value.isValueNode()) {
      throw wrong(name, "must be a single value");
    }
    String raw = value.asText();
    String text = Variables.filled(raw, variable -> content(name, variable));
    effective.given(full(name), text, Variables.names(raw));
    return text;
  }

  private String content(String name, String variable) {
    String content = environment.apply(variable);
    if (content == null) {
      throw wrong(name, "names the environment variable %s, which is not set".formatted(variable));
    }
    return content;
  }

  String text(String name, String otherwise) {
    String text = text(name);
    if (text != null) {
      return text;
    }
    effective.otherwise(full(name), otherwise);
    return otherwise;
  }

  String required(String name) {
    String text = text(name);
    if (text == null || text.isBlank()) {
      throw wrong(name, "is missing: it has no default" + misspelt(name));
    }
    return text;
  }

  /** What a setting says, or the file that the one with 'File' behind it names; null: neither. */
  @Nullable String secret(String name) {
    String secret = text(name);
    String fileName = name + "File";
    String file = text(fileName);
    if (file == null) {
      return secret;
    }
    if (secret != null) {
      throw wrong(fileName, "stands beside %s: give one of them".formatted(name));
    }
    try {
      // An editor ends the last line; a secret does not end so.
      return Files.readString(Path.of(file)).stripTrailing();
    } catch (IOException e) {
      throw wrongValue(fileName, "this file cannot be read");
    }
  }

  int number(String name, int otherwise, int min, int max) {
    String text = text(name);
    if (text == null) {
      effective.otherwise(full(name), Integer.toString(otherwise));
      return otherwise;
    }
    try {
      int number = Integer.parseInt(text.strip());
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The same remedy as for a number out of range.
    }
    throw wrongValue(name, "use a whole number from %s to %s".formatted(min, max));
  }

  /** Whether it is true. */
  boolean yes(String name, boolean otherwise) {
    String text = text(name, Boolean.toString(otherwise));
    if (!text.equals("true") && !text.equals("false")) {
      throw wrongValue(name, "use true or false");
    }
    return text.equals("true");
  }

  /** One of a few words, in small letters. */
  <E extends Enum<E>> E oneOf(String name, E otherwise) {
    String text = text(name, word(otherwise));
    E[] all = otherwise.getDeclaringClass().getEnumConstants();
    for (E one : all) {
      if (word(one).equals(text)) {
        return one;
      }
    }
    throw wrongValue(
        name, "use " + Arrays.stream(all).map(Section::word).collect(Collectors.joining(" or ")));
  }

  private static String word(Enum<?> of) {
    return of.name().toLowerCase(Locale.ROOT);
  }

  Section section(String name) {
    return new Section(full(name), value(name), environment, effective);
  }

  List<Section> sections(String name) {
    JsonNode list = value(name);
    List<Section> sections = new ArrayList<>();
    if (list.isMissingNode() || list.isNull()) {
      return sections;
    }
    if (!list.isArray()) {
      throw wrong(name, "must be a list, with '- ' before each entry");
    }
    for (JsonNode entry : list) {
      sections.add(
          new Section(
              "%s[%s]".formatted(full(name), sections.size() + 1), entry, environment, effective));
    }
    return sections;
  }

  /** Refuses every setting that was not asked for. */
  void refuseOthers() {
    for (Iterator<String> names = map.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!known.contains(name)) {
        throw wrong(name, "is not a setting" + SimilarNames.hint(name, known));
      }
    }
  }

  /** Which setting of the file may be meant instead of this one, which it lacks. */
  private String misspelt(String name) {
    List<String> others = new ArrayList<>();
    map.fieldNames().forEachRemaining(others::add);
    others.removeAll(known);
    List<String> close = SimilarNames.close(name, others);
    return close.isEmpty()
        ? ""
        : "; '%s' is not a setting, did you mean %s?".formatted(full(close.get(0)), name);
  }

  /**
   * A setting with a value that it cannot have. Of one that names environment variables it says
   * these, not what they hold: that may be a secret, put where it does not belong.
   */
  GameQueueException wrongValue(String name, String remedy) {
    return wrong(name, "is '%s': %s".formatted(map.path(name).asText(), remedy));
  }

  GameQueueException wrong(String name, String problem) {
    return new GameQueueException("setting '%s' %s".formatted(full(name), problem));
  }

  private JsonNode value(String name) {
    known.add(name);
    return map.path(name);
  }

  private String full(String name) {
    return path.isEmpty() || name.isEmpty() ? path + name : path + "." + name;
  }
}
