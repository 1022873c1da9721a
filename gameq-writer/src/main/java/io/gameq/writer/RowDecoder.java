package io.gameq.writer;

import io.gameq.GameQueueException;
import io.gameq.catalog.Catalog;
import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowKey;
import io.gameq.mysql.RowChange;
import io.gameq.redis.UnflushedRow;
import io.gameq.writer.redis.Claim;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Turns claimed rows into row changes, with a catalogue that is read again when the schema changed.
 * Thread-safe.
 */
final class RowDecoder {
  private static final long RELOAD_AT_MOST_EVERY_NANOS = 10_000_000_000L;

  private final Supplier<Catalog> reader;
  private final RowCodec codec;
  private volatile Catalog catalog;
  private long lastReloadNanos = System.nanoTime();

  RowDecoder(Supplier<Catalog> reader, RowCodec codec) {
    this.reader = reader;
    this.codec = codec;
    this.catalog = reader.get();
  }

  /**
   * The rows of a claim; throws {@link GameQueueException} when one belongs to no managed table or
   * does not fit it any more.
   */
  List<RowChange> decode(Claim claim) {
    try {
      return decode(claim, catalog);
    } catch (GameQueueException e) { // perhaps a table that was added after this writer started
      reloadCatalog();
      return decode(claim, catalog);
    }
  }

  private List<RowChange> decode(Claim claim, Catalog tables) {
    List<RowChange> rows = new ArrayList<>(claim.rows().size());
    for (UnflushedRow row : claim.rows()) {
      RowKey key = tables.rowKey(row.key());
      rows.add(new RowChange(claim.owner(), key, codec.decode(key.table(), row.image())));
    }
    return rows;
  }

  /** Reads the catalogue again, unless that was done a moment ago. */
  synchronized void reloadCatalog() {
    if (System.nanoTime() - lastReloadNanos > RELOAD_AT_MOST_EVERY_NANOS) {
      lastReloadNanos = System.nanoTime();
      catalog = reader.get();
    }
  }
}
