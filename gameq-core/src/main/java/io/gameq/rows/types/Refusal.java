package io.gameq.rows.types;

import io.gameq.RowRefusedException;
import java.util.Collection;

/**
 * Words every refusal of a value the same way: the column, the limit, never the value. Stateless.
 */
public final class Refusal {
  private Refusal() {}

  public static RowRefusedException of(String column, String problem) {
    return new RowRefusedException(column + ": " + problem);
  }

  /** The value's class is not one that the column takes. */
  static RowRefusedException kind(String column, Object in, String takes) {
    return of(column, "takes " + takes + ", not " + describe(in));
  }

  /** The value lies outside of {@code range}. */
  static RowRefusedException range(String column, String range, Object in) {
    return of(column, "holds " + range + ", the " + describe(in) + " lies outside");
  }

  /** More fraction digits of a second than the column keeps, where nothing is cut. */
  static RowRefusedException fraction(String column, int digits) {
    return of(
        column,
        ("keeps %s fraction digits of a second, the value has more, and is not cut, as in a"
                + " primary key: truncate it first")
            .formatted(digits));
  }

  private static String describe(Object in) {
    if (in instanceof String text) {
      return "String of " + text.length() + " characters";
    }
    if (in instanceof byte[] bytes) {
      return "byte[] of " + bytes.length + " bytes";
    }
    if (in instanceof Collection<?> all) {
      return "collection of " + all.size() + " elements";
    }
    return in.getClass().getSimpleName();
  }
}
