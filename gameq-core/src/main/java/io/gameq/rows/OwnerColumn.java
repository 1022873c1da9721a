package io.gameq.rows;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId;
import io.gameq.rows.types.ColumnType;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * The column of a table whose value names the owner of a row; immutable.
 *
 * @param kind of all owners of its rows
 */
record OwnerColumn(String table, String kind, Column column) {
  OwnerId owner(Object value) {
    return OwnerId.of(kind + ":" + value);
  }

  boolean isNamedBy(Object value, OwnerId owner) {
    return owner.kind().equals(kind)
        && ((value instanceof Long number && number >= 0)
            ? isDecimal(owner.key(), number)
            : owner.key().equals(value.toString()));
  }

  /** Whether a text is a number as Long.toString writes it; each put asks that. */
  private static boolean isDecimal(String text, long number) {
    long left = number;
    for (int i = text.length() - 1; i >= 0; i--) {
      if (text.charAt(i) != '0' + left % 10) {
        return false;
      }
      left /= 10;
    }
    boolean isShortest = text.length() == 1 || (!text.isEmpty() && text.charAt(0) != '0');
    return left == 0 && isShortest;
  }

  /** See {@link Table#ownerColumnValue}. */
  Object value(OwnerId owner) {
    if (!owner.kind().equals(kind)) {
      throw new GameQueueException(
          "owner %s has no rows in table %s, whose owners are of kind %s"
              .formatted(owner, table, kind));
    }
    Object in = owner.key();
    if (column.type().kind() != ColumnType.Kind.TEXT) {
      try {
        in = new BigInteger(owner.key());
      } catch (NumberFormatException e) {
        throw notTheKey(owner, e);
      }
    }
    Object value;
    try {
      value = column.type().canonical(in, column.label());
      if (!column.type().keyText(value, column.label()).equals(owner.key())) {
        throw notTheKey(owner, null);
      }
    } catch (RowRefusedException e) {
      throw notTheKey(owner, e);
    }
    return value;
  }

  private GameQueueException notTheKey(OwnerId owner, @Nullable Exception cause) {
    String message =
        "owner id %s does not fit its column %s: %s"
            .formatted(
                owner,
                column.label(),
                cause instanceof RowRefusedException
                    ? cause.getMessage()
                    : column.type().kind() == ColumnType.Kind.TEXT
                        ? "the column would store another text"
                        : "write the key as a decimal number without leading zeros");
    return cause == null ? new GameQueueException(message) : new GameQueueException(message, cause);
  }
}
