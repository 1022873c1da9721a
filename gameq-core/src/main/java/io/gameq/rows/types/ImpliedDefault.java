package io.gameq.rows.types;

import io.gameq.rows.types.ColumnTypes.EnumType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What ALTER TABLE ... ADD COLUMN puts into the rows that are there when the column is NOT NULL and
 * has no default: a row from before takes the same. Stateless.
 */
public final class ImpliedDefault {
  private ImpliedDefault() {}

  /** The canonical value; null for dates, which have none under a strict sql_mode. */
  public static @Nullable Object of(ColumnType type) {
    Object value =
        switch (type.kind()) {
          case INTEGER, UNSIGNED_LONG, BIT, DECIMAL, FLOAT, DOUBLE -> 0L;
          case TEXT, SET -> "";
          case JSON -> "null";
          case BINARY -> new byte[0];
          case ENUM -> ((EnumType) type).members().iterator().next();
          case TIME -> Duration.ZERO;
          case DATE, DATETIME, TIMESTAMP -> null;
        };
    return value == null ? null : type.canonical(value, "default");
  }
}
