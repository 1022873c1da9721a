package io.gameq.lab.contender;

import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchRow;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Rows as keys and values of stores that know no columns; compact. Stateless. */
public final class RowBytes {
  private static final int SLOT_BITS = 20;

  private RowBytes() {}

  public static long key(long player, int slot) {
    return player << SLOT_BITS | slot;
  }

  /** What the key does not tell. */
  public static byte[] value(BenchRow row) {
    return ByteBuffer.allocate(Long.BYTES + row.payload().length)
        .putLong(row.seq())
        .put(row.payload())
        .array();
  }

  public static BenchRow row(long key, byte[] value) {
    ByteBuffer bytes = ByteBuffer.wrap(value);
    long seq = bytes.getLong();
    byte[] payload = new byte[bytes.remaining()];
    bytes.get(payload);
    return new BenchRow(key >> SLOT_BITS, (int) (key & ((1 << SLOT_BITS) - 1)), seq, payload);
  }

  public static List<BenchRow> rows(Map<Long, byte[]> entries) {
    List<BenchRow> rows = new ArrayList<>(entries.size());
    entries.forEach((key, value) -> rows.add(row(key, value)));
    return rows;
  }

  /** The rows that an action puts. */
  public static List<BenchRow> rows(Actions action) {
    List<BenchRow> rows = new ArrayList<>(action.rows());
    for (int i = 0; i < action.rows(); i++) {
      rows.add(action.row(i));
    }
    return rows;
  }

  /** The rows that an action puts, by key. */
  public static Map<Long, byte[]> entries(Actions action) {
    Map<Long, byte[]> entries = new LinkedHashMap<>();
    for (int i = 0; i < action.rows(); i++) {
      entries.put(key(action.player(), action.slot(i)), value(action.row(i)));
    }
    return entries;
  }
}
