package io.gameq.rows.types;

import io.gameq.rows.types.ColumnTypes.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.temporal.ChronoField;

/** The types of columns that hold dates and times. Stateless. */
final class TimeTypes {
  private TimeTypes() {}

  /** A type that keeps some fraction digits of a second; what it gets beyond these is cut. */
  sealed interface FractionType extends ColumnType permits DateTimeType, TimestampType, TimeType {
    int digits();

    @Override
    default Object canonicalExactly(Object in, String column) {
      Object canonical = canonical(in, column);
      if (!canonical.equals(in instanceof LocalTime ? TimeType.duration(in) : in)) {
        throw Refusal.of(
            column,
            ("keeps %s fraction digits of a second, the value has more, and is not cut, as in a"
                    + " primary key: truncate it first")
                .formatted(digits()));
      }
      return canonical;
    }
  }

  /** DATE, canonical as LocalDate; immutable. */
  record DateType() implements ColumnType {
    @Override
    public Kind kind() {
      return Kind.DATE;
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

  /** DATETIME(digits), which has no zone, canonical as LocalDateTime; immutable. */
  record DateTimeType(int digits) implements FractionType {
    @Override
    public Kind kind() {
      return Kind.DATETIME;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!(in instanceof LocalDateTime time)) {
        throw Refusal.kind(column, in, "LocalDateTime (Instant goes with TIMESTAMP)");
      }
      if (time.getYear() < 1 || time.getYear() > 9999) {
        throw Refusal.range(column, "0001-01-01T00:00 to the end of 9999", in);
      }
      return time.withNano(Micros.truncate(time.get(ChronoField.NANO_OF_SECOND), digits));
    }
  }

  /** TIMESTAMP(digits), canonical as Instant: all gameq connections run in UTC; immutable. */
  record TimestampType(int digits) implements FractionType {
    private static final long MIN_SECOND = 1;
    private static final long MAX_SECOND = Integer.MAX_VALUE;

    @Override
    public Kind kind() {
      return Kind.TIMESTAMP;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!(in instanceof Instant time)) {
        throw Refusal.kind(column, in, "Instant (LocalDateTime goes with DATETIME)");
      }
      if (time.getEpochSecond() < MIN_SECOND || time.getEpochSecond() > MAX_SECOND) {
        throw Refusal.range(column, "1970-01-01T00:00:01Z to 2038-01-19T03:14:07.999999Z", in);
      }
      return Instant.ofEpochSecond(time.getEpochSecond(), Micros.truncate(time.getNano(), digits));
    }
  }

  /** TIME(digits), which MySQL counts from -838 to 838 hours, canonical as Duration; immutable. */
  record TimeType(int digits) implements FractionType {
    private static final Duration MAX = Duration.ofHours(838).plusMinutes(59).plusSeconds(59);

    @Override
    public Kind kind() {
      return Kind.TIME;
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!(in instanceof Duration) && !(in instanceof LocalTime)) {
        throw Refusal.kind(column, in, "Duration and LocalTime");
      }
      Duration time = duration(in);
      Duration cut = cut(time.abs());
      if (cut.compareTo(MAX) > 0) {
        throw Refusal.range(column, "-838:59:59 to 838:59:59", in);
      }
      return time.isNegative() ? cut.negated() : cut;
    }

    private Duration cut(Duration positive) {
      return Duration.ofSeconds(
          positive.toSeconds(), Micros.truncate(positive.toNanosPart(), digits));
    }

    private static Duration duration(Object in) {
      return in instanceof LocalTime ofDay ? Duration.ofNanos(ofDay.toNanoOfDay()) : (Duration) in;
    }
  }

  /**
   * Times as whole microseconds, the finest that MySQL keeps. Stateless.
   *
   * <p>From year 0 to 9999 they fit a long with a factor of thirty to spare.
   */
  static final class Micros {
    static final long PER_SECOND = 1_000_000;

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

    static long seconds(long micros) {
      return Math.floorDiv(micros, PER_SECOND);
    }

    static int nanos(long micros) {
      return (int) Math.floorMod(micros, PER_SECOND) * 1_000;
    }
  }
}
