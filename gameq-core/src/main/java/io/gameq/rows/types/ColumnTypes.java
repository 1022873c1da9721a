package io.gameq.rows.types;

import io.gameq.GameQueueException;
import io.gameq.rows.types.TextTypes.TextCharset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads COLUMN_TYPE of information_schema. Stateless. */
public final class ColumnTypes {
  /** The name, the part in brackets, and flags such as unsigned. */
  private static final Pattern DECLARATION =
      Pattern.compile("([a-z]+[0-9]?)\\s*(?:\\((.*)\\))?(.*)", Pattern.DOTALL);

  private ColumnTypes() {}

  /**
   * The type of a column.
   *
   * @param columnType for example {@code varchar(20)} or {@code bigint(20) unsigned}
   * @param charset CHARACTER_SET_NAME, null for all but text
   * @param collation COLLATION_NAME, or null where only the values matter, as in old layouts
   * @throws UnmanageableException when gameq cannot keep its values exactly
   */
  public static ColumnType parse(
      String columnType, @Nullable String charset, @Nullable String collation) {
    Matcher declaration = DECLARATION.matcher(columnType);
    if (!declaration.matches()) {
      throw new UnmanageableException("unknown column type " + columnType);
    }
    Declaration of =
        new Declaration(
            columnType,
            declaration.group(1).toLowerCase(Locale.ROOT),
            Objects.requireNonNullElse(declaration.group(2), ""),
            declaration.group(3).contains("unsigned"),
            charset,
            collation);
    ColumnType type = NumberTypes.of(of);
    type = type == null ? TextTypes.of(of) : type;
    type = type == null ? TimeTypes.of(of) : type;
    if (type == null) {
      throw new UnmanageableException("column type " + columnType + " is not supported");
    }
    return type;
  }

  /**
   * A COLUMN_TYPE in its parts; immutable.
   *
   * @param name in small letters
   * @param brackets what stands in brackets, or an empty text
   */
  record Declaration(
      String columnType,
      String name,
      String brackets,
      boolean unsigned,
      @Nullable String charset,
      @Nullable String collation) {

    /** The number in brackets at this place, counted from 0. */
    int number(int place, int otherwise) {
      String[] numbers = brackets.split(",", -1);
      return place >= numbers.length || numbers[place].isBlank()
          ? otherwise
          : Integer.parseInt(numbers[place].strip());
    }
  }

  /**
   * What {@link io.gameq.rows.Table.Column#declaration} holds: COLUMN_TYPE, and the character set
   * of text.
   */
  public static String declaration(String columnType, @Nullable String charset) {
    if (charset == null || TextCharset.ofName(charset) == null) {
      return columnType;
    }
    // MySQL 8.0 renamed utf8; the rows did not change.
    return columnType + " " + (charset.equals("utf8") ? "utf8mb3" : charset);
  }

  /** The type that such a {@link #declaration} was of. */
  public static ColumnType ofDeclaration(String declaration) {
    int space = declaration.lastIndexOf(' ');
    String charset = declaration.substring(space + 1);
    return TextCharset.ofName(charset) == null
        ? parse(declaration, null, null)
        : parse(declaration.substring(0, space), charset, null);
  }

  /** A column type that gameq cannot keep exactly; the message is the reason. */
  public static final class UnmanageableException extends GameQueueException {
    private static final long serialVersionUID = 1L;

    public UnmanageableException(String reason) {
      super(reason);
    }
  }

  /** Reads the quoted strings of information_schema. Stateless. */
  public static final class SqlText {
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

    /**
     * Appends the string that begins at {@code from} to {@code out}; returns where it has ended.
     */
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
}
