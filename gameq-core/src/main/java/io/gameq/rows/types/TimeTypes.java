package io.gameq.rows.types;

import io.gameq.rows.types.ColumnType.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;

/** The types of columns that hold dates and times. Stateless. */
final class TimeTypes {
  private static final Duration MAX_TIME = Duration.ofHours(838).plusMinutes(59).plusSeconds(59);

  private TimeTypes() {}

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

  /**
   * A type that keeps some fraction digits of a second, and cuts what it gets beyond these;
   * immutable. DATETIME, which has no zone, is canonical as LocalDateTime; TIMESTAMP as Instant,
   * since all gameq connections run in UTC; TIME, of -838 to 838 hours, as Duration.
   */
  record FractionType(Kind kind, int digits) implements ColumnType {
    @Override
    public Object canonical(Object in, String column) {
      return switch (kind) {
        case DATETIME -> dateTime(in, column);
        case TIMESTAMP -> timestamp(in, column);
        default -> time(in, column);
      };
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
  }
}
