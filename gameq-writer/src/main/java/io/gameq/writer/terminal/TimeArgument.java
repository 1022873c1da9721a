package io.gameq.writer.terminal;

import io.gameq.GameQueueException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.regex.Pattern;

/** Reads a moment that is given on a command line. Stateless. */
public final class TimeArgument {
  /** What an option's description says. */
  public static final String FORMS =
      "30m, 2h or 3d for so long ago, or in UTC 2026-11-21 or 2026-11-21T10:53.";

  private static final Pattern AGO = Pattern.compile("\\d{1,6}[smhd]");

  private TimeArgument() {}

  /** Reads one; throws GameQueueException with the forms when it is none. */
  public static Instant of(String text) {
    if (AGO.matcher(text).matches()) {
      return Instant.now().minus(Duration.parse((text.endsWith("d") ? "P" : "PT") + text));
    }
    try {
      if (text.endsWith("Z")) {
        return Instant.parse(text.replace(' ', 'T'));
      }
      LocalDateTime time =
          text.length() == "2026-11-21".length()
              ? LocalDate.parse(text).atStartOfDay()
              : LocalDateTime.parse(text.replace(' ', 'T'));
      return time.toInstant(ZoneOffset.UTC);
    } catch (DateTimeException e) {
      throw new GameQueueException("'%s' is no time: use %s".formatted(text, FORMS));
    }
  }
}
