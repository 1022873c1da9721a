package io.gameq.writer.turn;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.MySqlException;
import io.gameq.mysql.ErrorKind.RowChange;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.HandledRow;
import io.gameq.rows.HandledRow.EncodedRow;
import io.gameq.rows.HandledRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.writer.pause.Pausing.HeldTables;
import io.gameq.writer.pause.Pausing.Pauses;
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
public final class RowDecoder {
  private static final long RELOAD_AT_MOST_EVERY_NANOS = 5_000_000_000L;

  private static final Logger LOG = LoggerFactory.getLogger(RowDecoder.class);

  private final CurrentCatalog catalogs;
  private final RowCodec codec;
  private final ParkedTables parked;
  private final Supplier<Pauses> pauses;

  public RowDecoder(
      Supplier<Catalog> reader, RowCodec codec, ParkedTables parked, Supplier<Pauses> pauses) {
    this.catalogs = new CurrentCatalog(reader.get(), reader);
    this.codec = codec;
    this.parked = parked;
    this.pauses = pauses;
  }

  /**
   * The rows of a claim.
   *
   * @param rows to flush
   * @param unreadable damaged: to be set aside
   * @param kept of tables that take no rows now, or not these: they wait in Redis
   * @param paused the same of tables that operators paused
   */
  record Decoded(
      Claim claim,
      List<RowChange> rows,
      List<Refused> unreadable,
      List<EncodedRow> kept,
      Paused paused) {}

  /**
   * Rows that wait until tables are resumed.
   *
   * @param rows of these tables, and of those that go with them
   * @param tables that operators paused
   */
  record Paused(List<EncodedRow> rows, Set<String> tables) {
    static final Paused NONE = new Paused(List.of(), Set.of());
  }

  /**
   * A catalogue to decode by; whether it was read after the rows were, and what it does not fit.
   */
  private static final class By {
    private final Catalog tables;
    private final boolean isFresh;
    private final Waits waits;
    private final HeldTables held;
    private final Map<String, String> misfits = new HashMap<>();

    By(Catalog tables, boolean isFresh, Waits waits) {
      this.tables = tables;
      this.isFresh = isFresh;
      this.waits = waits;
      this.held = HeldTables.of(waits.paused, tables);
    }
  }

  /** What holds for one batch, whichever catalogue it is decoded by. */
  private record Waits(ParkedTables.Now parked, Set<String> paused) {}

  /**
   * Decodes claims, by a fresh catalogue if the present one does not do: a table may have come or
   * changed since.
   *
   * @throws io.gameq.MySqlException when MySQL is needed for that and does not answer
   */
  List<Decoded> decode(List<Claim> batch) {
    long claimedNanos = System.nanoTime();
    Waits now = new Waits(parked.now(), pauses.get().tables());
    By present = new By(catalogs.get(), false, now);
    List<Decoded> decoded = decode(batch, present);
    if (!present.misfits.isEmpty()) {
      if (parked.keptLately(present.misfits.keySet())
          && claimedNanos - catalogs.lastReadNanos() < RELOAD_AT_MOST_EVERY_NANOS) {
        return decoded; // it is asked again in a moment
      }
      By fresh = new By(catalogs.readAfter(claimedNanos), true, now);
      decoded = decode(batch, fresh);
      fresh.misfits.forEach(parked::keepSome);
      return decoded;
    }
    if (decoded.stream().allMatch(of -> of.kept.isEmpty()) || !reloadCatalog()) {
      return decoded;
    }
    return decode(batch, new By(catalogs.get(), true, now));
  }

  /** Tables whose rows wait since operators paused them, or what they refer to. */
  public Set<String> heldTables() {
    return HeldTables.of(pauses.get().tables(), catalogs.get()).waiting();
  }

  private List<Decoded> decode(List<Claim> batch, By by) {
    return batch.stream().map(claim -> decode(claim, by)).toList();
  }

