package io.gameq.mysql;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;

/** Writes and reads times as MySQL does. Stateless. */
public final class TemporalText {
  private TemporalText() {}

  /** MySQL's text of a canonical value of DATE, DATETIME, TIMESTAMP or TIME. */
  public static String of(Object canonical) {
    if (canonical instanceof LocalDate date) {
      return date.toString();
    }
    if (canonical instanceof LocalDateTime time) {
      return text(time);
    }
    return canonical instanceof Instant instant
        ? text(LocalDateTime.ofInstant(instant, ZoneOffset.UTC))
        : text((Duration) canonical);
  }

  private static String text(LocalDateTime time) {
    StringBuilder out = new StringBuilder(26).append(time.toLocalDate()).append(' ');
    clock(out, time.getHour(), time.getMinute(), time.getSecond());
    return digits(out.append('.'), time.get(ChronoField.MICRO_OF_SECOND), 6).toString();
  }

  private static String text(Duration time) {
    Duration length = time.abs();
    StringBuilder out = new StringBuilder(17).append(time.isNegative() ? "-" : "");
    clock(out, (int) length.toHours(), length.toMinutesPart(), length.toSecondsPart());
    return digits(out.append('.'), length.toNanosPart() / 1_000, 6).toString();
  }

  private static void clock(StringBuilder out, int hours, int minutes, int seconds) {
    digits(out, hours, 2).append(':');
    digits(out, minutes, 2).append(':');
    digits(out, seconds, 2);
  }

  private static StringBuilder digits(StringBuilder out, int number, int width) {
    String text = Integer.toString(number);
    return out.append("0".repeat(Math.max(0, width - text.length()))).append(text);
  }

  /** Reads {@code -838:59:59.000000}. */
  public static Duration duration(String text) {
    boolean negative = text.startsWith("-");
    String[] parts = text.substring(negative ? 1 : 0).split("[:.]", 4);
    String fraction = parts.length > 3 ? parts[3] : "";
    Duration length =
        Duration.ofHours(Long.parseLong(parts[0]))
            .plusMinutes(Long.parseLong(parts[1]))
            .plusSeconds(Long.parseLong(parts[2]))
            .plusNanos(Long.parseLong((fraction + "000000000").substring(0, 9)));
    return negative ? length.negated() : length;
  }
}
