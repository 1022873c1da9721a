package io.gameq.rows.types;

import io.gameq.NumberedEnum;
import io.gameq.rows.types.ColumnTypes.Refusal;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/**
 * TINYINT to BIGINT and YEAR, canonical as Long; immutable. BIGINT UNSIGNED does not fit a Long.
 */
record IntegerType(long min, long max, boolean takesBoolean, boolean isYear) implements ColumnType {

  /** The type of {@code bytes} bytes. */
  static IntegerType ofBytes(int bytes, boolean unsigned) {
    long half = 1L << (8 * bytes - 1);
    // For eight bytes, half is Long.MIN_VALUE: -half and half - 1 wrap to the very limits.
    return unsigned
        ? new IntegerType(0, 2 * half - 1, bytes == 1, false)
        : new IntegerType(bytes == 8 ? half : -half, half - 1, bytes == 1, false);
  }

  static IntegerType year() {
    return new IntegerType(1901, 2155, false, true);
  }

  @Override
  public Kind kind() {
    return Kind.INTEGER;
  }

  @Override
  public Object canonical(Object in, String column) {
    if (in instanceof Long value) {
      return inRange(value, in, column);
    }
    if (Numbers.isPrimitiveIntegral(in)) {
      return inRange(((Number) in).longValue(), in, column);
    }
    if (takesBoolean && in instanceof Boolean flag) {
      return flag ? 1L : 0L;
    }
    if (in instanceof NumberedEnum constant) {
      return inRange(constant.number(), in, column);
    }
    BigInteger integral = Numbers.integral(in);
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

  private RuntimeException outOfRange(Object in, String column) {
    return Refusal.range(column, (isYear ? "0 and " : "") + min + " to " + max, in);
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    out.packLong((Long) canonical);
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    return in.unpackLong();
  }

  @Override
  public String keyText(Object canonical, String column) {
    return Long.toString((Long) canonical);
  }

  /** Without a text of its own: nearly every key has one of these. */
  @Override
  public void appendKeyText(StringBuilder to, Object canonical, String column) {
    to.append((long) (Long) canonical);
  }

  @Override
  public Object ofKeyText(String text) {
    return Long.parseLong(text);
  }

  /** Reads Java numbers without losing a digit. Stateless. */
  static final class Numbers {
    /**
     * More digits before the point than any integer column holds; a larger exponent costs memory.
     */
    private static final int MAX_INTEGER_DIGITS = 40;

    private Numbers() {}

    static boolean isPrimitiveIntegral(Object in) {
      return in instanceof Long
          || in instanceof Integer
          || in instanceof Short
          || in instanceof Byte
          || in instanceof AtomicInteger
          || in instanceof AtomicLong;
    }

    /** The value as an integer, or null when it is no number, or one with a fraction. */
    static @Nullable BigInteger integral(Object in) {
      if (isPrimitiveIntegral(in)) {
        return BigInteger.valueOf(((Number) in).longValue());
      }
      if (in instanceof BigInteger big) {
        return big;
      }
      if (in instanceof BigDecimal decimal) {
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
      return null;
    }
  }
}
