package io.gameq.lab.demo;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits an SQL file into statements as the mysql client does: DELIMITER, comments, quotes and
 * backticks. It takes a file for UTF-8; a text that is not, as a dump writes a BLOB, becomes a hex
 * literal. One use, one thread.
 */
public final class SqlScript {
  /** Stands alone at the beginning of a line. */
  private static final Pattern DELIMITER =
      Pattern.compile("\\G[ \\t]*DELIMITER[ \\t]+(\\S+)[^\\n]*", Pattern.CASE_INSENSITIVE);

  private final String sql; // a char for each byte
  private final List<Statement> statements = new ArrayList<>();
  private final StringBuilder statement = new StringBuilder();
  private String delimiter = ";";
  private boolean blank = true;
  private int at;
  private int begins;
  private int line = 1;
  private int counted;

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
    return statements(sql.getBytes(StandardCharsets.UTF_8));
  }

  /** The statements of a file's bytes. */
  static List<Statement> statements(byte[] file) {
    String sql = new String(file, StandardCharsets.ISO_8859_1);
    return new SqlScript(sql.replace("\r\n", "\n")).split();
  }

  private List<Statement> split() {
    while (at < sql.length()) {
      char c = sql.charAt(at);
      if (blank) {
        begins = at;
      }
      if (isLineStart() && blank && isDelimiterCommand()) {
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
        blank &= Character.isWhitespace(c);
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

  /** Text in such a comment is run by MySQL, or by MariaDB alone; no server runs the third. */
  private boolean isForTheServer() {
    return sql.startsWith("/*!", at)
        || (sql.startsWith("/*M!", at) && !sql.startsWith("/*M!999999", at));
  }

  private void quoted(char quote) {
    int from = at++;
    while (at < sql.length() && (sql.charAt(at) != quote || isDoubled(quote))) {
      at += (sql.charAt(at) == '\\' && quote != '`') || sql.charAt(at) == quote ? 2 : 1;
    }
    at = Math.min(at + 1, sql.length());
    String text = sql.substring(from, at);
    statement.append(quote == '`' || isUtf8(text) ? text : hex(text));
    blank = false;
  }

  private boolean isDoubled(char quote) {
    return at + 1 < sql.length() && sql.charAt(at + 1) == quote;
  }

  private static boolean isUtf8(String text) {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
      CharBuffer unused = StandardCharsets.UTF_8.newDecoder().decode(bytes);
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  /** The bytes that a quoted text stands for. */
  private static String hex(String quoted) {
    StringBuilder hex = new StringBuilder("0x");
    for (int i = 1; i < quoted.length() - 1; i++) {
      char c = quoted.charAt(i);
      if (c == quoted.charAt(0)) {
        i++; // doubled
      } else if (c == '\\') {
        c = quoted.charAt(++i);
        int named = "0bnrtZ".indexOf(c);
        c = named < 0 ? c : "\0\b\n\r\t\u001a".charAt(named);
      }
      hex.append(HexFormat.of().toHexDigits((byte) c));
    }
    return hex.toString();
  }

  private void skipTo(int end, int more) {
    at = end < 0 ? sql.length() : end + more;
  }

  private void end() {
    if (!blank) {
      line += (int) sql.substring(counted, begins).chars().filter(c -> c == '\n').count();
      counted = begins;
      byte[] bytes = statement.toString().getBytes(StandardCharsets.ISO_8859_1);
      statements.add(new Statement(line, new String(bytes, StandardCharsets.UTF_8).strip()));
    }
    statement.setLength(0);
    blank = true;
  }
}
