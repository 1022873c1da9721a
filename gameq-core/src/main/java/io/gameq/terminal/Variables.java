package io.gameq.terminal;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Environment variables in a configuration: {@code ${NAME}}. Stateless. */
public final class Variables {
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");

  private Variables() {}

  /** Those that a text names, in its order. */
  public static Set<String> names(String text) {
    Set<String> names = new LinkedHashSet<>();
    for (Matcher named = VARIABLE.matcher(text); named.find(); ) {
      names.add(named.group(1));
    }
    return names;
  }

  /** The text with what each of them holds in its place; throws what {@code content} throws. */
  public static String filled(String text, UnaryOperator<String> content) {
    return VARIABLE
        .matcher(text)
        .replaceAll(named -> Matcher.quoteReplacement(content.apply(named.group(1))));
  }
}
