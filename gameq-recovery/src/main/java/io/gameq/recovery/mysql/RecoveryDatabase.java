package io.gameq.recovery.mysql;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.healing.AdoptedHalves;
import io.gameq.healing.DurableSessions;
import io.gameq.healing.DurableTruth;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.owner.OwnerId;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.Catalog;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.LayoutSource;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import io.gameq.rows.Table;
import io.gameq.term.Terms;
import io.gameq.view.OwnerViews;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The game's database, as recovery looks at it. Reads only, unless a method says otherwise. */
public final class RecoveryDatabase implements AutoCloseable {
  private static final int CONNECTIONS = 4;

  /** Only says whose tombstones are summed up, which nobody asks for here. */
  private static final OwnerId NOBODY = OwnerId.of("nobody:0");

  private final MySql mysql;
  private final CurrentCatalog catalogs;
  private final OwnerReader reader;
  private final LayoutTable layouts;
  private final Map<String, String> settings;

  private RecoveryDatabase(MySql mysql) {
    this.mysql = mysql;
    MySqlServerCheck.of(mysql).requireUsable();
    Settings.requireSchema(mysql);
    this.settings =
        MySqlErrors.mysql(
            () ->
                mysql
                    .jdbi()
                    .withHandle(
                        handle ->
                            handle
                                .createQuery("SELECT name, value FROM gameq_setting")
                                .map((rs, context) -> Map.entry(rs.getString(1), rs.getString(2)))
                                .collectToMap(Map.Entry::getKey, Map.Entry::getValue)));
    this.catalogs = new CurrentCatalog(CatalogReader.read(mysql), () -> CatalogReader.read(mysql));
    this.reader = new OwnerReader(mysql);
    this.layouts = new LayoutTable(mysql);
  }

  /**
   * Connects and reads the catalogue.
   *
   * @throws GameQueueException when MySQL is away, refuses the login, or lacks gameq's own tables
   */
  public static RecoveryDatabase open(MySqlConfig config) {
    MySql mysql = MySqlPool.open(config.withPoolSize(CONNECTIONS), "recovery");
    try {
      return new RecoveryDatabase(mysql);
    } catch (RuntimeException e) {
      mysql.close();
      throw e;
    }
  }

  /**
   * Refuses a WAL of another game.
   *
   * @param wal names it in the error
   * @throws GameQueueException when the database has another namespace or number of slots
   */
  public void requireSame(String wal, String namespace, int slots) {
    String itsNamespace = settings.get("namespace");
    String itsSlots = settings.get("slots");
    if (itsNamespace == null || itsSlots == null) {
      throw new GameQueueException(
          "the database has no namespace and slots in gameq_setting: no node has used it yet; is it"
              + " the right one?");
    }
    if (!namespace.equals(itsNamespace) || !Integer.toString(slots).equals(itsSlots)) {
      throw new GameQueueException(
          ("WAL %s is of namespace %s with %d slots, the database is of namespace %s with"
                  + " %s slots: give the database that the node used")
              .formatted(wal, namespace, slots, itsNamespace, itsSlots));
    }
  }

  /** The managed tables, as they were read last. */
  public Catalog catalog() {
    return catalogs.get();
  }

  /**
   * Decodes a row of a WAL; where it does not fit, by a catalogue that was read after it: a table
   * may have been altered meanwhile.
   *
   * @param sinceNanos a moment of {@link System#nanoTime} after the row was read
   * @throws io.gameq.LayoutException when it does not fit that either
   * @throws GameQueueException when its table is not managed, or the row is damaged
   */
  public RowImage decode(RowCodec codec, String rowKey, byte[] image, long sinceNanos) {
    try {
      return codec.decode(catalogs.get().rowKey(rowKey).table(), image);
    } catch (LayoutException e) {
      return codec.decodeByFresh(catalogs.readAfter(sinceNanos).rowKey(rowKey).table(), image);
    }
  }

  /** Which Redis primary counts. */
  public Terms terms() {
    return new TermTable(mysql);
  }

  /** Column lists in gameq_layout. */
  public LayoutSource layouts() {
    return layouts;
  }

  /** The time before which deletes may be forgotten; null as long as none was purged. */
  public @Nullable Instant horizon() {
    return TombstoneHorizon.read(mysql);
  }

  /**
   * The version that MySQL holds of each row, deleted rows by their tombstone; others are missing.
   */
  public Map<RowKey, Long> versions(Collection<RowKey> keys) {
    return reader.versions(keys);
  }

  /** The versions in which rows of each owner were refused and set aside; others are missing. */
  public Map<OwnerId, Map<RowKey, Long>> deadLetters(Collection<RowKey> keys) {
    return reader.setAside(keys);
  }

  /** What of these rows was given up; rows of which nothing was are missing. */
  public Map<RowKey, List<Discard>> discards(Collection<RowKey> keys) {
    Map<Table, List<RowKey>> byTable = keys.stream().collect(Collectors.groupingBy(RowKey::table));
    return MySqlErrors.mysql(
        () ->
            mysql
                .jdbi()
                .withHandle(
                    handle -> {
                      Map<RowKey, List<Discard>> found = new HashMap<>();
                      for (Map.Entry<Table, List<RowKey>> of : byTable.entrySet()) {
                        found.putAll(
                            DiscardTable.read(handle.getConnection(), of.getKey(), of.getValue()));
                      }
                      return found;
                    }));
  }

  /** The rows themselves; those that MySQL does not hold are missing. */
  public Map<RowKey, RowImage> rows(Collection<RowKey> keys) {
    Map<RowKey, RowImage> found = new HashMap<>();
    reader.read(
        NOBODY,
        null,
        List.of(),
        keys,
        new OwnerReader.Sink() {
          @Override
          public void row(RowImage image) {
            found.put(image.rowKey(), image);
          }

          @Override
          public void tombstone(RowKey key, long version) {}

          @Override
          public void tombstoneVersion(long version) {}
        });
    return found;
  }

  /** Writes a column list into gameq_layout, where writers look for it, unless it is there. */
  public void registerLayout(String table, long fingerprint, String columns) {
    MySqlErrors.mysql(
        () ->
            mysql
                .jdbi()
                .withHandle(
                    handle ->
                        handle.execute(
                            "INSERT IGNORE INTO gameq_layout (table_name, fingerprint, columns)"
                                + " VALUES (?, ?, ?)",
                            table,
                            fingerprint,
                            columns)));
  }

  /** What a healing asks MySQL. */
  public DurableTruth truth(SlotKeys[] slots) {
    DurableSessions sessions = new SessionsForMessages(new OwnerTable(mysql));
    return new DurableTruth(
        sessions,
        new AdoptedHalves(
            slots, sessions, rows -> OwnerViews.versions(reader, catalogs.get(), rows)));
  }

  /** The durable sessions. */
  public DurableOwners owners() {
    return new DurableOwners(mysql);
  }

  /** Writes that go around Redis. */
  public DirectReplay directReplay() {
    return new DirectReplay(mysql);
  }

  @Override
  public void close() {
    mysql.close();
  }
}
