package io.gameq.rows.types;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.rows.types.BinaryType.Form;
import io.gameq.rows.types.IntegerType.Numbers;
import java.io.IOException;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

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

  /** A column type that gameq cannot keep exactly; the message is the reason. */
  public static final class UnmanageableException extends GameQueueException {
    private static final long serialVersionUID = 1L;

    public UnmanageableException(String reason) {
      super(reason);
    }
  }

  /** BIGINT UNSIGNED, canonical as BigInteger; immutable. */
  record UnsignedLongType() implements BigIntegerType {
    @Override
    public Kind kind() {
      return Kind.UNSIGNED_LONG;
    }

    @Override
    public Object canonical(Object in, String column) {
      BigInteger value = Numbers.integral(in);
      if (value == null) {
        throw Refusal.kind(column, in, "integers");
      }
      if (value.signum() < 0 || value.bitLength() > 64) {
        throw Refusal.range(column, "0 to 2^64-1", in);
      }
      return value;
    }
  }

  /** MySQL's JSON, canonical as the text that MySQL prints; immutable. */
  record JsonType() implements StringType {
    @Override
    public Kind kind() {
      return Kind.JSON;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!(in instanceof String text)) {
        throw Refusal.kind(column, in, "String");
      }
      return JsonText.canonical(text, column);
    }

    @Override
    public @Nullable String keyProblem() {
      return "a JSON key column";
    }
  }

  /** A type whose canonical value is a BigInteger, with its decimal digits as key text. */
  sealed interface BigIntegerType extends ColumnType permits UnsignedLongType, BitType {
    @Override
    default void pack(MessagePacker out, Object canonical) throws IOException {
      out.packBigInteger((BigInteger) canonical);
    }

    @Override
    default Object unpack(MessageUnpacker in) throws IOException {
      return in.unpackBigInteger();
    }

    @Override
    default String keyText(Object canonical, String column) {
      return canonical.toString();
    }

    @Override
    default Object ofKeyText(String text) {
      return new BigInteger(text);
    }
  }

  /** ENUM, canonical as String: exactly one of the members; immutable. */
  record EnumType(Set<String> members) implements StringType {
    EnumType(List<String> members) {
      this(new LinkedHashSet<>(members));
    }

    @Override
    public Kind kind() {
      return Kind.ENUM;
    }

    @Override
    public Object canonical(Object in, String column) {
      String text = StringType.text(in, column);
      if (!members.contains(text)) {
        throw Refusal.of(
            column,
            "text of %s characters is none of the %s members, letter case included"
                .formatted(text.length(), members.size()));
      }
      return text;
    }

    @Override
    public int maxKeyBytes() {
      return members.stream().mapToInt(m -> 12 * m.length()).max().orElse(0);
    }
  }

  /** BIT(bits), canonical as BigInteger; immutable. */
  record BitType(int bits) implements BigIntegerType {
    @Override
    public Kind kind() {
      return Kind.BIT;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (in instanceof Boolean flag) {
        return flag ? BigInteger.ONE : BigInteger.ZERO;
      }
      BigInteger value = Numbers.integral(in);
      if (value == null) {
        throw Refusal.kind(column, in, "integers and booleans");
      }
      if (value.signum() < 0 || value.bitLength() > bits) {
        throw Refusal.range(column, "0 to 2^%s-1".formatted(bits), in);
      }
      return value;
    }

    @Override
    public @Nullable String keyProblem() {
      // MySQL compares a BIT with the bytes that a driver sends as if both were floating-point.
      return "a BIT key column: use an unsigned integer";
    }
  }

  /** A type whose canonical value is a String, which is its key text too. */
  sealed interface StringType extends ColumnType permits TextType, JsonType, EnumType, SetType {
    /**
     * The text that is put, or the name of the Java constant that is.
     *
     * @throws io.gameq.RowRefusedException when it is something else
     */
    static String text(Object in, String column) {
      if (in instanceof String text) {
        return text;
      }
      if (in instanceof Enum<?> constant) {
        return constant.name();
      }
      throw Refusal.kind(column, in, "String and enum constants");
    }

    @Override
    default void pack(MessagePacker out, Object canonical) throws IOException {
      out.packString((String) canonical);
    }

    @Override
    default Object unpack(MessageUnpacker in) throws IOException {
      return in.unpackString();
    }

    @Override
    default String keyText(Object canonical, String column) {
      return (String) canonical;
    }

    @Override
    default Object ofKeyText(String text) {
      return text;
    }
  }

  /**
   * Words every refusal of a value the same way: the column, the limit, never the value. Stateless.
   */
  public static final class Refusal {
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

  /** DATE, canonical as LocalDate; immutable. */
  record DateType() implements ColumnType {
    @Override
    public Kind kind() {
      return Kind.DATE;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!(in instanceof LocalDate date)) {
        throw Refusal.kind(column, in, "LocalDate");
      }
      if (date.getYear() < 1 || date.getYear() > 9999) {
        throw Refusal.range(column, "0001-01-01 to 9999-12-31", in);
      }
      return date;
    }

    @Override
    public void pack(MessagePacker out, Object canonical) throws IOException {
      out.packLong(((LocalDate) canonical).toEpochDay());
    }

    @Override
    public Object unpack(MessageUnpacker in) throws IOException {
      return LocalDate.ofEpochDay(in.unpackLong());
    }

    @Override
    public String keyText(Object canonical, String column) {
      return canonical.toString();
    }

    @Override
    public Object ofKeyText(String text) {
      return LocalDate.parse(text);
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

  /** DOUBLE, canonical as Double; immutable. */
  record DoubleType(boolean unsigned) implements ColumnType {
    /** Integers up to here are exact as a double. */
    private static final long MAX_EXACT = 1L << 53;

    @Override
    public Kind kind() {
      return Kind.DOUBLE;
    }

    @Override
    public Object canonical(Object in, String column) {
      double value;
      if (in instanceof Double || in instanceof Float) {
        value = ((Number) in).doubleValue();
      } else if (Numbers.isPrimitiveIntegral(in)) {
        long integral = ((Number) in).longValue();
        if (integral > MAX_EXACT || integral < -MAX_EXACT) {
          throw Refusal.range(column, "integers up to 2^53 exactly", in);
        }
        value = integral;
      } else {
        throw Refusal.kind(column, in, "Double and Float");
      }
      if (!Double.isFinite(value)) {
        throw Refusal.of(column, "holds neither NaN nor an infinity");
      }
      if (unsigned && (value < 0 || Double.compare(value, -0.0) == 0)) {
        throw Refusal.range(column, "no negative numbers", in);
      }
      return value;
    }

    @Override
    public void pack(MessagePacker out, Object canonical) throws IOException {
      out.packDouble((Double) canonical);
    }

    @Override
    public Object unpack(MessageUnpacker in) throws IOException {
      return in.unpackDouble();
    }

    @Override
    public @Nullable String keyProblem() {
      return "a floating-point key column: equality of such numbers is not to be relied on";
    }
  }

  /** DATETIME(digits), which has no zone, canonical as LocalDateTime; immutable. */
  record DateTimeType(int digits) implements ColumnType {
    @Override
    public Kind kind() {
      return Kind.DATETIME;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!(in instanceof LocalDateTime time)) {
        throw Refusal.kind(column, in, "LocalDateTime (Instant goes with TIMESTAMP)");
      }
      if (time.getYear() < 1 || time.getYear() > 9999) {
        throw Refusal.range(column, "0001-01-01T00:00 to the end of 9999", in);
      }
      return time.withNano(Micros.truncate(time.get(ChronoField.NANO_OF_SECOND), digits));
    }

    @Override
    public Object canonicalExactly(Object in, String column) {
      if (in instanceof LocalDateTime time) {
        Micros.checkFraction(time.get(ChronoField.NANO_OF_SECOND), digits, column);
      }
      return canonical(in, column);
    }

    @Override
    public void pack(MessagePacker out, Object canonical) throws IOException {
      Instant time = ((LocalDateTime) canonical).toInstant(ZoneOffset.UTC);
      out.packLong(Micros.of(time.getEpochSecond(), time.get(ChronoField.NANO_OF_SECOND)));
    }

    @Override
    public Object unpack(MessageUnpacker in) throws IOException {
      long micros = in.unpackLong();
      return LocalDateTime.ofEpochSecond(
          Micros.seconds(micros), Micros.nanos(micros), ZoneOffset.UTC);
    }

    @Override
    public String keyText(Object canonical, String column) {
      return canonical.toString();
    }

    @Override
    public Object ofKeyText(String text) {
      return LocalDateTime.parse(text);
    }
  }

  /**
   * SET, canonical as String: members comma-separated in the order of their definition; immutable.
   */
  record SetType(List<String> members) implements StringType {
    @Override
    public Kind kind() {
      return Kind.SET;
    }

    @Override
    public Object canonical(Object in, String column) {
      Collection<?> given;
      if (in instanceof Collection<?> collection) {
        given = collection;
      } else if (in instanceof String text) {
        given = text.isEmpty() ? List.of() : Arrays.asList(text.split(",", -1));
      } else {
        throw Refusal.kind(column, in, "String and collections of String or enum constants");
      }
      long chosen = 0;
      for (Object element : given) {
        String member =
            element instanceof Enum<?> constant ? constant.name() : (String) text(element, column);
        int index = members.indexOf(member);
        if (index < 0) {
          throw Refusal.of(
              column,
              "a text of %s characters is none of the %s members, letter case included"
                  .formatted(member.length(), members.size()));
        }
        chosen |= 1L << index;
      }
      return joined(chosen);
    }

    private static Object text(Object element, String column) {
      if (element instanceof String) {
        return element;
      }
      throw Refusal.of(column, "takes a collection of String or enum constants only");
    }

    private String joined(long chosen) {
      StringBuilder out = new StringBuilder();
      for (int i = 0; i < members.size(); i++) {
        if ((chosen & 1L << i) != 0) {
          out.append(out.isEmpty() ? "" : ",").append(members.get(i));
        }
      }
      return out.toString();
    }

    @Override
    public int maxKeyBytes() {
      return members.stream().mapToInt(m -> 12 * m.length() + 3).sum();
    }
  }
}
