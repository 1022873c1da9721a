package io.gameq.rows.types;

import io.gameq.rows.types.ColumnType.Codec;
import io.gameq.rows.types.ColumnType.Jdbc;
import io.gameq.rows.types.ColumnType.Refusal;
import io.gameq.rows.types.ColumnTypes.Declaration;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The types of columns that hold dates and times, and MySQL's texts of these. Stateless. */
public final class TimeTypes {
  private static final Duration MAX_TIME = Duration.ofHours(838).plusMinutes(59).plusSeconds(59);

  private static final DateTimeFormatter SQL_DATE_TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private static final Pattern SQL_TIME =
      Pattern.compile("(-?)(\\d{1,3}):(\\d{2}):(\\d{2})(?:\\.(\\d{1,6}))?");

  private static final Codec<LocalDate> DATE =
      new Codec<>(
          LocalDate.class,
          (out, value) -> out.packLong(value.toEpochDay()),
          in -> LocalDate.ofEpochDay(in.unpackLong()),
          LocalDate::parse,
          "a date as 2026-11-21",
          text -> LocalDate.parse(text.strip()),
          null,
          text(LocalDate::parse));

  private static final Codec<LocalDateTime> DATE_TIME =
      new Codec<>(
          LocalDateTime.class,
          (out, value) -> out.packLong(Micros.of(value.toInstant(ZoneOffset.UTC))),
          in -> LocalDateTime.ofInstant(Micros.instant(in.unpackLong()), ZoneOffset.UTC),
          LocalDateTime::parse,
          "a time as 2026-11-21 10:53:23.172",
          TimeTypes::dateTime,
          null,
          text(TimeTypes::dateTime));

  private static final Codec<Instant> TIMESTAMP =
      new Codec<>(
          Instant.class,
          (out, value) -> out.packLong(Micros.of(value)),
          in -> Micros.instant(in.unpackLong()),
          Instant::parse,
          "a time as 2026-11-21T10:53:23.172Z",
          TimeTypes::timestamp,
          null,
          text(TimeTypes::timestamp));

  private static final Codec<Duration> TIME =
      new Codec<>(
          Duration.class,
          (out, value) -> out.packLong(Micros.of(value.toSeconds(), value.toNanosPart())),
          in -> Duration.between(Instant.EPOCH, Micros.instant(in.unpackLong())),
          Duration::parse,
          "a time as 10:53:23 or PT10H53M",
          TimeTypes::time,
          Duration.ZERO,
          text(TimeTypes::time));

  private TimeTypes() {}

  /** The driver's own conversions know neither TIME beyond a day nor dates without a zone. */
  private static Jdbc text(Function<String, Object> ofResult) {
    return new Jdbc(
        "CAST(%s AS CHAR)",
        "?", String.class, TimeTypes::sqlText, value -> ofResult.apply((String) value));
  }

  /** The type of a declaration; null when it holds no times. */
  static @Nullable ColumnType of(Declaration of) {
    return switch (of.name()) {
      case "date" -> new DateType();
      case "datetime" -> new FractionType(DATE_TIME, of.number(0, 0));
      case "timestamp" -> new FractionType(TIMESTAMP, of.number(0, 0));
      case "time" -> new FractionType(TIME, of.number(0, 0));
      default -> null;
    };
  }

  /** MySQL's text of a canonical value of DATE, DATETIME, TIMESTAMP or TIME. */
  public static String sqlText(Object canonical) {
    if (canonical instanceof LocalDateTime time) {
      return SQL_DATE_TIME.format(time);
    }
    if (canonical instanceof Instant instant) {
      return SQL_DATE_TIME.format(instant);
    }
    if (!(canonical instanceof Duration time)) {
      return canonical.toString();
    }
    Duration length = time.abs();
    return String.format(
        Locale.ROOT,
        "%s%02d:%02d:%02d.%06d",
        time.isNegative() ? "-" : "",
        length.toHours(),
        length.toMinutesPart(),
        length.toSecondsPart(),
        length.toNanosPart() / 1_000);
  }

  private static LocalDateTime dateTime(String typed) {
    String text = typed.strip();
    return text.length() == "2026-11-21".length()
        ? LocalDate.parse(text).atStartOfDay()
        : LocalDateTime.parse(text.replace(' ', 'T'));
  }

  /** Without a zone it is UTC, as in all connections of gameq. */
  private static Instant timestamp(String typed) {
    String text = typed.strip();
    return text.endsWith("Z")
        ? Instant.parse(text.replace(' ', 'T'))
        : dateTime(text).toInstant(ZoneOffset.UTC);
  }

  private static Duration time(String typed) {
    String text = typed.strip();
    Matcher parts = SQL_TIME.matcher(text);
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

  /** DATE, canonical as LocalDate; immutable. */
  record DateType() implements ColumnType {
    @Override
    public Codec<?> codec() {
      return DATE;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!(in instanceof LocalDate date)) {
        throw Refusal.kind(column, in, "LocalDate");
      }
      if (date.getYear() < 1 || date.getYear() > 9999) {
        throw Refusal.range(column, "0001-01-01 to 9999-12-31", in);
      }
      return date;
    }
  }

