package io.gameq.rows.types;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.CharTypes;
import io.gameq.rows.types.ColumnType.Refusal;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites a JSON text the way MySQL prints it after storing it: keys by UTF-8 length, then bytes,
 * the last of equal keys, one space after ',' and ':', numbers as {@link JsonNumber} says.
 * Stateless.
 */
final class JsonText {
  /** Deeper documents are an error in MySQL. */
  private static final int MAX_DEPTH = 100;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  // One more, so that the refusal below and its words come first.
                  .maxNestingDepth(MAX_DEPTH + 1)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  /** Of each ASCII character: 0, what follows the backslash, or -1 for its number. */
  private static final int[] ESCAPES = CharTypes.get7BitOutputEscapes();

  /** A shorter key first, keys of one length by their UTF-8 bytes. */
  private static final Comparator<byte[]> KEY_ORDER =
      Comparator.comparingInt((byte[] key) -> key.length).thenComparing(Arrays::compareUnsigned);

  private final JsonParser parser;
  private final String column;
  private final CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();

  private JsonText(JsonParser parser, String column) {
    this.parser = parser;
    this.column = column;
  }

  /**
   * The text as MySQL prints it.
   *
   * @throws io.gameq.RowRefusedException when MySQL would not take it as JSON
   */
  static String canonical(String text, String column) {
    try (JsonParser parser = FACTORY.createParser(text)) {
      JsonText json = new JsonText(parser, column);
      StringBuilder out = new StringBuilder(text.length() + 16);
      json.value(parser.nextToken(), 0, out);
      if (parser.nextToken() != null) {
        throw json.refused();
      }
      return out.toString();
    } catch (IOException e) {
      // Without the cause: Jackson's messages quote the document.
      throw Refusal.of(
          column,
          ("String of %s characters is not JSON that MySQL takes (valid, %s levels deep at"
                  + " most)")
              .formatted(text.length(), MAX_DEPTH));
    }
  }

  private RuntimeException refused() {
    return Refusal.of(
        column, "not JSON near character " + parser.currentLocation().getCharOffset());
  }

  private void value(@Nullable JsonToken token, int depth, StringBuilder out) throws IOException {
    if (token == null) {
      throw refused();
    }
    switch (token) {
      case START_OBJECT -> object(deeper(depth), out);
      case START_ARRAY -> array(deeper(depth), out);
      case VALUE_STRING -> string(parser.getText(), out);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          out.append(JsonNumber.canonical(parser.getText(), column));
      case VALUE_TRUE, VALUE_FALSE, VALUE_NULL -> out.append(parser.getText());
      default -> throw refused();
    }
  }

  private int deeper(int depth) {
    if (depth == MAX_DEPTH) {
      throw Refusal.of(column, "JSON deeper than %s levels".formatted(MAX_DEPTH));
    }
    return depth + 1;
  }

  private void array(int depth, StringBuilder out) throws IOException {
    out.append('[');
    String separator = "";
    for (JsonToken token = parser.nextToken();
        token != JsonToken.END_ARRAY;
        token = parser.nextToken()) {
      out.append(separator);
      value(token, depth, out);
      separator = ", ";
    }
    out.append(']');
  }

  private void object(int depth, StringBuilder out) throws IOException {
    Map<byte[], String> members = new TreeMap<>(KEY_ORDER);
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String key = parser.currentName();
      StringBuilder member = new StringBuilder();
      string(key, member);
      member.append(": ");
      value(parser.nextToken(), depth, member);
      members.put(key.getBytes(StandardCharsets.UTF_8), member.toString());
    }
    out.append('{').append(String.join(", ", members.values())).append('}');
  }

  private void string(String text, StringBuilder out) {
    if (!utf8.canEncode(text)) {
      throw Refusal.of(column, "JSON with a lone surrogate in a string");
    }
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      int escape = c < ESCAPES.length ? ESCAPES[c] : 0;
      if (escape == 0) {
        out.append(c);
      } else if (escape > 0) {
        out.append('\\').append((char) escape);
      } else {
        out.append("\\u").append(HexFormat.of().toHexDigits(c));
      }
    }
    out.append('"');
  }

  /**
   * Prints a number of a JSON text as MySQL does after storing it: integers of 64 bits exactly,
   * everything else as the shortest text of its double. Stateless.
   */
  static final class JsonNumber {
    private static final BigInteger MIN_LONG = BigInteger.valueOf(Long.MIN_VALUE);

    /**
     * Digits before the point, and zeros after it, that MySQL writes out before it takes to 'e'.
     */
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
      return out.append(shortest.toPlainString()).append(endsInZeros ? ".0" : "").toString();
    }

    /**
     * The fewest digits that still read as this double; Double.toString gives more before JDK 19.
     */
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
}
