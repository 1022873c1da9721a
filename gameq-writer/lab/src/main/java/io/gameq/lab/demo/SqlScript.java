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
  private final List<Statement> statements = new ArrayList<>();
  private final StringBuilder statement = new StringBuilder();
  private String delimiter = ";";
  private int at;
  private int begins;

  private SqlScript(String sql) {
    this.sql = sql;
  }

  /**
   * A statement without comments and delimiter.
   *
   * @param line on which it begins, from 1
   */
  public record Statement(int line, String sql) {}

  /** The statements in order; empty ones are left out. */
  public static List<Statement> statements(String sql) {
    return new SqlScript(sql.replace("\r\n", "\n")).split();
  }

  private List<Statement> split() {
    while (at < sql.length()) {
      char c = sql.charAt(at);
      if (statement.toString().isBlank()) {
        begins = at;
      }
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
      int line = 1 + (int) sql.substring(0, begins).chars().filter(c -> c == '\n').count();
      statements.add(new Statement(line, statement.toString().strip()));
    }
    statement.setLength(0);
  }
}
