package io.gameq.rows.types;

import io.gameq.NumberedEnum;
import io.gameq.RowRefusedException;
import io.gameq.rows.types.ColumnType.Codec;
import io.gameq.rows.types.ColumnType.Jdbc;
import io.gameq.rows.types.ColumnType.Refusal;
import io.gameq.rows.types.ColumnTypes.Declaration;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** The types of columns that hold numbers. Stateless. */
final class NumberTypes {
  /** More digits before the point than any integer column holds; a larger exponent costs memory. */
  private static final int MAX_INTEGER_DIGITS = 40;

  /** DECIMAL has 65 digits; reading a number takes time that grows faster than its length. */
  private static final int MOST_NUMBER_CHARS = 100;

  private static final String WHOLE_HINT = "a whole number";
  private static final String HINT = "a number";

  private static final Codec<Long> LONG =
      new Codec<>(
          Long.class,
          MessagePacker::packLong,
          MessageUnpacker::unpackLong,
          Long::parseLong,
          WHOLE_HINT,
          NumberTypes::whole,
          0L,
          Jdbc.plain(Long.class));

  private static final Codec<BigInteger> UNSIGNED_LONG =
      bigInteger(
          new Jdbc(
              "%s",
              "?",
              String.class,
              NumberTypes::unsignedParameter,
              value -> new BigInteger((String) value)));

  /**
   * A BIT travels as a number: MySQL 9 takes its bytes for text when the statement has a row alias,
   * and refuses them. As text: MySQL casts a number above 2^63 by way of a signed one.
   */
  private static final Codec<BigInteger> BIT =
      bigInteger(
          new Jdbc(
              "CAST(%s AS UNSIGNED)",
              "CAST(CAST(? AS CHAR) AS UNSIGNED)",
              String.class,
              Object::toString,
              value -> new BigInteger((String) value)));

  private static final Codec<BigDecimal> DECIMAL =
      new Codec<>(
          BigDecimal.class,
          (out, value) -> out.packString(value.toPlainString()),
          in -> new BigDecimal(in.unpackString()),
          BigDecimal::new,
          HINT,
          text -> new BigDecimal(limited(text)),
          0L,
          Jdbc.plain(BigDecimal.class));

  private static final Codec<Float> FLOAT =
      new Codec<>(
          Float.class,
          MessagePacker::packFloat,
          MessageUnpacker::unpackFloat,
          Float::valueOf,
          HINT,
          text -> Float.valueOf(limited(text)),
          0L,
          floating(value -> ((Double) value).floatValue()));

  private static final Codec<Double> DOUBLE =
      new Codec<>(
          Double.class,
          MessagePacker::packDouble,
          MessageUnpacker::unpackDouble,
          Double::valueOf,
          HINT,
          text -> Double.valueOf(limited(text)),
          0L,
          floating(value -> value));

  /** How a whole number becomes a component of a record, by the component's class. */
  private static final Map<Class<?>, Function<Object, Object>> READERS =
      Map.of(
          Long.class, value -> value instanceof Long ? value : decimal(value).longValueExact(),
          Integer.class, value -> decimal(value).intValueExact(),
          Short.class, value -> decimal(value).shortValueExact(),
          Byte.class, value -> decimal(value).byteValueExact(),
          BigInteger.class, value -> decimal(value).toBigIntegerExact(),
          BigDecimal.class, NumberTypes::decimal,
          Boolean.class, value -> decimal(value).signum() != 0);

  private NumberTypes() {}

  /** The type of a declaration; null when it holds no numbers. */
  static @Nullable ColumnType of(Declaration of) {
    return switch (of.name()) {
      case "tinyint" -> IntegerType.ofBytes(1, of.unsigned());
      case "smallint" -> IntegerType.ofBytes(2, of.unsigned());
      case "mediumint" -> IntegerType.ofBytes(3, of.unsigned());
      case "int" -> IntegerType.ofBytes(4, of.unsigned());
      case "bigint" ->
          of.unsigned() ? new BitsType(UNSIGNED_LONG, 64) : IntegerType.ofBytes(8, false);
      case "year" -> IntegerType.YEAR;
      case "bit" -> new BitsType(BIT, of.number(0, 1));
      case "decimal" -> new DecimalType(of.number(0, 10), of.number(1, 0), of.unsigned());
      case "float", "double" -> {
        if (!of.brackets().isEmpty()) {
          throw new UnmanageableException(
              of.columnType()
                  + " rounds what it stores: use DECIMAL, or drop the digits in brackets");
        }
        yield new FloatingType(of.name().equals("float") ? FLOAT : DOUBLE, of.unsigned());
      }
      default -> null;
    };
  }

  private static Codec<BigInteger> bigInteger(Jdbc jdbc) {
    return new Codec<>(
        BigInteger.class,
        MessagePacker::packBigInteger,
        MessageUnpacker::unpackBigInteger,
        BigInteger::new,
        WHOLE_HINT,
        NumberTypes::whole,
        0L,
        jdbc);
  }

