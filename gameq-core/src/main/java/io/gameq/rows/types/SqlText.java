package io.gameq.rows.types;

import java.util.ArrayList;
import java.util.List;

/** Reads the quoted strings of information_schema. Stateless. */
public final class SqlText {
  private SqlText() {}

  /** All strings in single quotes, unescaped: the members of {@code enum('a','it''s')}. */
  public static List<String> quoted(String sql) {
    List<String> found = new ArrayList<>();
    for (int i = sql.indexOf('\''); i >= 0; i = sql.indexOf('\'', i)) {
      StringBuilder text = new StringBuilder();
      i = unquote(sql, i + 1, text);
      found.add(text.toString());
    }
    return found;
  }

  /** Appends the string that begins at {@code from} to {@code out}; returns where it has ended. */
  public static int unquote(String sql, int from, StringBuilder out) {
    for (int i = from; i < sql.length(); i++) {
      char c = sql.charAt(i);
      boolean more = i + 1 < sql.length();
      if (c == '\'' && more && sql.charAt(i + 1) == '\'') {
        out.append('\'');
        i++;
      } else if (c == '\'') {
        return i + 1;
      } else if (c == '\\' && more) {
        out.append(unescaped(sql.charAt(++i)));
      } else {
        out.append(c);
      }
    }
    return sql.length();
  }

  private static char unescaped(char c) {
    return switch (c) {
      case '0' -> '\0';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'b' -> '\b';
      case 'Z' -> '\u001a';
      default -> c;
    };
  }
}
