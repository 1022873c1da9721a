package io.gameq.rows.types;

import io.gameq.GameQueueException;
import io.gameq.rows.types.ColumnType.Kind;
import io.gameq.rows.types.NumberTypes.BitsType;
import io.gameq.rows.types.NumberTypes.DecimalType;
import io.gameq.rows.types.NumberTypes.FloatingType;
import io.gameq.rows.types.NumberTypes.IntegerType;
import io.gameq.rows.types.TextTypes.BinaryType;
import io.gameq.rows.types.TextTypes.BinaryType.BinaryForm;
import io.gameq.rows.types.TextTypes.JsonType;
import io.gameq.rows.types.TextTypes.MembersType;
import io.gameq.rows.types.TextTypes.TextCharset;
import io.gameq.rows.types.TextTypes.TextType;
import io.gameq.rows.types.TextTypes.TextType.TextForm;
import io.gameq.rows.types.TimeTypes.DateType;
import io.gameq.rows.types.TimeTypes.FractionType;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads COLUMN_TYPE of information_schema. Stateless. */
public final class ColumnTypes {
  /** The name, the part in brackets, and flags such as unsigned. */
  private static final Pattern DECLARATION =
      Pattern.compile("([a-z]+[0-9]?)\\s*(?:\\((.*)\\))?(.*)", Pattern.DOTALL);

  private static final long KIB_64 = (1L << 16) - 1;
  private static final long MIB_16 = (1L << 24) - 1;

  /** LONGTEXT and LONGBLOB: a Java array holds no more, MySQL's 4 GiB are out of reach. */
  private static final long LONG = Integer.MAX_VALUE - 8;

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
    String name = declaration.group(1).toLowerCase(Locale.ROOT);
    String brackets = declaration.group(2) == null ? "" : declaration.group(2);
    boolean unsigned = declaration.group(3).contains("unsigned");
    return switch (name) {
      case "tinyint" -> IntegerType.ofBytes(1, unsigned);
      case "smallint" -> IntegerType.ofBytes(2, unsigned);
      case "mediumint" -> IntegerType.ofBytes(3, unsigned);
      case "int" -> IntegerType.ofBytes(4, unsigned);
      case "bigint" ->
          unsigned ? new BitsType(Kind.UNSIGNED_LONG, 64) : IntegerType.ofBytes(8, false);
      case "year" -> IntegerType.YEAR;
      case "bit" -> new BitsType(Kind.BIT, number(brackets, 1));
      case "decimal" -> decimal(brackets, unsigned);
      case "float", "double" -> {
        if (!brackets.isEmpty()) {
          throw new UnmanageableException(
              columnType + " rounds what it stores: use DECIMAL, or drop the digits in brackets");
        }
        yield new FloatingType(name.equals("float") ? Kind.FLOAT : Kind.DOUBLE, unsigned);
      }
      case "char" -> text(TextForm.CHAR, number(brackets, 1), charset, collation);
      case "varchar" -> text(TextForm.VARCHAR, number(brackets, 0), charset, collation);
      case "tinytext" -> text(TextForm.TEXT, 255, charset, collation);
      case "text" -> text(TextForm.TEXT, KIB_64, charset, collation);
      case "mediumtext" -> text(TextForm.TEXT, MIB_16, charset, collation);
      case "longtext" -> text(TextForm.TEXT, LONG, charset, collation);
      case "binary" -> new BinaryType(BinaryForm.BINARY, number(brackets, 1));
      case "varbinary" -> new BinaryType(BinaryForm.VARBINARY, number(brackets, 0));
      case "tinyblob" -> new BinaryType(BinaryForm.BLOB, 255);
      case "blob" -> new BinaryType(BinaryForm.BLOB, KIB_64);
      case "mediumblob" -> new BinaryType(BinaryForm.BLOB, MIB_16);
      case "longblob" -> new BinaryType(BinaryForm.BLOB, LONG);
      case "json" -> new JsonType();
      case "enum" -> new MembersType(Kind.ENUM, SqlText.quoted(brackets));
      case "set" -> new MembersType(Kind.SET, SqlText.quoted(brackets));
      case "date" -> new DateType();
      case "datetime", "timestamp", "time" ->
          new FractionType(Kind.valueOf(name.toUpperCase(Locale.ROOT)), number(brackets, 0));
      default -> throw new UnmanageableException("column type " + columnType + " is not supported");
    };
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

  private static DecimalType decimal(String brackets, boolean unsigned) {
    List<String> parts = List.of(brackets.split(",", 2));
    return new DecimalType(
        number(parts.get(0), 10), parts.size() > 1 ? number(parts.get(1), 0) : 0, unsigned);
  }

  private static TextType text(
      TextType.TextForm form, long limit, @Nullable String charset, @Nullable String collation) {
    TextCharset known = charset == null ? null : TextCharset.ofName(charset);
    if (known == null) {
      throw new UnmanageableException(
          "character set %s is not supported: use utf8mb4".formatted(charset));
    }
    return new TextType(form, limit, known, collation);
  }

  private static int number(String text, int otherwise) {
    return text.isBlank() ? otherwise : Integer.parseInt(text.strip());
  }

  /** A column type that gameq cannot keep exactly; the message is the reason. */
  public static final class UnmanageableException extends GameQueueException {
    private static final long serialVersionUID = 1L;

    public UnmanageableException(String reason) {
      super(reason);
    }
  }

  /**
   * What ALTER TABLE ... ADD COLUMN puts into the rows that are there when the column is NOT NULL
   * and has no default: a row from before takes the same. Null for dates, which have none under a
   * strict sql_mode.
   */
  public static @Nullable Object impliedDefault(ColumnType type) {
    Object value =
        switch (type.kind()) {
          case INTEGER, UNSIGNED_LONG, BIT, DECIMAL, FLOAT, DOUBLE -> 0L;
          case TEXT, SET -> "";
          case JSON -> "null";
          case BINARY -> new byte[0];
          case ENUM -> ((MembersType) type).members().get(0);
          case TIME -> Duration.ZERO;
          case DATE, DATETIME, TIMESTAMP -> null;
        };
    return value == null ? null : type.canonical(value, "default");
  }

  /** The UUID; throws IllegalArgumentException when these are not 16 bytes. */
  public static UUID uuid(byte[] bytes) {
    if (bytes.length != TextTypes.UUID_BYTES) {
      throw new IllegalArgumentException("%s bytes are no UUID".formatted(bytes.length));
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new UUID(buffer.getLong(), buffer.getLong());
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