  /** As a decimal: a BigInteger would travel as text, which MySQL compares as a double. */
  private static Object unsignedParameter(Object canonical) {
    BigInteger value = (BigInteger) canonical;
    return value.bitLength() < Long.SIZE ? (Object) value.longValue() : new BigDecimal(value);
  }

  /**
   * Selected multiplied by one, since MySQL prints a FLOAT with six digits; not added to zero: -0.0
   * + 0 is 0. A parameter is text, since the driver writes -0.0 as the decimal 0; of a float by way
   * of double: the shortest text of the largest float is larger than that float.
   */
  private static Jdbc floating(Function<Object, Object> ofResult) {
    return new Jdbc(
        "%s * 1e0",
        "?", Double.class, value -> Double.toString(((Number) value).doubleValue()), ofResult);
  }

  private static Object whole(String text) {
    String of = limited(text);
    return of.equals("true") || of.equals("false") ? Boolean.valueOf(of) : new BigInteger(of);
  }

  private static String limited(String text) {
    String number = text.strip();
    if (number.length() > MOST_NUMBER_CHARS) {
      throw new NumberFormatException("too long");
    }
    return number;
  }

  private static BigDecimal decimal(Object canonical) {
    if (canonical instanceof BigDecimal decimal) {
      return decimal;
    }
    return canonical instanceof BigInteger big
        ? new BigDecimal(big)
        : BigDecimal.valueOf((Long) canonical);
  }

  private static boolean isPrimitiveIntegral(Object in) {
    return in instanceof Long
        || in instanceof Integer
        || in instanceof Short
        || in instanceof Byte
        || in instanceof AtomicInteger
        || in instanceof AtomicLong;
  }

  /** The value as an integer, or null when it is no number, or one with a fraction. */
  private static @Nullable BigInteger integral(Object in) {
    if (isPrimitiveIntegral(in)) {
      return BigInteger.valueOf(((Number) in).longValue());
    }
    if (in instanceof BigInteger big) {
      return big;
    }
    if (!(in instanceof BigDecimal decimal)) {
      return null;
    }
    if (decimal.signum() == 0) {
      return BigInteger.ZERO;
    }
    long integerDigits = (long) decimal.precision() - decimal.scale();
    if (integerDigits > MAX_INTEGER_DIGITS || integerDigits <= 0) {
      return null;
    }
    BigDecimal stripped = decimal.stripTrailingZeros();
    return stripped.scale() <= 0 ? stripped.toBigIntegerExact() : null;
  }

  /**
   * TINYINT to BIGINT and YEAR, canonical as Long; immutable. BIGINT UNSIGNED does not fit a Long.
   */
  record IntegerType(long min, long max, boolean takesBoolean, boolean isYear)
      implements ColumnType {
    static final IntegerType YEAR = new IntegerType(1901, 2155, false, true);

    /** The type of {@code bytes} bytes. */
    static IntegerType ofBytes(int bytes, boolean unsigned) {
      long half = 1L << (8 * bytes - 1);
      // For eight bytes, half is Long.MIN_VALUE: -half and half - 1 wrap to the very limits.
      return unsigned
          ? new IntegerType(0, 2 * half - 1, bytes == 1, false)
          : new IntegerType(bytes == 8 ? half : -half, half - 1, bytes == 1, false);
    }

    @Override
    public Codec<?> codec() {
      return LONG;
    }

    @Override
    public boolean isInteger() {
      return true;
    }

    @Override
    public @Nullable Function<Object, Object> reader(Type component) {
      return component instanceof Class<?> of
              && of.isEnum()
              && NumberedEnum.class.isAssignableFrom(of)
          ? TextTypes.constants(of, constant -> (long) ((NumberedEnum) constant).number())
          : READERS.get(component);
    }

    @Override
    public Object ofDefault(String text, boolean mariaDb) {
      return new BigDecimal(text);
    }

    @Override
    public Object canonical(Object in, String column) {
      if (isPrimitiveIntegral(in)) {
        return inRange(((Number) in).longValue(), in, column);
      }
      if (takesBoolean && in instanceof Boolean flag) {
        return flag ? 1L : 0L;
      }
      if (in instanceof NumberedEnum constant) {
        return inRange(constant.number(), in, column);
      }
      BigInteger integral = integral(in);
      if (integral == null) {
        throw Refusal.kind(
            column, in, "integers, NumberedEnum" + (takesBoolean ? " and booleans" : ""));
      }
      if (integral.bitLength() > 63) {
        throw outOfRange(in, column);
      }
      return inRange(integral.longValue(), in, column);
    }

    private Long inRange(long value, Object in, String column) {
      if ((value < min || value > max) && !(isYear && value == 0)) {
        throw outOfRange(in, column);
      }
      return value;
    }

    private RowRefusedException outOfRange(Object in, String column) {
      return Refusal.range(column, (isYear ? "0 and " : "") + min + " to " + max, in);
    }
  }

