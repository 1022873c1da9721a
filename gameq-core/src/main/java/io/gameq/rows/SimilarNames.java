package io.gameq.rows;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Finds the names that a mistyped one may have meant. Stateless. */
public final class SimilarNames {
  private static final int MAX_SUGGESTIONS = 3;

  private SimilarNames() {}

  /** {@code (did you mean a, b?)}, or all names when none is close. */
  public static String hint(String name, Collection<String> known) {
    List<String> close = close(name, known);
    return close.isEmpty()
        ? " (known: " + String.join(", ", known) + ")"
        : " (did you mean " + String.join(", ", close) + "?)";
  }

  /** The names that are close, the closest first. */
  public static List<String> close(String name, Collection<String> known) {
    String wanted = name.toLowerCase(Locale.ROOT);
    int tolerated = Math.max(2, name.length() / 3);
    return known.stream()
        .filter(k -> distance(wanted, k.toLowerCase(Locale.ROOT)) <= tolerated)
        .sorted(Comparator.comparingInt(k -> distance(wanted, k.toLowerCase(Locale.ROOT))))
        .limit(MAX_SUGGESTIONS)
        .toList();
  }

  /** Levenshtein's distance. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