  private Decoded decode(Claim claim, By by) {
    Decoded decoded =
        new Decoded(
            claim,
            new ArrayList<>(claim.rows().size()),
            new ArrayList<>(),
            new ArrayList<>(),
            new Paused(new ArrayList<>(), by.waits.paused));
    for (EncodedRow row : claim.rows()) {
      try {
        String table = RowKey.tableName(row.key());
        if (!by.held.isEmpty() && by.held.holds(table, row.op())) {
          decoded.paused.rows.add(row);
        } else if (isClosed(table, by)) {
          decoded.kept.add(row);
        } else {
          decoded.rows.add(change(claim.owner(), row, by.tables.table(table), by.isFresh));
        }
      } catch (MySqlException e) {
        throw e;
      } catch (LayoutException e) {
        by.misfits.put(RowKey.tableName(row.key()), String.valueOf(e.getMessage()));
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
            && row.key().table().foreignKeys().parents().stream().anyMatch(kept::contains)) {
          children.add(row.key().table().name());
        }
      }
      decoded.rows.removeIf(
          row ->
              children.contains(row.key().table().name())
                  && row.image().op() != RowOp.DELETE
                  && decoded.kept.add(new EncodedRow(row.key().text(), row.encoded())));
      more = kept.addAll(children);
    }
  }

  private boolean isClosed(String table, By by) {
    return by.waits.parked.isParked(table)
        || !isManaged(table, by.tables)
        || by.tables.table(table).foreignKeys().parents().stream()
            .anyMatch(by.waits.parked::isParentParked);
  }

  private boolean isManaged(String table, Catalog tables) {
    boolean managed = tables.manages(table);
    if (!managed) {
      parked.keepSome(table, tables.unmanaged().getOrDefault(table, "it is not managed by gameq"));
    }
    return managed;
  }

  private RowChange change(OwnerId owner, EncodedRow row, Table table, boolean isFresh) {
    RowKey key = new RowKey(table, row.key());
    RowImage image =
        isFresh ? codec.decodeByFresh(table, row.image()) : codec.decode(table, row.image());
    return new RowChange(owner, key, image, row.image());
  }

  /** Those of an owner's rows that tell which messages were handled, but for damaged ones. */
  List<RowChange> handled(OwnerId owner, List<EncodedRow> rows) {
    List<RowChange> handled = new ArrayList<>();
    for (EncodedRow row : rows) {
      if (HandledRow.is(row.key())) {
        try {
          handled.add(change(owner, row, catalogs.get().rowKey(row.key()).table(), false));
        } catch (GameQueueException e) {
          LOG.warn("row {} cannot be read: {}", row.key(), e.getMessage());
        }
      }
    }
    return handled;
  }

  /** The rows of a claim of which MySQL holds no newer or equal version, as far as keys tell. */
  List<EncodedRow> notInMySql(Claim claim, OwnerReader reader) {
    Map<EncodedRow, RowKey> keys = new HashMap<>();
    for (EncodedRow row : claim.rows()) {
      try {
        RowKey key = catalogs.get().rowKey(row.key());
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
  static Refused setAside(Claim claim, EncodedRow row, String reason) {
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
  static long version(EncodedRow row) {
    try {
      return row.version();
    } catch (GameQueueException e) {
      return 0;
    }
  }

  /**
   * Reads the catalogue again; whether the table is another one since rows were decoded by it.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  boolean isAltered(Table table) {
    Catalog now = catalogs.readAfter(System.nanoTime());
    return now.manages(table.name())
        && now.table(table.name()).fingerprint() != table.fingerprint();
  }

  /** Reads the catalogue again; false when that was done a moment ago. */
  boolean reloadCatalog() {
    long now = System.nanoTime();
    if (now - catalogs.lastReadNanos() < RELOAD_AT_MOST_EVERY_NANOS) {
      return false;
    }
    catalogs.readAfter(now);
    return true;
  }
}
