package io.gameq.view;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.MySqlException;
import io.gameq.OwnershipLostException;
import io.gameq.Row;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.term.Term;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges what Redis holds of an owner with what MySQL does: the last step of open, and every read.
 * Thread-safe.
 */
public final class OwnerViews {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerViews.class);

  /** How often the catalogue is read again for rows of tables that are not managed. */
  private static final long UNMANAGED_EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final GameRows rows;
  private final OwnerReader reader;

  public OwnerViews(GameRows rows, OwnerReader reader) {
    this.rows = rows;
    this.reader = reader;
  }

  /** What Redis holds of an owner, by a catalogue that fits all of it. */
  private record Unflushed(Catalog catalog, List<RowImage> images, long highestVersion) {}

  /** Rows that somebody else put into gameq's keys, or broke: writers set them aside. */
  public static List<EncodedRow> withoutDamaged(List<EncodedRow> rows) {
    return rows.stream().filter(row -> !isDamaged(row)).toList();
  }

  private static boolean isDamaged(EncodedRow row) {
    try {
      row.version();
      RowKey.tableName(row.key());
      return false;
    } catch (GameQueueException e) {
      return true;
    }
  }

  /**
   * Passes when everything that Redis holds of an owner can be read; to be called before the owner
   * is taken from the session that it has.
   *
   * @throws LayoutException naming table, column and remedy, when a row was written with columns
   *     that the table has not got, by a catalogue that was read after it
   */
  public void requireReadable(List<EncodedRow> unflushed) {
    decode(unflushed);
  }

  /**
   * Reads MySQL and merges. Redis was read first: what it no longer had then is in MySQL by now.
   *
   * @param session that is being opened; null for a read
   * @param term the number of the Redis primary's term, for a session
   * @param adopted the highest version that the session took over, 0 for none
   * @param of the tables that are wanted; the view is told which of them are not there
   * @param inRedis what Redis holds of the owner, without what is damaged
   * @throws io.gameq.term.Term.TermMovedException when another Redis primary counts
   * @throws OwnershipLostException when a newer session was opened meanwhile
   * @throws LayoutException as {@link #requireReadable}
   */
  public OwnerView load(
      OwnerId owner,
      @Nullable SessionId session,
      long term,
      long adopted,
      List<Table> of,
      List<EncodedRow> inRedis) {
    return againIfAltered(
        () -> {
          Unflushed unflushed = decode(inRedis);
          Catalog catalog = unflushed.catalog;
          List<String> wanted = of.stream().map(Table::name).toList();
          List<String> missing = wanted.stream().filter(name -> !catalog.manages(name)).toList();
          OwnerView view =
              new OwnerView(owner, unflushed.images, unflushed.highestVersion, missing);
          boolean stillOwns =
              reader.read(
                  owner,
                  session,
                  term,
                  adopted,
                  wanted.stream().filter(catalog::manages).map(catalog::table).toList(),
                  unflushed.images.stream().map(RowImage::rowKey).toList(),
                  view);
          if (!stillOwns) {
            throw new OwnershipLostException(
                owner.id(),
                "another session opened %s while session %s was being opened"
                    .formatted(owner, session));
          }
          addDeadLetters(view);
          return view;
        });
  }

  /** A table may have been altered since the catalogue was read. */
  private <T> T againIfAltered(Supplier<T> read) {
    try {
      return read.get();
    } catch (MySqlException e) {
      if (!ErrorKind.isOfSchema(e)) {
        throw e;
      }
      rows.current.readAfter(System.nanoTime());
      return read.get();
    }
  }

  /** Those that no newer version, delete or move has replaced. */
  private void addDeadLetters(OwnerView view) {
    if (view.refused().isEmpty()) {
      return;
    }
    Map<String, Long> there =
        versions(view.refused().stream().map(DeadLetterTable.Stored::key).toList());
    for (DeadLetterTable.Stored letter : view.refused()) {
      if (there.getOrDefault(letter.key(), -1L) < letter.refused().version()) {
        RowImage image = decodeLetter(letter);
        Row row = image == null || image.op() == RowOp.DELETE ? null : rows.row(image);
        view.addDeadLetter(letter, image, row);
      }
    }
  }

  /** Null when it cannot be read now. */
  private @Nullable RowImage decodeLetter(DeadLetterTable.Stored letter) {
    try {
      Unflushed decoded = decode(List.of(new EncodedRow(letter.key(), letter.refused().image())));
      return decoded.images.isEmpty() ? null : decoded.images.get(0);
    } catch (LayoutException e) {
      LOG.warn("dead letter {} cannot be read now: {}", letter.id(), e.getMessage());
      return null;
    }
  }

  // --- rows of Redis

  /**
   * Decodes rows by the catalogue at hand, and where a row does not fit that by one that is read
   * now: a table may have been altered since, or come.
   */
  private Unflushed decode(List<EncodedRow> unflushed) {
    long readNanos = System.nanoTime();
    CurrentCatalog current = rows.current;
    boolean isOld = System.nanoTime() - current.lastReadNanos() > UNMANAGED_EVERY_NANOS;
    try {
      Catalog present = current.get();
      if (!isOld || unflushed.stream().allMatch(row -> isManaged(row, present))) {
        return decode(unflushed, present, false);
      }
    } catch (LayoutException e) {
      LOG.info("reading the catalogue again: {}", e.getMessage());
    }
    return decode(unflushed, current.readAfter(readNanos), true);
  }

  private Unflushed decode(List<EncodedRow> unflushed, Catalog catalog, boolean isFresh) {
    List<RowImage> images = new ArrayList<>();
    long highest = 0;
    for (EncodedRow row : unflushed) {
      try {
        if (HandledRow.is(row.key())) { // the game has no rows of it
          highest = Math.max(highest, row.version());
        } else if (isManaged(row, catalog)) {
          Table table = catalog.rowKey(row.key()).table();
          images.add(
              isFresh
                  ? rows.codec.decodeForGame(table, row.image())
                  : rows.codec.decode(table, row.image()));
        } else {
          LOG.warn("row {} cannot be read: its table is not managed now", row.key());
          highest = Math.max(highest, row.version());
        }
      } catch (MySqlException | LayoutException e) {
        throw e;
      } catch (GameQueueException e) { // damaged: a writer sets it aside
        LOG.warn("row {} cannot be read: {}", row.key(), e.getMessage());
      }
    }
    return new Unflushed(catalog, images, highest);
  }

  private static boolean isManaged(EncodedRow row, Catalog catalog) {
    return catalog.manages(RowKey.tableName(row.key()));
  }

  /** Rows as MySQL holds them, whoever owns them; none of those that it lacks. */
  public List<EncodedRow> stored(OwnerId owner, Collection<String> rowKeys) {
    return againIfAltered(
        () -> {
          OwnerView view = new OwnerView(owner, List.of(), 0, List.of());
          boolean unused =
              reader.read(owner, null, Term.NOT_KNOWN, 0, List.of(), managed(rowKeys), view);
          return view.newest().stream()
              .map(row -> new EncodedRow(row.rowKey().text(), rows.codec.encodeWhole(row)))
              .toList();
        });
  }

  /** The version that MySQL holds of each row, deleted rows by their tombstone. */
  public Map<String, Long> versions(Collection<String> rowKeys) {
    return versions(reader, rows.current.get(), rowKeys);
  }

  /** The same with the tables of a catalogue. */
  public static Map<String, Long> versions(
      OwnerReader reader, Catalog catalog, Collection<String> rowKeys) {
    return byText(reader.versions(managed(catalog, rowKeys)));
  }

  /** The versions in which rows were set aside, of each owner. */
  public Map<OwnerId, Map<String, Long>> setAside(Collection<String> rowKeys) {
    Map<OwnerId, Map<String, Long>> byOwner = new HashMap<>();
    reader
        .setAside(managed(rowKeys))
        .forEach((owner, versions) -> byOwner.put(owner, byText(versions)));
    return byOwner;
  }

  /**
   * What MySQL holds of rows while no flush of their owner is under way.
   *
   * @param open the owner's newest session; null when it is not open yet
   */
  public record Settled(
      @Nullable SessionId open, Map<String, Long> versions, Map<String, Long> setAside) {}

  /** See {@link OwnerReader#settled}. */
  public Settled settled(OwnerId owner, Collection<String> rowKeys) {
    OwnerReader.Settled settled = reader.settled(owner, managed(rowKeys));
    return new Settled(settled.open(), byText(settled.versions()), byText(settled.setAside()));
  }

  private List<RowKey> managed(Collection<String> rowKeys) {
    return managed(rows.current.get(), rowKeys);
  }

  private static List<RowKey> managed(Catalog catalog, Collection<String> rowKeys) {
    return rowKeys.stream()
        .filter(row -> catalog.manages(RowKey.tableName(row)))
        .map(catalog::rowKey)
        .toList();
  }

  private static Map<String, Long> byText(Map<RowKey, Long> versions) {
    Map<String, Long> byText = new HashMap<>();
    versions.forEach((key, version) -> byText.put(key.text(), version));
    return byText;
  }
}
