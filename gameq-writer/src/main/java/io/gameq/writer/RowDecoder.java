package io.gameq.writer;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.catalog.Catalog;
import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowKey;
import io.gameq.mysql.RowChange;
import io.gameq.redis.UnflushedRow;
import io.gameq.writer.redis.Claim;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
   * Rows of claims, all by one catalogue; a claim that holds a row which fits no managed table has
   * a reason instead.
   */
  record Decoded(Map<Claim, List<RowChange>> rows, Map<Claim, String> unreadable) {}

  /**
   * Decodes a batch, by a fresh catalogue if the present one does not do: a table may have come or
   * changed since.
   *
   * @throws io.gameq.MySqlException when MySQL is needed for that and does not answer
   */
  Decoded decode(List<Claim> batch) {
    Decoded decoded = decode(batch, catalog);
    if (decoded.unreadable.isEmpty() || !reloadCatalog()) {
      return decoded;
    }
    return decode(batch, catalog);
  }

  private Decoded decode(List<Claim> batch, Catalog tables) {
    Decoded decoded = new Decoded(new LinkedHashMap<>(), new LinkedHashMap<>());
    for (Claim claim : batch) {
      try {
        decoded.rows.put(claim, decode(claim, tables));
      } catch (MySqlException e) {
        throw e;
      } catch (GameQueueException e) {
        decoded.unreadable.put(claim, e.getMessage());
      }
    }
    return decoded;
  }

  private List<RowChange> decode(Claim claim, Catalog tables) {
    List<RowChange> rows = new ArrayList<>(claim.rows().size());
    for (UnflushedRow row : claim.rows()) {
      RowKey key = tables.rowKey(row.key());
      rows.add(new RowChange(claim.owner(), key, codec.decode(key.table(), row.image())));
    }
    return rows;
  }

  /** Reads the catalogue again; false when that was done a moment ago. */
  synchronized boolean reloadCatalog() {
    if (System.nanoTime() - lastReloadNanos < RELOAD_AT_MOST_EVERY_NANOS) {
      return false;
    }
    lastReloadNanos = System.nanoTime();
    catalog = reader.get();
    return true;
  }
}
