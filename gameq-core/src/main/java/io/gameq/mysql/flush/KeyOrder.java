package io.gameq.mysql.flush;

import io.gameq.mysql.RowChange;
import io.gameq.rows.Table;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;

/**
 * Rows in the order of their primary keys: one order for all writers means no deadlocks, and
 * neighbours share pages. Stateless.
 */
final class KeyOrder {
  private KeyOrder() {}

  /** Puts of one table by their keys. */
  static Comparator<RowChange> of(Table table) {
    int[] key = table.primaryKey();
    return (a, b) -> {
      for (int index : key) {
        int order = compare(part(a, index), part(b, index));
        if (order != 0) {
          return order;
        }
      }
      return 0;
    };
  }

  private static Object part(RowChange put, int index) {
    return Objects.requireNonNull(put.image().values()[index]);
  }

  @SuppressWarnings(
      "unchecked") // canonical values of one column have one type, which is comparable or byte[]
  private static int compare(Object a, Object b) {
    return a instanceof byte[] bytes
        ? Arrays.compareUnsigned(bytes, (byte[]) b)
        : ((Comparable<Object>) a).compareTo(b);
  }
}
