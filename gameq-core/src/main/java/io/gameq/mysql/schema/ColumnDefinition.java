package io.gameq.mysql.schema;

import io.gameq.mysql.JdbcValues;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A column's definition as SHOW CREATE TABLE prints it, taken apart as far as it is changed: what
 * is not changed (default, comment, check) stays as the server wrote it. Immutable.
 */
record ColumnDefinition(String name, String type, String charset, String nullability, String rest) {
  private static final Pattern PARTS =
      Pattern.compile(
          "(?<type>\\w+(?:\\([^'()]*\\))?(?: unsigned)?(?: zerofill)?)"
              + "(?<charset>(?: CHARACTER SET \\w+)?(?: COLLATE \\w+)?)"
              + "(?<null> NOT NULL| NULL)?(?<nothing> DEFAULT NULL)?(?<rest>.*)");

  /** The definition of a column in the text of a table; null when it is not understood. */
  static @Nullable ColumnDefinition of(String createTable, String column) {
    String quoted = JdbcValues.quoted(column) + " ";
    for (String line : createTable.lines().toList()) {
      String text = line.strip();
      if (text.regionMatches(true, 0, quoted, 0, quoted.length())) {
        String definition = text.substring(quoted.length());
        Matcher parts =
            PARTS.matcher(
                definition.endsWith(",")
                    ? definition.substring(0, definition.length() - 1)
                    : definition);
        return parts.matches()
            ? new ColumnDefinition(
                column,
                parts.group("type"),
                parts.group("charset"),
                text(parts.group("null")) + text(parts.group("nothing")),
                parts.group("rest"))
            : null;
      }
    }
    return null;
  }

  private static String text(@Nullable String group) {
    return group == null ? "" : group;
  }

  /** The same in another character set and collation. */
  ColumnDefinition in(String newCharset, @Nullable String collation) {
    return new ColumnDefinition(
        name,
        type,
        " CHARACTER SET " + newCharset + (collation == null ? "" : " COLLATE " + collation),
        nullability,
        rest);
  }

  /** The same for values that are never NULL. */
  ColumnDefinition notNull() {
    return new ColumnDefinition(name, type, charset, " NOT NULL", rest);
  }

  /** The same without the digits in brackets to which MySQL rounds. */
  ColumnDefinition withoutDigits() {
    return new ColumnDefinition(
        name, type.replaceFirst("\\(.*\\)", ""), charset, nullability, rest);
  }

  /** A clause of ALTER TABLE. */
  String modify() {
    return "MODIFY COLUMN " + JdbcValues.quoted(name) + " " + type + charset + nullability + rest;
  }
}
