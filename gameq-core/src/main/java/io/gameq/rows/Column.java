package io.gameq.rows;

import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnType;
import io.gameq.rows.types.ImpliedDefault;
import io.gameq.rows.types.Micros;
import io.gameq.rows.types.Refusal;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A column that gameq writes; immutable.
 *
 * @param label {@code table.column}, for messages
 * @param declaration COLUMN_TYPE, and the character set for text: part of the layout
 */
public record Column(
    String label,
    String name,
    String declaration,
    ColumnType type,
    boolean nullable,
    ColumnDefault onAbsence) {

  /**
   * The canonical form of a value that the game puts; an empty Optional is NULL.
   *
   * @throws io.gameq.RowRefusedException when the column cannot hold it
   */
  public @Nullable Object canonical(@Nullable Object in) {
    Object given = given(in);
    return given == null ? null : type.canonical(given, label);
  }

  /**
   * The same, of a value of which nothing may be cut.
   *
   * @throws io.gameq.RowRefusedException when the column cannot hold it exactly
   */
  @Nullable Object canonicalExactly(@Nullable Object in) {
    Object given = given(in);
    return given == null ? null : type.canonicalExactly(given, label);
  }

  private @Nullable Object given(@Nullable Object in) {
    Object given = in instanceof Optional<?> optional ? optional.orElse(null) : in;
    if (given == null && !nullable) {
      throw Refusal.of(label, "NULL in a NOT NULL column");
    }
    return given;
  }

  /**
   * The value of a put that does not name this column.
   *
   * @throws io.gameq.RowRefusedException when it must be named
   */
  @Nullable Object absent(Clock clock) {
    if (onAbsence instanceof ColumnDefault.Constant constant) {
      // Not a copy: canonical values are never changed in place.
      return constant.value();
    }
    if (onAbsence instanceof ColumnDefault.Now now) {
      Instant instant = clock.instant();
      int nanos = Micros.truncate(instant.getNano(), now.digits());
      return type.kind() == ColumnType.Kind.TIMESTAMP
          ? Instant.ofEpochSecond(instant.getEpochSecond(), nanos)
          : LocalDateTime.ofEpochSecond(instant.getEpochSecond(), nanos, ZoneOffset.UTC);
    }
    throw Refusal.of(
        label,
        onAbsence instanceof ColumnDefault.Numbered
            ? "missing, and gameq writes no row whose number MySQL invents: take it from"
                + " GameQueue.ids"
            : "missing, and the column has no default that gameq knows");
  }

  /** Whether MySQL itself gives the column a value in an INSERT that leaves it out. */
  public boolean mayBeLeftOut() {
    return !(onAbsence instanceof ColumnDefault.None);
  }

  /**
   * The value that the column has in a row from before it was added; null also where only MySQL can
   * tell.
   *
   * @throws io.gameq.RowRefusedException when MySQL has none either
   */
  @Nullable Object unnamed(Clock clock) {
    if (onAbsence instanceof ColumnDefault.OfMySql || onAbsence instanceof ColumnDefault.Numbered) {
      return nullable ? null : ImpliedDefault.of(type);
    }
    if (mayBeLeftOut()) {
      return absent(clock);
    }
    Object implied = ImpliedDefault.of(type);
    if (implied == null) {
      throw Refusal.of(label, "it has no default that rows from before it was added could take");
    }
    return implied;
  }
}
