package io.gameq.rows.types;

import io.gameq.rows.types.BinaryType.Form;
import java.util.List;
import java.util.Locale;
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
      case "bigint" -> unsigned ? new UnsignedLongType() : IntegerType.ofBytes(8, false);
      case "year" -> IntegerType.year();
      case "bit" -> new BitType(number(brackets, 1));
      case "decimal" -> decimal(brackets, unsigned);
      case "float" -> {
        checkNoDigits(columnType, brackets);
        yield new FloatType(unsigned);
      }
      case "double" -> {
        checkNoDigits(columnType, brackets);
        yield new DoubleType(unsigned);
      }
      case "char" -> text(TextType.Form.CHAR, number(brackets, 1), charset, collation);
      case "varchar" -> text(TextType.Form.VARCHAR, number(brackets, 0), charset, collation);
      case "tinytext" -> text(TextType.Form.TEXT, 255, charset, collation);
      case "text" -> text(TextType.Form.TEXT, KIB_64, charset, collation);
      case "mediumtext" -> text(TextType.Form.TEXT, MIB_16, charset, collation);
      case "longtext" -> text(TextType.Form.TEXT, LONG, charset, collation);
      case "binary" -> new BinaryType(Form.BINARY, number(brackets, 1));
      case "varbinary" -> new BinaryType(Form.VARBINARY, number(brackets, 0));
      case "tinyblob" -> new BinaryType(Form.BLOB, 255);
      case "blob" -> new BinaryType(Form.BLOB, KIB_64);
      case "mediumblob" -> new BinaryType(Form.BLOB, MIB_16);
      case "longblob" -> new BinaryType(Form.BLOB, LONG);
      case "json" -> new JsonType();
      case "enum" -> new EnumType(SqlText.quoted(brackets));
      case "set" -> new SetType(SqlText.quoted(brackets));
      case "date" -> new DateType();
      case "datetime" -> new DateTimeType(number(brackets, 0));
      case "timestamp" -> new TimestampType(number(brackets, 0));
      case "time" -> new TimeType(number(brackets, 0));
      default -> throw new UnmanageableException("column type " + columnType + " is not supported");
    };
  }

  /**
   * What {@link io.gameq.rows.Column#declaration} holds: COLUMN_TYPE, and the character set of
   * text.
   */
  public static String declaration(String columnType, @Nullable String charset) {
    if (charset == null || TextCharset.ofName(charset) == null) {
      return columnType;
    }
    // MySQL 8.0 renamed utf8; the rows did not change.
    return columnType + " " + (charset.equals("utf8") ? "utf8mb3" : charset);
  }

  private static DecimalType decimal(String brackets, boolean unsigned) {
    List<String> parts = List.of(brackets.split(",", 2));
    return new DecimalType(
        number(parts.get(0), 10), parts.size() > 1 ? number(parts.get(1), 0) : 0, unsigned);
  }

  private static TextType text(
      TextType.Form form, long limit, @Nullable String charset, @Nullable String collation) {
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

  private static void checkNoDigits(String columnType, String brackets) {
    if (!brackets.isEmpty()) {
      throw new UnmanageableException(
          columnType + " rounds what it stores: use DECIMAL, or drop the digits in brackets");
    }
  }
}
