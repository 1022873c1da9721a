package io.gameq.mysql;

import java.util.Arrays;
import java.util.Comparator;

/**
 * Rows in the order of their primary keys: one order for all writers means no deadlocks, and
 * neighbours share pages. Stateless.
 */
final class KeyOrder {
  static final Comparator<RowChange> BY_KEY = (a, b) -> compare(a.image().key(), b.image().key());

  private KeyOrder() {}

  private static int compare(Object[] a, Object[] b) {
    for (int i = 0; i < a.length; i++) {
      int order = compare(a[i], b[i]);
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  @SuppressWarnings(
      "unchecked") // canonical values of one column have one type, which is comparable or byte[]
  private static int compare(Object a, Object b) {
    return a instanceof byte[] bytes
        ? Arrays.compareUnsigned(bytes, (byte[]) b)
        : ((Comparable<Object>) a).compareTo(b);
  }
}
