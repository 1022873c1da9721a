package io.gameq.mysql.tables;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.term.Term;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What MySQL holds of rows and owners, as a replay asks for it. Reads only. Thread-safe. */
public final class DurableRows {
  /** Only says whose tombstones are summed up, which nobody asks for here. */
  private static final OwnerId NOBODY = OwnerId.of("nobody:0");

  private final MySql mysql;
  private final CurrentCatalog catalogs;
  private final OwnerReader reader;
  private final LayoutTable layouts;
  private final OwnerTable owners;

  /**
   * Rows of a database.
   *
   * @param catalog its managed tables, as they were just read
   */
  public DurableRows(MySql mysql, Catalog catalog) {
    this.mysql = mysql;
    this.catalogs = new CurrentCatalog(catalog, () -> CatalogReader.read(mysql));
    this.reader = new OwnerReader(mysql);
    this.layouts = new LayoutTable(mysql);
    this.owners = new OwnerTable(mysql);
  }

  /** The managed tables, as they were read last. */
  public Catalog catalog() {
    return catalogs.get();
  }

  public OwnerReader reader() {
    return reader;
  }

  /** The durable sessions. */
  public OwnerTable owners() {
    return owners;
  }

  /** Column lists in gameq_layout, where writers look for them. */
  public LayoutTable layouts() {
    return layouts;
  }

  /**
   * Decodes a row of a WAL; where it does not fit, by a catalogue that was read after it: a table
   * may have been altered meanwhile. Without columns that are gone: the row itself keeps them.
   *
   * @param sinceNanos a moment of {@link System#nanoTime} after the row was read
   * @throws LayoutException when it does not fit that either
   * @throws GameQueueException when its table is not managed, or the row is damaged
   */
  public RowImage decode(RowCodec codec, String rowKey, byte[] image, long sinceNanos) {
    return decode(codec, rowKey, image, sinceNanos, codec::decodeForGame);
  }

  /**
   * The same of a row that is to be written into MySQL.
   *
   * @throws LayoutException also when it names columns that are gone and not announced as dropped
   */
  public RowImage decodeToWrite(RowCodec codec, String rowKey, byte[] image, long sinceNanos) {
    return decode(codec, rowKey, image, sinceNanos, codec::decodeByFresh);
  }

  private RowImage decode(
      RowCodec codec,
      String rowKey,
      byte[] image,
      long sinceNanos,
      BiFunction<Table, byte[], RowImage> byFresh) {
    try {
      return codec.decode(catalogs.get().rowKey(rowKey).table(), image);
    } catch (LayoutException e) {
      return byFresh.apply(catalogs.readAfter(sinceNanos).rowKey(rowKey).table(), image);
    }
  }

  /** The time before which deletes may be forgotten; null as long as none was purged. */
  public @Nullable Instant horizon() {
    return TombstoneHorizon.read(mysql);
  }

  /** What of these rows was given up; rows of which nothing was are missing. */
  public Map<RowKey, List<Discard>> discards(Collection<RowKey> keys) {
    return mysql.ask(handle -> DiscardTable.read(handle.getConnection(), keys));
  }

  /** The rows themselves; those that MySQL does not hold are missing. */
  public Map<RowKey, RowImage> rows(Collection<RowKey> keys) {
    Map<RowKey, RowImage> found = new HashMap<>();
    reader.read(
        NOBODY,
        null,
        Term.NOT_KNOWN,
        0,
        List.of(),
        keys,
        image -> found.put(image.rowKey(), image));
    return found;
  }
}
