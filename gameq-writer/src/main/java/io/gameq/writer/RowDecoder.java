package io.gameq.writer;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.catalog.Catalog;
import io.gameq.catalog.LayoutException;
import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.RowOp;
import io.gameq.catalog.Table;
import io.gameq.mysql.DeadLetterTable.Refused;
import io.gameq.mysql.OwnerReader;
import io.gameq.mysql.RowChange;
import io.gameq.redis.UnflushedRow;
import io.gameq.writer.redis.Claim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns claimed rows into row changes, with a catalogue that is read again when the schema changed.
 * Thread-safe.
 */
final class RowDecoder {
  private static final long RELOAD_AT_MOST_EVERY_NANOS = 5_000_000_000L;

  private static final Logger LOG = LoggerFactory.getLogger(RowDecoder.class);

  private final Supplier<Catalog> reader;
  private final RowCodec codec;
  private final ParkedTables parked;
  private volatile Catalog catalog;
  private long lastReloadNanos = System.nanoTime();

  RowDecoder(Supplier<Catalog> reader, RowCodec codec, ParkedTables parked) {
    this.reader = reader;
    this.codec = codec;
    this.parked = parked;
    this.catalog = reader.get();
  }

  /**
   * The rows of a claim.
   *
   * @param rows to flush
   * @param unreadable damaged: to be set aside
   * @param kept of tables that take no rows now, or not these: they wait in Redis
   */
  record Decoded(
      Claim claim, List<RowChange> rows, List<Refused> unreadable, List<UnflushedRow> kept) {}

  /**
   * Decodes claims, by a fresh catalogue if the present one does not do: a table may have come or
   * changed since.
   *
   * @throws io.gameq.MySqlException when MySQL is needed for that and does not answer
   */
  List<Decoded> decode(List<Claim> batch) {
    List<Decoded> decoded = decode(batch, catalog);
    if (decoded.stream().allMatch(of -> of.kept.isEmpty()) || !reloadCatalog()) {
      return decoded;
    }
    return decode(batch, catalog);
  }

  private List<Decoded> decode(List<Claim> batch, Catalog tables) {
    return batch.stream().map(claim -> decode(claim, tables)).toList();
  }

  private Decoded decode(Claim claim, Catalog tables) {
    Decoded decoded =
        new Decoded(
            claim, new ArrayList<>(claim.rows().size()), new ArrayList<>(), new ArrayList<>());
    for (UnflushedRow row : claim.rows()) {
      try {
        String table = RowKey.tableName(row.key());
        if (isClosed(table, tables)) {
          decoded.kept.add(row);
        } else {
          decoded.rows.add(change(claim, row, tables.table(table)));
        }
      } catch (MySqlException e) {
        throw e;
      } catch (LayoutException e) {
        parked.complain(RowKey.tableName(row.key()), e.getMessage());
        decoded.kept.add(row);
      } catch (GameQueueException e) {
        decoded.unreadable.add(setAside(claim, row, e.getMessage()));
      }
    }
    keepChildren(decoded);
    return decoded;
  }

  /** Rows that refer to a table of which rows are kept wait with them: they may be its children. */
  private static void keepChildren(Decoded decoded) {
    Set<String> kept = new HashSet<>();
    decoded.kept.forEach(row -> kept.add(RowKey.tableName(row.key())));
    for (boolean more = !kept.isEmpty(); more; ) {
      Set<String> children = new HashSet<>();
      for (RowChange row : decoded.rows) {
        if (row.image().op() != RowOp.DELETE
            && row.key().table().parents().stream().anyMatch(kept::contains)) {
          children.add(row.key().table().name());
        }
      }
      decoded.rows.removeIf(
          row ->
              children.contains(row.key().table().name())
                  && row.image().op() != RowOp.DELETE
                  && decoded.kept.add(new UnflushedRow(row.key().text(), row.encoded())));
      more = kept.addAll(children);
    }
  }

  private boolean isClosed(String table, Catalog tables) {
    return parked.isParked(table)
        || !isManaged(table, tables)
        || tables.table(table).parents().stream().anyMatch(parked::isParked);
  }

  private boolean isManaged(String table, Catalog tables) {
    boolean managed = tables.manages(table);
    if (!managed) {
      parked.complain(table, tables.unmanaged().getOrDefault(table, "it is not managed by gameq"));
    }
    return managed;
  }

  private RowChange change(Claim claim, UnflushedRow row, Table table) {
    RowKey key = new RowKey(table, row.key());
    return new RowChange(claim.owner(), key, codec.decode(table, row.image()), row.image());
  }

  /** The rows of a claim of which MySQL holds no newer or equal version, as far as keys tell. */
  List<UnflushedRow> notInMySql(Claim claim, OwnerReader reader) {
    Map<UnflushedRow, RowKey> keys = new HashMap<>();
    for (UnflushedRow row : claim.rows()) {
      try {
        RowKey key = catalog.rowKey(row.key());
        key.parts();
        keys.put(row, key);
      } catch (GameQueueException e) {
        LOG.debug("damaged, or of no managed table, so not in MySQL: {}", row.key());
      }
    }
    Map<RowKey, Long> there = reader.versions(keys.values());
    return claim.rows().stream()
        .filter(
            row -> !keys.containsKey(row) || there.getOrDefault(keys.get(row), -1L) < version(row))
        .toList();
  }

  /** A row to be set aside as it is. */
  static Refused setAside(Claim claim, UnflushedRow row, String reason) {
    int colon = row.key().indexOf(':');
    String table;
    try {
      table = RowKey.tableName(row.key());
    } catch (GameQueueException e) {
      table = "?";
    }
    return new Refused(
        claim.owner(),
        table,
        row.key().substring(colon + 1),
        version(row),
        row.image(),
        claim.attempts(),
        0,
        reason);
  }

  /** Zero when the row is too damaged to tell. */
  static long version(UnflushedRow row) {
    try {
      return RowCodec.version(row.image());
    } catch (GameQueueException e) {
      return 0;
    }
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
