package io.gameq.rows.types;

import io.gameq.NumberedEnum;
import io.gameq.rows.types.ColumnTypes.Refusal;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The types of columns that hold numbers. Stateless. */
final class NumberTypes {
  private NumberTypes() {}

  /**
   * TINYINT to BIGINT and YEAR, canonical as Long; immutable. BIGINT UNSIGNED does not fit a Long.
   */
  record IntegerType(long min, long max, boolean takesBoolean, boolean isYear)
      implements ColumnType {

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
  }

  /** BIGINT UNSIGNED, canonical as BigInteger; immutable. */
  record UnsignedLongType() implements ColumnType {
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

  /** BIT(bits), canonical as BigInteger; immutable. */
  record BitType(int bits) implements ColumnType {
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

  /** DECIMAL(precision, scale), canonical as BigDecimal of exactly that scale; immutable. */
  record DecimalType(int precision, int scale, boolean unsigned) implements ColumnType {
    @Override
    public Kind kind() {
      return Kind.DECIMAL;
    }

    @Override
    public Object canonical(Object in, String column) {
      BigDecimal value = decimal(in, column);
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

    private static BigDecimal decimal(Object in, String column) {
      if (in instanceof BigDecimal value) {
        return value;
      }
      BigInteger integral = Numbers.integral(in);
      if (integral == null) {
        throw Refusal.kind(column, in, "BigDecimal and integers");
      }
      return new BigDecimal(integral);
    }

    @Override
    public int maxKeyBytes() {
      return precision + 3;
    }
  }

  /** FLOAT, canonical as Float; immutable. A double that a float would round is refused. */
  record FloatType(boolean unsigned) implements ColumnType {
    /** Integers up to here are exact as a float. */
    private static final long MAX_EXACT = 1L << 24;

    @Override
    public Kind kind() {
      return Kind.FLOAT;
    }

    @Override
    public Object canonical(Object in, String column) {
      float value;
      if (in instanceof Float f) {
        value = f;
      } else if (in instanceof Double d) {
        value = d.floatValue();
        if (Double.compare(value, d) != 0) {
          throw Refusal.of(column, "a FLOAT would round the Double: put a Float, or use DOUBLE");
        }
      } else if (Numbers.isPrimitiveIntegral(in)) {
        long integral = ((Number) in).longValue();
        if (integral > MAX_EXACT || integral < -MAX_EXACT) {
          throw Refusal.range(column, "integers up to 2^24 exactly", in);
        }
        value = integral;
      } else {
        throw Refusal.kind(column, in, "Float");
      }
      if (!Float.isFinite(value)) {
        throw Refusal.of(column, "holds neither NaN nor an infinity");
      }
      if (unsigned && (value < 0 || Float.compare(value, -0.0f) == 0)) {
        throw Refusal.range(column, "no negative numbers", in);
      }
      return value;
    }

    @Override
    public @Nullable String keyProblem() {
      return "a floating-point key column: equality of such numbers is not to be relied on";
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
    public @Nullable String keyProblem() {
      return "a floating-point key column: equality of such numbers is not to be relied on";
    }
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
