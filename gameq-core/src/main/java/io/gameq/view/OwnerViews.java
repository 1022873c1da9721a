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
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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

  private final GameTables tables;
  private final RowCodec codec;
  private final OwnerReader reader;

  public OwnerViews(GameTables tables, RowCodec codec, OwnerReader reader) {
    this.tables = tables;
    this.codec = codec;
    this.reader = reader;
  }

  /**
   * What Redis holds of an owner, without what is damaged.
   *
   * @param own what its sessions committed
   * @param sent what others sent to it
   */
  public record InRedis(List<EncodedRow> own, List<EncodedRow> sent) {
    /** The highest version of the owner's own, 0 for none. */
    private long adopted() {
      return own.stream().mapToLong(EncodedRow::version).reduce(0, Math::max);
    }

    private List<EncodedRow> all() {
      List<EncodedRow> all = new ArrayList<>(own);
      all.addAll(sent);
      return all;
    }
  }

  /** The same by a catalogue that fits all of it. */
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

  /** As {@link GameTables#lookForMissing}. */
  public void lookForMissingTables() {
    tables.lookForMissing();
  }

  /**
   * Reads MySQL and merges. Redis was read first: what it no longer had then is in MySQL by now.
   *
   * @param session that is being opened; null for a read
   * @param term the number of the Redis primary's term, for a session
   * @param of the tables that are wanted; the view is told which of them are not there
   * @param unflushed what Redis holds
   * @throws io.gameq.term.Term.TermMovedException when another Redis primary counts
   * @throws OwnershipLostException when a newer session was opened meanwhile
   * @throws LayoutException as {@link #requireReadable}
   */
  public OwnerView load(
      OwnerId owner, @Nullable SessionId session, long term, List<Table> of, InRedis unflushed) {
    try {
      return loadOnce(owner, session, term, of, unflushed);
    } catch (MySqlException e) {
      if (!ErrorKind.isOfSchema(e)) {
        throw e;
      }
      tables.current().readAfter(System.nanoTime());
      return loadOnce(owner, session, term, of, unflushed);
    }
  }

  private OwnerView loadOnce(
      OwnerId owner, @Nullable SessionId session, long term, List<Table> of, InRedis rows) {
    Unflushed unflushed = decode(rows.all());
    List<Table> present = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (Table table : of) {
      if (unflushed.catalog.manages(table.name())) {
        present.add(unflushed.catalog.table(table.name()));
      } else {
        missing.add(table.name());
      }
    }
    Stored stored = new Stored(owner, unflushed, missing);
    boolean stillOwns =
        reader.read(
            owner,
            session,
            term,
            rows.adopted(),
            present,
            unflushed.images.stream().map(RowImage::rowKey).toList(),
            stored);
    if (!stillOwns) {
      throw new OwnershipLostException(
          owner.id(),
          "another session opened " + owner + " while session " + session + " was being opened");
    }
    addDeadLetters(stored.view, stored.letters);
    return stored.view;
  }

  /** Adds what MySQL stores to what Redis holds; begun anew, into a new view. */
  private static final class Stored implements OwnerReader.Sink {
    private final OwnerId owner;
    private final Unflushed unflushed;
    private final List<String> missing;
    private OwnerView view;
    private List<DeadLetterTable.Stored> letters = new ArrayList<>();

    Stored(OwnerId owner, Unflushed unflushed, List<String> missing) {
      this.owner = owner;
      this.unflushed = unflushed;
      this.missing = missing;
      this.view = new OwnerView(owner);
    }

    @Override
    public void begin() {
      view = new OwnerView(owner);
      view.sawVersion(unflushed.highestVersion);
      unflushed.images.forEach(view::addUnflushed);
      missing.forEach(view::addMissing);
      letters = new ArrayList<>();
    }

    @Override
    public void row(RowImage image) {
      view.addStored(image);
    }

    @Override
    public void tombstone(RowKey key, long version) {
      view.addTombstone(key, version);
    }

    @Override
    public void discard(RowKey key, long version) {
      view.addDiscard(key, version);
    }

    @Override
    public void deadLetter(DeadLetterTable.Stored letter) {
      letters.add(letter);
    }

    @Override
    public void tombstoneVersion(long version) {
      view.sawVersion(version);
    }
  }

  /** Those that no newer version, delete or move has replaced. */
  private void addDeadLetters(OwnerView view, List<DeadLetterTable.Stored> letters) {
    Map<String, Long> there =
        letters.isEmpty()
            ? Map.of()
            : versions(letters.stream().map(DeadLetterTable.Stored::key).toList());
    for (DeadLetterTable.Stored letter : letters) {
      if (there.getOrDefault(letter.key(), -1L) < letter.refused().version()) {
        RowImage image = decodeLetter(letter);
        Row row = image == null || image.op() == RowOp.DELETE ? null : tables.row(image);
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
  private Unflushed decode(List<EncodedRow> rows) {
    long readNanos = System.nanoTime();
    CurrentCatalog current = tables.current();
    boolean isOld = System.nanoTime() - current.lastReadNanos() > UNMANAGED_EVERY_NANOS;
    try {
      Catalog present = current.get();
      if (!isOld || rows.stream().allMatch(row -> isManaged(row, present))) {
        return decode(rows, present, false);
      }
    } catch (LayoutException e) {
      LOG.info("reading the catalogue again: {}", e.getMessage());
    }
    return decode(rows, current.readAfter(readNanos), true);
  }

  private Unflushed decode(List<EncodedRow> rows, Catalog catalog, boolean isFresh) {
    List<RowImage> images = new ArrayList<>();
    long highest = 0;
    for (EncodedRow row : rows) {
      try {
        if (HandledRow.is(row.key())) { // the game has no rows of it
          highest = Math.max(highest, row.version());
        } else if (isManaged(row, catalog)) {
          Table table = catalog.rowKey(row.key()).table();
          images.add(
              isFresh ? codec.decodeForGame(table, row.image()) : codec.decode(table, row.image()));
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
    try {
      return storedOnce(owner, rowKeys);
    } catch (MySqlException e) {
      if (!ErrorKind.isOfSchema(e)) {
        throw e;
      }
      tables.current().readAfter(System.nanoTime());
      return storedOnce(owner, rowKeys);
    }
  }

  private List<EncodedRow> storedOnce(OwnerId owner, Collection<String> rowKeys) {
    List<EncodedRow> rows = new ArrayList<>();
    boolean unused =
        reader.read(
            owner,
            null,
            List.of(),
            managed(rowKeys),
            new OwnerReader.Sink() {
              @Override
              public void begin() {
                rows.clear();
              }

              @Override
              public void row(RowImage image) {
                rows.add(new EncodedRow(image.rowKey().text(), codec.encodeWhole(image)));
              }

              @Override
              public void tombstone(RowKey key, long version) {}

              @Override
              public void tombstoneVersion(long version) {}
            });
    return rows;
  }

  /** The version that MySQL holds of each row, deleted rows by their tombstone. */
  public Map<String, Long> versions(Collection<String> rowKeys) {
    return versions(reader, tables.current().get(), rowKeys);
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
    return managed(tables.current().get(), rowKeys);
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
