package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
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
public final class RowReading {
  private final DurableRows durable;
  private final RowCodec codec;
  private final Set<String> registered = ConcurrentHashMap.newKeySet();

  /** What became of decoding a row. */
  public sealed interface Reading {}

  /** The row could be decoded. */
  public record Decoded(RowKey key, RowImage image) implements Reading {}

  /** The table or a column is gone, or the row is damaged. */
  public record Undecodable(String reason) implements Reading {}

  /** What MySQL holds of a row: the row, or the version in which it was deleted, or neither. */
  public record Present(@Nullable RowImage row, @Nullable Long deletedVersion) {}

  /**
   * Reads the catalogue.
   *
   * @throws GameQueueException when gameq's own tables are missing
   */
  public RowReading(MySql mysql) {
    this.durable = new DurableRows(mysql, CatalogReader.read(mysql));
    this.codec = new RowCodec(durable.layouts(), Clock.systemUTC());
  }

  /**
   * Decodes a row.
   *
   * @param rowKey {@code table:primary key}
   * @throws MySqlException when MySQL is needed for that and does not answer
   */
  public Reading read(String rowKey, byte[] image) {
    long began = System.nanoTime();
    try {
      RowKey unused = readKey(rowKey);
      RowImage row = durable.decodeToWrite(codec, rowKey, image, began);
      return new Decoded(readKey(rowKey), row); // of a table that may have been read anew
    } catch (MySqlException e) {
      throw e;
    } catch (GameQueueException e) {
      return new Undecodable(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      return new Undecodable("the row is damaged: " + e);
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
      durable.layouts().register(table);
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
    RowKey key = durable.catalog().rowKey(rowKey);
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
    return durable.reader().versions(keys);
  }

  /** What MySQL holds of a row now. */
  public Present present(OwnerId owner, RowKey key) {
    Found found = new Found();
    durable.reader().read(owner, null, List.of(), List.of(key), found);
    return new Present(found.row, found.deletedVersion);
  }

  private static final class Found implements OwnerReader.Sink {
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
