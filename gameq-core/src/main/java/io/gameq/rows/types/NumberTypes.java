package io.gameq.rows.types;

import io.gameq.NumberedEnum;
import io.gameq.RowRefusedException;
import io.gameq.rows.types.ColumnType.Refusal;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The types of columns that hold numbers. Stateless. */
final class NumberTypes {
  /** More digits before the point than any integer column holds; a larger exponent costs memory. */
  private static final int MAX_INTEGER_DIGITS = 40;

  private NumberTypes() {}

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
    public Kind kind() {
      return Kind.INTEGER;
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
  record BitsType(Kind kind, int bits) implements ColumnType {
    @Override
    public Object canonical(Object in, String column) {
      boolean takesBoolean = kind == Kind.BIT;
      if (takesBoolean && in instanceof Boolean flag) {
        return flag ? BigInteger.ONE : BigInteger.ZERO;
      }
      BigInteger value = integral(in);
      if (value == null) {
        throw Refusal.kind(column, in, takesBoolean ? "integers and booleans" : "integers");
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
    public Kind kind() {
      return Kind.DECIMAL;
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
  record FloatingType(Kind kind, boolean unsigned) implements ColumnType {
    @Override
    public Object canonical(Object in, String column) {
      boolean isFloat = kind == Kind.FLOAT;
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
