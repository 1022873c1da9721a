package io.gameq.mysql;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** MySQL's error messages without the values that they quote: those are players'. Stateless. */
public final class MySqlText {
  private static final String HIDDEN = "$1 '...'";

  /** Duplicate entry 'Bob-7' for key 'name'; Incorrect integer value: 'x' for column 'level'. */
  private static final Pattern OF_KEY_OR_COLUMN =
      Pattern.compile("(?s)\\b(entry|value:?) '.*'(?= for (?:key|column|function) )");

  /** Truncated incorrect DOUBLE value: '1x'. */
  private static final Pattern AT_THE_END = Pattern.compile("(?s)\\b(value:?) '(?!\\.\\.\\.').*'");

  /** Table has no partition for value 42; BIGINT value is out of range in '(`level` - 7)'. */
  private static final Pattern UNQUOTED =
      Pattern.compile("(?s)\\b(no partition for value|out of range in) .*");

  private MySqlText() {}

  /** The message of an exception of MySQL's. */
  public static String of(Throwable e) {
    return of(e.getMessage());
  }

  static String of(@Nullable String message) {
    String text = String.valueOf(message);
    String ofKeyOrColumn = OF_KEY_OR_COLUMN.matcher(text).replaceAll(HIDDEN);
    String atTheEnd = AT_THE_END.matcher(ofKeyOrColumn).replaceAll(HIDDEN);
    return UNQUOTED.matcher(atTheEnd).replaceAll(HIDDEN);
  }
}
