package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.MySqlException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decodes rows that were kept aside, by the catalogue as it is now, and finds what MySQL holds of
 * them. Thread-safe.
 */
public final class StoredRowDecoder {
  private final CurrentCatalog catalogs;
  private final LayoutTable layouts;
  private final RowCodec codec;
  private final OwnerReader reader;
  private final Set<String> registered = ConcurrentHashMap.newKeySet();

  /** What became of decoding a row. */
  public sealed interface DecodeResult {}

  /** The row could be decoded. */
  public record DecodedRow(RowKey key, RowImage image) implements DecodeResult {}

  /** The table or a column is gone, or the row is damaged. */
  public record DecodeError(String reason) implements DecodeResult {}

  /** What MySQL holds of a row: the row, or the version in which it was deleted, or neither. */
  public record CurrentRow(@Nullable RowImage row, @Nullable Long deletedVersion) {}

  /**
   * Reads the catalogue.
   *
   * @throws GameQueueException when gameq's own tables are missing
   */
  public StoredRowDecoder(MySql mysql) {
    this.catalogs = new CurrentCatalog(CatalogReader.read(mysql), () -> CatalogReader.read(mysql));
    this.layouts = new LayoutTable(mysql);
    this.codec = new RowCodec(layouts, Clock.systemUTC());
    this.reader = new OwnerReader(mysql);
  }

  /**
   * Decodes a row.
   *
   * @param rowKey {@code table:primary key}
   * @throws MySqlException when MySQL is needed for that and does not answer
   */
  public DecodeResult read(String rowKey, byte[] image) {
    try {
      return decoded(rowKey, image);
    } catch (MySqlException e) {
      throw e;
    } catch (GameQueueException e) {
      return new DecodeError(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      return new DecodeError("the row is damaged: " + e);
    }
  }

  private DecodedRow decoded(String rowKey, byte[] image) {
    try {
      RowKey key = readKey(rowKey);
      return new DecodedRow(key, codec.decode(key.table(), image));
    } catch (LayoutException e) {
      catalogs.readAfter(System.nanoTime());
      RowKey key = readKey(rowKey);
      return new DecodedRow(key, codec.decodeByFresh(key.table(), image));
    }
  }

  /**
   * Encodes a row that {@link #read} decoded and that was edited, in the columns that its table has
   * now.
   *
   * @throws MySqlException when MySQL, which keeps the list of columns, does not answer
   */
  public byte[] encode(RowImage image) {
    Table table = image.table();
    if (registered.add(table.name() + " " + table.fingerprint())) {
      layouts.register(table);
    }
    return codec.encodeWhole(image);
  }

  /** The key, or null when the table is not managed now or the key does not fit it. */
  public @Nullable RowKey key(String rowKey) {
    try {
      return readKey(rowKey);
    } catch (RuntimeException e) {
      return null;
    }
  }

  private RowKey readKey(String rowKey) {
    RowKey key = catalogs.get().rowKey(rowKey);
    try {
      key.parts(); // would else fail where it is bound
    } catch (GameQueueException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new GameQueueException("the row key does not fit table " + key.table().name(), e);
    }
    return key;
  }

  /** See {@link OwnerReader#versions}. */
  Map<RowKey, Long> versions(Collection<RowKey> keys) {
    return reader.versions(keys);
  }

  /** What MySQL holds of a row now. */
  public CurrentRow present(OwnerId owner, RowKey key) {
    RowSink found = new RowSink();
    reader.read(owner, null, List.of(), List.of(key), found);
    return new CurrentRow(found.row, found.deletedVersion);
  }

  private static final class RowSink implements OwnerReader.Sink {
    private @Nullable RowImage row;
    private @Nullable Long deletedVersion;

    @Override
    public void row(RowImage image) {
      row = image;
    }

    @Override
    public void tombstone(RowKey key, long version) {
      deletedVersion = version;
    }

    @Override
    public void tombstoneVersion(long version) {}
  }
}
