package io.gameq.lab.contender.redis;

import io.gameq.lab.workload.BenchRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import java.time.Clock;

/** The bytes of rows as a commit sends them. Thread-safe. */
public final class RowEncoding {
  private final Table table;
  private final RowCodec codec = new RowCodec((name, print) -> null, Clock.systemUTC());

  public RowEncoding(Table table) {
    this.table = table;
  }

  /** The field of the dirty hash. */
  String key(long player, int slot) {
    Object[] key = {player, (long) slot};
    return RowKey.ofKey(table, key).text();
  }

  /** The value of the field. */
  byte[] put(BenchRow row) {
    Object[] values = {row.playerId(), (long) row.slot(), row.seq(), row.payload()};
    return codec.encode(table, RowOp.PUT, values);
  }

  byte[] delete(long player, int slot) {
    Object[] key = {player, (long) slot};
    return codec.encode(table, RowOp.DELETE, key);
  }

  /** Bytes of a row's field and value, without what Redis adds. */
  public long bytes(BenchRow row) {
    return (long) key(row.playerId(), row.slot()).length() + put(row).length;
  }
}
