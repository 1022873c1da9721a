package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.HandoverTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.term.Term;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decodes dead letters and stale rows by the current catalogue, and reads what MySQL holds of their
 * rows. Thread-safe.
 */
public final class StoredRowDecoder {
  private final DurableRows durable;
  private final RowCodec codec;
  private final Set<String> registered = ConcurrentHashMap.newKeySet();

  /** The result of decoding a row. */
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
    this.durable = new DurableRows(mysql, CatalogReader.read(mysql));
    this.codec = new RowCodec(durable.layouts(), Clock.systemUTC());
  }

  /**
   * Decodes a row.
   *
   * @param rowKey {@code table:primary key}
   * @throws MySqlException when MySQL is needed for that and does not answer
   */
  public DecodeResult read(String rowKey, byte[] image) {
    long began = System.nanoTime();
    try {
      RowKey unused = readKey(rowKey);
      RowImage row = durable.decodeToWrite(codec, rowKey, image, began);
      return new DecodedRow(readKey(rowKey), row); // of a table that may have been read anew
    } catch (MySqlException e) {
      throw e;
    } catch (GameQueueException e) {
      return new DecodeError(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      return new DecodeError("the row is damaged: " + e);
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
  public CurrentRow present(OwnerId owner, RowKey key) {
    RowSink found = new RowSink();
    durable.reader().read(owner, null, Term.NOT_KNOWN, 0, List.of(), List.of(key), found);
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
  }

  /**
   * What MySQL holds of one row, and gameq's own tables of it. Immutable.
   *
   * @param row null when there is none, or its table is not managed
   * @param deleted null when it was never deleted, or so long ago that nobody remembers
   * @param discards changes that operators gave up
   * @param handovers moves between owners that are not settled
   * @param ownerByKey whose row it is, where the key tells
   */
  public record MySqlRow(
      @Nullable RowImage row,
      @Nullable Tombstone deleted,
      List<Stored> letters,
      List<Discard> discards,
      List<HandoverTable.NotedHandover> handovers,
      @Nullable OwnerId ownerByKey) {
    private static final int MOST_LETTERS = 100;

    /** A tombstone. */
    public record Tombstone(OwnerId owner, long version) {}

    /**
     * Asks.
     *
     * @param table by name, managed or not
     * @param keyText the part of the row key after the table
     * @param key the row's; null when its table is not managed
     * @throws io.gameq.MySqlException when MySQL does not answer
     */
    public static MySqlRow read(
        MySql mysql, StoredRowDecoder rows, String table, String keyText, @Nullable RowKey key) {
      OwnerId byKey = key == null ? null : ownerByKey(key);
      RowImage row = key == null ? null : rows.present(anyOwner(key.table()), key).row();
      return mysql.ask(
          handle -> {
            Connection connection = handle.getConnection();
            return new MySqlRow(
                row,
                deleted(connection, table, keyText),
                letters(connection, table, keyText),
                key == null
                    ? List.of()
                    : DiscardTable.read(connection, List.of(key)).getOrDefault(key, List.of()),
                key == null
                    ? List.of()
                    : HandoverTable.read(connection, List.of(key)).getOrDefault(key, List.of()),
                byKey);
          });
    }

    /** Only an owner's own rows are read by owner: here it is one row, by its key. */
    private static OwnerId anyOwner(Table table) {
      return OwnerId.of(table.ownerKind() + ":0");
    }

    private static @Nullable OwnerId ownerByKey(RowKey key) {
      Table table = key.table();
      int at = table.keyColumns().indexOf(table.ownerColumn());
      return at < 0 ? null : table.ownerOfValue(key.parts()[at]);
    }

    private static @Nullable Tombstone deleted(Connection connection, String table, String keyText)
        throws SQLException {
      return Sql.first(
          connection,
          "SELECT owner, version FROM gameq_tombstone WHERE table_name = ? AND row_key = ?",
          rs ->
              new Tombstone(
                  OwnerId.ofEncoded(rs.getString(1)), Long.parseUnsignedLong(rs.getString(2))),
          table,
          keyText);
    }

    private static List<Stored> letters(Connection connection, String table, String keyText)
        throws SQLException {
      return Sql.list(
          connection,
          ("SELECT %s FROM gameq_dead_letter WHERE table_name = ? AND row_key = ? ORDER BY id LIMIT"
                  + " %s")
              .formatted(DeadLetterTable.COLUMNS, MOST_LETTERS),
          DeadLetterTable::letter,
          table,
          keyText);
    }

    /** Everybody who has, had or wanted the row. */
    public Set<OwnerId> owners() {
      Set<OwnerId> owners = new LinkedHashSet<>();
      if (ownerByKey != null) {
        owners.add(ownerByKey);
      }
      if (row != null) {
        owners.add(row.table().ownerOf(row.values()));
      }
      if (deleted != null) {
        owners.add(deleted.owner());
      }
      letters.forEach(of -> owners.add(of.refused().owner()));
      discards.forEach(of -> owners.add(of.owner()));
      handovers.forEach(of -> owners.add(of.owner()));
      return owners;
    }
  }
}
