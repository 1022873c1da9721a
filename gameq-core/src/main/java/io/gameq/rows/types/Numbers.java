package io.gameq.rows.types;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Reads Java numbers without losing a digit. Stateless. */
final class Numbers {
  /** More digits before the point than any integer column holds; a larger exponent costs memory. */
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
