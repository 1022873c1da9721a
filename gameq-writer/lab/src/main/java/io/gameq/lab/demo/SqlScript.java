package io.gameq.lab.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits an SQL file into statements as the mysql client does: DELIMITER, comments, quotes and
 * backticks. One use, one thread.
 */
public final class SqlScript {
  /** Stands alone at the beginning of a line. */
  private static final Pattern DELIMITER =
      Pattern.compile("\\G[ \\t]*DELIMITER[ \\t]+(\\S+)[^\\n]*", Pattern.CASE_INSENSITIVE);

  private final String sql;
  private final List<String> statements = new ArrayList<>();
  private final StringBuilder statement = new StringBuilder();
  private String delimiter = ";";
  private int at;

  private SqlScript(String sql) {
    this.sql = sql;
  }

  /** The statements in order, without comments and delimiters; empty ones are left out. */
  public static List<String> statements(String sql) {
    return new SqlScript(sql.replace("\r\n", "\n")).split();
  }

  private List<String> split() {
    while (at < sql.length()) {
      char c = sql.charAt(at);
      if (isLineStart() && statement.toString().isBlank() && isDelimiterCommand()) {
        continue;
      }
      if (sql.startsWith(delimiter, at)) {
        at += delimiter.length();
        end();
      } else if (c == '\'' || c == '"' || c == '`') {
        quoted(c);
      } else if (c == '#' || isDashComment()) {
        skipTo(sql.indexOf('\n', at), 0);
      } else if (sql.startsWith("/*", at) && !isForTheServer()) {
        skipTo(sql.indexOf("*/", at + 2), 2);
        statement.append(' ');
      } else {
        statement.append(c);
        at++;
      }
    }
    end();
    return statements;
  }

  private boolean isLineStart() {
    return at == 0 || sql.charAt(at - 1) == '\n';
  }

  private boolean isDelimiterCommand() {
    Matcher command = DELIMITER.matcher(sql);
    if (!command.find(at)) {
      return false;
    }
    delimiter = command.group(1);
    at = command.end();
    return true;
  }

  /** Two dashes are a comment only before a space or the end of the line. */
  private boolean isDashComment() {
    return sql.startsWith("--", at)
        && (at + 2 == sql.length() || Character.isWhitespace(sql.charAt(at + 2)));
  }

  /** Text in such a comment is run by MySQL, or by MariaDB alone. */
  private boolean isForTheServer() {
    return sql.startsWith("/*!", at) || sql.startsWith("/*M!", at);
  }

  /** A doubled quote is the end of one text and the start of another: the same to us. */
  private void quoted(char quote) {
    int from = at++;
    while (at < sql.length() && sql.charAt(at) != quote) {
      at += sql.charAt(at) == '\\' && quote != '`' ? 2 : 1;
    }
    at = Math.min(at + 1, sql.length());
    statement.append(sql, from, at);
  }

  private void skipTo(int end, int more) {
    at = end < 0 ? sql.length() : end + more;
  }

  private void end() {
    if (!statement.toString().isBlank()) {
      statements.add(statement.toString().strip());
    }
    statement.setLength(0);
  }
}
