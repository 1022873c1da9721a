package io.gameq.rows.types;

import io.gameq.rows.types.ColumnType.Refusal;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Values of columns as text that people read and type. Stateless. */
public final class ValueText {
  private static final HexFormat HEX = HexFormat.of();

  /** DECIMAL has 65 digits; reading a number takes time that grows faster than its length. */
  private static final int MOST_NUMBER_CHARS = 100;

  private static final Pattern TIME =
      Pattern.compile("(-?)(\\d{1,3}):(\\d{2}):(\\d{2})(?:\\.(\\d{1,6}))?");

  private ValueText() {}

  /** A canonical value, in a form that {@link #given} takes again. */
  public static String of(Object canonical) {
    if (canonical instanceof byte[] bytes) {
      return "0x" + HEX.formatHex(bytes);
    }
    return canonical instanceof BigDecimal number ? number.toPlainString() : canonical.toString();
  }

  /**
   * The value that a text stands for, for {@link ColumnType#canonical}.
   *
   * @param column named in the refusal, as {@code table.column}
   * @throws io.gameq.RowRefusedException when the text is none of the type's values; the message
   *     has the form to use, not the text
   */
  public static Object given(ColumnType type, String text, String column) {
    try {
      return switch (type.kind()) {
        case INTEGER, UNSIGNED_LONG, BIT -> integer(text.strip());
        case DECIMAL -> new BigDecimal(number(text.strip()));
        case FLOAT -> Float.parseFloat(number(text.strip()));
        case DOUBLE -> Double.parseDouble(number(text.strip()));
        case TEXT, JSON, ENUM, SET -> text;
        case BINARY -> bytes(text.strip());
        case DATE -> LocalDate.parse(text.strip());
        case DATETIME -> dateTime(text.strip());
        case TIMESTAMP -> timestamp(text.strip());
        case TIME -> time(text.strip());
      };
    } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
      throw Refusal.of(
          column,
          "takes %s, and the text of %s characters is not that"
              .formatted(form(type.kind()), text.length()));
    }
  }

  private static String form(ColumnType.Kind kind) {
    return switch (kind) {
      case INTEGER, UNSIGNED_LONG, BIT -> "a whole number";
      case DECIMAL, FLOAT, DOUBLE -> "a number";
      case TEXT, JSON, ENUM, SET -> "text";
      case BINARY -> "bytes as 0x00ff";
      case DATE -> "a date as 2026-11-21";
      case DATETIME -> "a time as 2026-11-21 10:53:23.172";
      case TIMESTAMP -> "a time as 2026-11-21T10:53:23.172Z";
      case TIME -> "a time as 10:53:23 or PT10H53M";
    };
  }

  private static Object integer(String text) {
    return text.equals("true") || text.equals("false")
        ? Boolean.valueOf(text)
        : new BigInteger(number(text));
  }

  private static String number(String text) {
    if (text.length() > MOST_NUMBER_CHARS) {
      throw new NumberFormatException("too long");
    }
    return text;
  }

  private static byte[] bytes(String text) {
    if (!text.startsWith("0x")) {
      throw new IllegalArgumentException("no 0x");
    }
    return HEX.parseHex(text.substring(2));
  }

  private static LocalDateTime dateTime(String text) {
    return text.length() == "2026-11-21".length()
        ? LocalDate.parse(text).atStartOfDay()
        : LocalDateTime.parse(text.replace(' ', 'T'));
  }

  /** Without a zone it is UTC, as in all connections of gameq. */
  private static Instant timestamp(String text) {
    return text.endsWith("Z")
        ? Instant.parse(text.replace(' ', 'T'))
        : dateTime(text).toInstant(ZoneOffset.UTC);
  }

  private static Duration time(String text) {
    Matcher parts = TIME.matcher(text);
    if (!parts.matches()) {
      return Duration.parse(text);
    }
    String fraction = parts.group(5) == null ? "" : parts.group(5);
    Duration time =
        Duration.ofHours(Long.parseLong(parts.group(2)))
            .plusMinutes(Long.parseLong(parts.group(3)))
            .plusSeconds(Long.parseLong(parts.group(4)))
            .plusNanos(Long.parseLong((fraction + "000000000").substring(0, 9)));
    return parts.group(1).isEmpty() ? time : time.negated();
  }
}
