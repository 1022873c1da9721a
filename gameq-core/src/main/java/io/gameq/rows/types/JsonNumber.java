package io.gameq.rows.types;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Prints a number of a JSON text as MySQL does after storing it: integers of 64 bits exactly,
 * everything else as the shortest text of its double. Stateless.
 */
final class JsonNumber {
  private static final BigInteger MIN_LONG = BigInteger.valueOf(Long.MIN_VALUE);

  /** Digits before the point, and zeros after it, that MySQL writes out before it takes to 'e'. */
  private static final int MAX_PLAIN_DIGITS = 15;

  /** Enough decimal digits for every double. */
  private static final int MAX_DOUBLE_DIGITS = 17;

  /** Longer integers lie outside of 64 bits in any case. */
  private static final int MAX_LONG_CHARACTERS = 20;

  private JsonNumber() {}

  static String canonical(String text, String column) {
    boolean integer = text.indexOf('.') < 0 && text.indexOf('e') < 0 && text.indexOf('E') < 0;
    if (integer && text.length() <= MAX_LONG_CHARACTERS) {
      BigInteger value = new BigInteger(text);
      if (value.signum() < 0 ? value.compareTo(MIN_LONG) >= 0 : value.bitLength() <= 64) {
        return value.toString();
      }
    }
    double value = Double.parseDouble(text);
    if (Double.isInfinite(value)) {
      throw Refusal.of(column, "JSON with a number beyond the range of a double");
    }
    return ofDouble(value);
  }

  private static String ofDouble(double value) {
    if (value == 0) {
      return Double.compare(value, 0.0) == 0 ? "0.0" : "-0.0";
    }
    BigDecimal shortest = shortest(Math.abs(value));
    String digits = shortest.unscaledValue().toString();
    // The value is 0.DIGITS times ten to the power of 'point'.
    int point = digits.length() - shortest.scale();
    StringBuilder out = new StringBuilder(value < 0 ? "-" : "");
    boolean endsInZeros = point >= digits.length();
    if ((point > MAX_PLAIN_DIGITS && endsInZeros) || point < 1 - MAX_PLAIN_DIGITS) {
      out.append(digits.charAt(0));
      if (digits.length() > 1) {
        out.append('.').append(digits, 1, digits.length());
      }
      return out.append('e').append(point - 1).toString();
    }
    if (point <= 0) {
      return out.append("0.").append("0".repeat(-point)).append(digits).toString();
    }
    if (endsInZeros) {
      return out.append(digits).append("0".repeat(point - digits.length())).append(".0").toString();
    }
    return out.append(digits, 0, point)
        .append('.')
        .append(digits, point, digits.length())
        .toString();
  }

  /** The fewest digits that still read as this double; Double.toString gives more before JDK 19. */
  private static BigDecimal shortest(double value) {
    BigDecimal exact = new BigDecimal(value);
    for (int digits = 1; digits < MAX_DOUBLE_DIGITS; digits++) {
      BigDecimal rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
      if (rounded.doubleValue() == value) {
        return rounded.stripTrailingZeros();
      }
    }
    return exact
        .round(new MathContext(MAX_DOUBLE_DIGITS, RoundingMode.HALF_EVEN))
        .stripTrailingZeros();
  }
}
