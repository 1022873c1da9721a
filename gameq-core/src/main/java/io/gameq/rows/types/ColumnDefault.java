package io.gameq.rows.types;

import io.gameq.rows.types.TimeTypes.Micros;
import java.time.Instant;
import java.time.temporal.ChronoField;
import org.jspecify.annotations.Nullable;

/** What an absent column of a put takes; immutable. */
public sealed interface ColumnDefault {
  /** Nothing: the column must be given. */
  record None() implements ColumnDefault {}

  /** A canonical value, or NULL. */
  record Constant(@Nullable Object value) implements ColumnDefault {}

  /** The moment of the put, cut to the column's fraction digits: DEFAULT CURRENT_TIMESTAMP. */
  record Now(int digits) implements ColumnDefault {
    /** The moment as the column keeps it. */
    public Instant of(Instant moment) {
      return moment.with(
          ChronoField.NANO_OF_SECOND,
          Micros.truncate(moment.get(ChronoField.NANO_OF_SECOND), digits));
    }
  }

  /** Nothing: MySQL would number the row (AUTO_INCREMENT), but the game gives every key. */
  record Numbered() implements ColumnDefault {}

  /** What MySQL alone can tell, such as an expression: a put must give the column. */
  record OfMySql() implements ColumnDefault {}

  ColumnDefault NONE = new None();
  ColumnDefault NUMBERED = new Numbered();
  ColumnDefault OF_MYSQL = new OfMySql();
  ColumnDefault NULL = new Constant(null);
}
