package io.gameq.terminal;

import io.gameq.change.VersionClock;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Values as a terminal may see them: on one line, and without the control characters that a player
 * may have put into a name. Stateless.
 */
public final class Shown {
  private static final int MOST_BYTES = 1_000;
  private static final HexFormat HEX = HexFormat.of();
  private static final DateTimeFormatter UTC =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

  private Shown() {}

  /** A column's canonical value, null for NULL. */
  public static String value(@Nullable Object canonical) {
    if (canonical == null) {
      return "NULL";
    }
    if (canonical instanceof byte[] bytes) {
      return bytes.length <= MOST_BYTES
          ? "0x" + HEX.formatHex(bytes)
          : String.format(
              Locale.ROOT,
              "0x%s... (%,d bytes)",
              HEX.formatHex(bytes, 0, MOST_BYTES),
              bytes.length);
    }
    return text(canonical.toString());
  }

  /** A constant as commands, JSON and tags have it: in small letters. */
  public static String lower(Enum<?> of) {
    return of.name().toLowerCase(Locale.ROOT);
  }

  /** Text with escapes for what would move the cursor, break the line or turn it around. */
  public static String text(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              if (!isHarmless(c)) {
                for (char unit : Character.toChars(c)) {
                  out.append("\\u").append(HEX.toHexDigits(unit));
                }
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.toString();
  }

  private static boolean isHarmless(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }

  /**
   * Formats a line: arguments that are text are escaped, as {@link #text} does; moments are UTC.
   */
  public static String line(String format, Object... arguments) {
    Object[] shown = arguments.clone();
    for (int i = 0; i < shown.length; i++) {
      if (shown[i] instanceof String text) {
        shown[i] = text(text);
      } else if (shown[i] instanceof Instant at) {
        shown[i] = utc(at);
      }
    }
    return String.format(Locale.ROOT, format, shown);
  }

  /** {@code of player:42}; {@code sent to player:42 by node process 1a2b3c4d}. */
  public static String whose(OwnerId owner) {
    return String.format(
        Locale.ROOT,
        owner.isInbox() ? "sent to %s by node process " + owner.sender() : "of %s",
        text(owner.id()));
  }

  /** Whose change it is: a session, or {@code sent by node process 1a2b3c4d}. */
  public static String by(OwnerId owner, SessionId session) {
    return owner.isInbox() ? "sent by node process " + owner.sender() : session.text();
  }

  /** {@link #text}, cut to a number of characters. */
  public static String cut(String text, int most) {
    String shown = text(text);
    return shown.length() <= most ? shown : shown.substring(0, most - 3) + "...";
  }

  /** {@code 1 row}, {@code 1,000 rows}. */
  public static String count(long count, String singular) {
    return String.format(Locale.ROOT, "%,d %s%s", count, singular, count == 1 ? "" : "s");
  }

  /** {@code 0.012 s}; {@code 1.2 s}; {@code 2 min 3 s}; {@code 1 h 3 min}. */
  public static String duration(long millis) {
    long minutes = millis / 60_000;
    return minutes < 1
        ? seconds(millis)
        : minutes < 60
            ? "%s min %s s".formatted(minutes, millis / 1_000 % 60)
            : String.format(Locale.ROOT, "%,d h %d min", minutes / 60, minutes % 60);
  }

  private static String seconds(long millis) {
    return Math.abs(millis) < 1_000
        ? String.format(Locale.ROOT, "%.3f s", millis / 1e3)
        : String.format(Locale.ROOT, "%.1f s", millis / 1e3);
  }

  public static String utc(Instant time) {
    return UTC.format(time);
  }

  /** When a row was committed: the upper 48 bits of its version are Unix milliseconds. */
  public static Instant time(long version) {
    return Instant.ofEpochMilli(VersionClock.millis(version));
  }

  public static String version(long version) {
    return "%s (%s UTC)".formatted(Long.toUnsignedString(version), utc(time(version)));
  }
}
