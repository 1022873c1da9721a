package io.gameq.mysql;

import io.gameq.RowRefusedException;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Values for a moment within a transaction, which other rows are unlikely to have. Stateless. */
public final class SpareValues {
  private static final Set<ColumnType.Kind> KINDS =
      EnumSet.of(ColumnType.Kind.INTEGER, ColumnType.Kind.TEXT);

  private static final String CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
  private static final int MOST_CHARACTERS = 32;
  private static final int MOST_BITS = Long.SIZE - 3;

  private SpareValues() {}

  /** Whether there are any for a column. */
  public static boolean exist(Column column) {
    return column.nullable() || KINDS.contains(column.type().kind());
  }

  /** A canonical value: NULL where that may be, else one of many that the column can hold. */
  public static @Nullable Object next(Column column, Random random) {
    if (column.nullable()) {
      return null;
    }
    boolean isText = column.type().kind() == ColumnType.Kind.TEXT;
    for (int size = isText ? MOST_CHARACTERS : MOST_BITS; size > 0; size--) {
      try {
        Object value = isText ? text(size, random) : random.nextLong(1L << size, 2L << size);
        return column.type().canonical(value, column.label());
      } catch (RowRefusedException e) {
        // too large for the column
      }
    }
    throw new IllegalStateException("no spare value for " + column.label());
  }

  private static String text(int length, Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
    }
    return text.toString();
  }
}