  /** BIGINT UNSIGNED and BIT(bits), canonical as BigInteger; immutable. */
  record BitsType(Codec<BigInteger> codec, int bits) implements ColumnType {
    private static final Pattern LITERAL = Pattern.compile("b'([01]*)'");

    private boolean isBit() {
      return codec.equals(BIT);
    }

    @Override
    public boolean isInteger() {
      return !isBit();
    }

    @Override
    public @Nullable Function<Object, Object> reader(Type component) {
      return READERS.get(component);
    }

    @Override
    public @Nullable String keyProblem() {
      // MySQL compares a BIT with the bytes that a driver sends as if both were floating-point.
      return isBit() ? "a BIT key column: use an unsigned integer" : null;
    }

    @Override
    public @Nullable Object ofDefault(String text, boolean mariaDb) {
      if (!isBit()) {
        return new BigDecimal(text);
      }
      Matcher literal = LITERAL.matcher(text);
      return literal.matches() ? new BigInteger("0" + literal.group(1), 2) : null;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (isBit() && in instanceof Boolean flag) {
        return flag ? BigInteger.ONE : BigInteger.ZERO;
      }
      BigInteger value = integral(in);
      if (value == null) {
        throw Refusal.kind(column, in, isBit() ? "integers and booleans" : "integers");
      }
      if (value.signum() < 0 || value.bitLength() > bits) {
        throw Refusal.range(column, "0 to 2^%s-1".formatted(bits), in);
      }
      return value;
    }
  }

  /** DECIMAL(precision, scale), canonical as BigDecimal of exactly that scale; immutable. */
  record DecimalType(int precision, int scale, boolean unsigned) implements ColumnType {
    @Override
    public Codec<?> codec() {
      return DECIMAL;
    }

    @Override
    public @Nullable Function<Object, Object> reader(Type component) {
      return component == Boolean.class ? null : READERS.get(component);
    }

    @Override
    public Object canonical(Object in, String column) {
      BigInteger integral = in instanceof BigDecimal ? null : integral(in);
      if (integral == null && !(in instanceof BigDecimal)) {
        throw Refusal.kind(column, in, "BigDecimal and integers");
      }
      BigDecimal value = integral == null ? (BigDecimal) in : new BigDecimal(integral);
      if (value.signum() == 0) {
        return BigDecimal.ZERO.setScale(scale);
      }
      if (unsigned && value.signum() < 0) {
        throw Refusal.range(column, "no negative numbers", in);
      }
      if (value.scale() > scale) {
        value = value.stripTrailingZeros();
        if (value.scale() > scale) {
          throw Refusal.of(column, "keeps %s fraction digits, the value has more".formatted(scale));
        }
      }
      // Before setScale: widening a number like 1E+1000000000 would take all memory.
      if ((long) value.precision() - value.scale() > precision - scale) {
        throw Refusal.range(column, "%s digits before the point".formatted(precision - scale), in);
      }
      return value.setScale(scale);
    }

    @Override
    public int maxKeyBytes() {
      return precision + 3;
    }
  }

  /**
   * FLOAT, canonical as Float, and DOUBLE, canonical as Double; immutable. A double that a float
   * would round is refused.
   */
  record FloatingType(Codec<?> codec, boolean unsigned) implements ColumnType {
    @Override
    public @Nullable Function<Object, Object> reader(Type component) {
      return component == Double.class
          ? value -> ((Number) value).doubleValue()
          : component == Float.class ? FloatingType::single : null;
    }

    private static Object single(Object value) {
      Number number = (Number) value;
      if (Double.compare(number.floatValue(), number.doubleValue()) != 0) {
        throw new ArithmeticException("a float would round it");
      }
      return number.floatValue();
    }

    @Override
    public String keyProblem() {
      return "a floating-point key column: equality of such numbers is not to be relied on";
    }

    @Override
    public Object canonical(Object in, String column) {
      boolean isFloat = valueClass() == Float.class;
      int exactBits = isFloat ? 24 : 53; // integers up to two to that power are exact
      if (!(in instanceof Double) && !(in instanceof Float) && !isPrimitiveIntegral(in)) {
        throw Refusal.kind(column, in, isFloat ? "Float" : "Double and Float");
      }
      double value = ((Number) in).doubleValue();
      long integral = isPrimitiveIntegral(in) ? ((Number) in).longValue() : 0;
      if (integral > 1L << exactBits || integral < -(1L << exactBits)) {
        throw Refusal.range(column, "integers up to 2^%s exactly".formatted(exactBits), in);
      }
      if (isFloat && Double.compare((float) value, value) != 0) {
        throw Refusal.of(column, "a FLOAT would round the Double: put a Float, or use DOUBLE");
      }
      if (!Double.isFinite(value)) {
        throw Refusal.of(column, "holds neither NaN nor an infinity");
      }
      if (unsigned && (value < 0 || Double.compare(value, -0.0) == 0)) {
        throw Refusal.range(column, "no negative numbers", in);
      }
      return isFloat ? (Object) (float) value : (Object) value;
    }
  }
}