  /**
   * A type that keeps some fraction digits of a second, and cuts what it gets beyond these;
   * immutable. DATETIME, which has no zone, is canonical as LocalDateTime; TIMESTAMP as Instant,
   * since all gameq connections run in UTC; TIME, of -838 to 838 hours, as Duration.
   */
  record FractionType(Codec<?> codec, int digits) implements ColumnType {
    @Override
    public Object canonical(Object in, String column) {
      return valueClass() == LocalDateTime.class
          ? dateTime(in, column)
          : valueClass() == Instant.class ? timestamp(in, column) : time(in, column);
    }

    @SuppressWarnings("JavaLocalDateTimeGetNano") // the rest stays as it is
    private Object dateTime(Object in, String column) {
      if (!(in instanceof LocalDateTime time)) {
        throw Refusal.kind(column, in, "LocalDateTime (Instant goes with TIMESTAMP)");
      }
      if (time.getYear() < 1 || time.getYear() > 9999) {
        throw Refusal.range(column, "0001-01-01T00:00 to the end of 9999", in);
      }
      return time.withNano(Micros.truncate(time.getNano(), digits));
    }

    private Object timestamp(Object in, String column) {
      if (!(in instanceof Instant time)) {
        throw Refusal.kind(column, in, "Instant (LocalDateTime goes with DATETIME)");
      }
      if (time.getEpochSecond() < 1 || time.getEpochSecond() > Integer.MAX_VALUE) {
        throw Refusal.range(column, "1970-01-01T00:00:01Z to 2038-01-19T03:14:07.999999Z", in);
      }
      return Instant.ofEpochSecond(time.getEpochSecond(), Micros.truncate(time.getNano(), digits));
    }

    private Object time(Object in, String column) {
      if (!(in instanceof Duration) && !(in instanceof LocalTime)) {
        throw Refusal.kind(column, in, "Duration and LocalTime");
      }
      Duration time = duration(in);
      Duration length = time.abs();
      Duration cut =
          Duration.ofSeconds(length.toSeconds(), Micros.truncate(length.toNanosPart(), digits));
      if (cut.compareTo(MAX_TIME) > 0) {
        throw Refusal.range(column, "-838:59:59 to 838:59:59", in);
      }
      return time.isNegative() ? cut.negated() : cut;
    }

    private static Duration duration(Object in) {
      return in instanceof LocalTime ofDay ? Duration.ofNanos(ofDay.toNanoOfDay()) : (Duration) in;
    }

    @Override
    public Object canonicalExactly(Object in, String column) {
      Object canonical = canonical(in, column);
      if (!canonical.equals(in instanceof LocalTime ? duration(in) : in)) {
        throw Refusal.of(
            column,
            ("keeps %s fraction digits of a second, the value has more, and is not cut, as in a"
                    + " primary key: truncate it first")
                .formatted(digits));
      }
      return canonical;
    }

    @Override
    public @Nullable Function<Object, Object> reader(Type component) {
      return valueClass() == Duration.class && component == LocalTime.class
          ? FractionType::timeOfDay
          : ColumnType.super.reader(component);
    }

    private static LocalTime timeOfDay(Object value) {
      Duration time = (Duration) value;
      if (time.isNegative() || time.toDays() > 0) {
        throw new ArithmeticException("not a time of day");
      }
      return LocalTime.ofNanoOfDay(time.toNanos());
    }

    /** A TIMESTAMP's is in the zone of the session that created the column: nobody knows it. */
    @Override
    public @Nullable Object ofDefault(String text, boolean mariaDb) {
      return valueClass() == Instant.class ? null : ColumnType.super.ofDefault(text, mariaDb);
    }
  }

  /**
   * Times as whole microseconds, the finest that MySQL keeps. Stateless.
   *
   * <p>From year 0 to 9999 they fit a long with a factor of thirty to spare.
   */
  static final class Micros {
    private static final long PER_SECOND = 1_000_000;

    /** Nanoseconds in one unit of the last digit, by the number of fraction digits. */
    private static final int[] UNIT = {
      1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000
    };

    private Micros() {}

    /** The fraction cut to this many digits. */
    static int truncate(int nanos, int digits) {
      return nanos - nanos % UNIT[digits];
    }

    static long of(Instant time) {
      return of(time.getEpochSecond(), time.getNano());
    }

    static long of(long seconds, int nanos) {
      return seconds * PER_SECOND + nanos / 1_000;
    }

    static Instant instant(long micros) {
      return Instant.ofEpochSecond(
          Math.floorDiv(micros, PER_SECOND), Math.floorMod(micros, PER_SECOND) * 1_000);
    }
  }
}
