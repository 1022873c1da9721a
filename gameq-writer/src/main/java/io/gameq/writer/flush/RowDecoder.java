package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.MySqlException;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.FlushPlan.Written;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.ClaimScript.Flushed;
import io.gameq.redis.script.ClaimScript.VersionedKey;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.pause.Pauses.PausedTables;
import io.gameq.writer.pause.ResumedTables;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
  private final FlushBlockers.ParkedTables parked;
  private final Supplier<Pauses> pauses;

  public RowDecoder(Supplier<Catalog> reader, RowCodec codec, FlushBlockers blockers) {
    this.catalogs = new CurrentCatalog(reader.get(), reader);
    this.codec = codec;
    this.parked = blockers.tables();
    this.pauses = blockers.pauses();
  }

  /**
   * A claim, decoded.
   *
   * @param asked what MySQL is asked to write
   * @param kept rows of tables that take no rows now, or not these: they wait in Redis
   * @param paused the same of tables that operators paused, and of those that go with them
   * @param pausedTables that operators paused
   */
  record DecodedClaim(
      Claim claim,
      OwnerRows asked,
      List<VersionedKey> kept,
      List<VersionedKey> paused,
      Set<String> pausedTables) {
    /**
     * What to acknowledge.
     *
     * @param nowPaused tables that operators paused, as it is known now
     */
    Flushed flushed(Written written, Set<String> nowPaused) {
      List<VersionedKey> setAside =
          written.setAside().stream()
              .map(row -> new VersionedKey(row.key(), row.version()))
              .toList();
      List<VersionedKey> waiting = new ArrayList<>(kept);
      waiting.addAll(paused);
      for (RowChange row : written.kept()) {
        waiting.add(new VersionedKey(row.key().text(), row.image().version()));
      }
      boolean areAllPaused =
          kept.isEmpty() && written.kept().isEmpty() && nowPaused.containsAll(pausedTables);
      long version = 0;
      for (RowChange row : asked.rows()) {
        version = Math.max(version, row.image().version());
      }
      for (List<VersionedKey> some : List.of(setAside, waiting)) {
        for (VersionedKey row : some) {
          version = Math.max(version, row.version());
        }
      }
      return new Flushed(
          claim,
          version,
          setAside,
          waiting,
          areAllPaused ? ResumedTables.PAUSED_MILLIS : FlushBlockers.RETRY_MILLIS);
    }
  }

  /**
   * Decodes claims, by a fresh catalogue if the present one does not do: a table may have come or
   * changed since.
   *
   * @throws io.gameq.MySqlException when MySQL is needed for that and does not answer
   */
  Map<OwnerId, DecodedClaim> decode(List<Claim> batch) {
    long claimedNanos = System.nanoTime();
    FlushBlockers.ParkedTables.ParkedView now = parked.now();
    Set<String> paused = pauses.get().tables();
    Pass present = new Pass(catalogs.get(), false, now, paused);
    Map<OwnerId, DecodedClaim> decoded = present.decode(batch);
    if (!present.misfits.isEmpty()) {
      if (parked.keptLately(present.misfits.keySet())
          && claimedNanos - catalogs.lastReadNanos() < RELOAD_AT_MOST_EVERY_NANOS) {
        return decoded; // it is asked again in a moment
      }
      Pass fresh = new Pass(catalogs.readAfter(claimedNanos), true, now, paused);
      decoded = fresh.decode(batch);
      fresh.misfits.forEach(parked::keepSome);
      return decoded;
    }
    return decoded.values().stream().allMatch(of -> of.kept.isEmpty()) || !reloadCatalog()
        ? decoded
        : new Pass(catalogs.get(), true, now, paused).decode(batch);
  }

  /** Tables whose rows wait since operators paused them, or what they refer to. */
  public Set<String> heldTables() {
    return PausedTables.of(pauses.get().tables(), catalogs.get()).waiting();
  }

  /** Decodes one batch by one catalogue. Used by one thread. */
  private final class Pass {
    private final Catalog tables;
    private final boolean isFresh;
    private final FlushBlockers.ParkedTables.ParkedView parkedNow;
    private final Set<String> paused;
    private final PausedTables held;

    /** Tables that the catalogue does not fit, and why. */
    private final Map<String, String> misfits = new HashMap<>();

    /** By a catalogue that was read after the rows were, if it is fresh. */
    Pass(
        Catalog tables,
        boolean isFresh,
        FlushBlockers.ParkedTables.ParkedView parkedNow,
        Set<String> paused) {
      this.tables = tables;
      this.isFresh = isFresh;
      this.parkedNow = parkedNow;
      this.paused = paused;
      this.held = PausedTables.of(paused, tables);
    }

    Map<OwnerId, DecodedClaim> decode(List<Claim> batch) {
      Map<OwnerId, DecodedClaim> decoded = new LinkedHashMap<>();
      batch.forEach(claim -> decoded.put(claim.owner(), decode(claim)));
      return decoded;
    }

    private DecodedClaim decode(Claim claim) {
      List<RowChange> rows = new ArrayList<>(claim.rows().size());
      List<Refused> unreadable = new ArrayList<>();
      List<VersionedKey> kept = new ArrayList<>();
      List<VersionedKey> waiting = new ArrayList<>();
      for (EncodedRow row : claim.rows()) {
        try {
          String table = RowKey.tableName(row.key());
          if (!held.waiting().isEmpty() && held.holds(table, row.op())) {
            waiting.add(versioned(row));
          } else if (isClosed(table)) {
            kept.add(versioned(row));
          } else {
            rows.add(change(claim.owner(), row, tables.table(table), isFresh));
          }
        } catch (MySqlException e) {
          throw e;
        } catch (LayoutException e) {
          misfits.put(RowKey.tableName(row.key()), String.valueOf(e.getMessage()));
          kept.add(versioned(row));
        } catch (GameQueueException e) {
          unreadable.add(setAside(claim, row, e.getMessage()));
        }
      }
      keepChildren(rows, kept);
      return new DecodedClaim(claim, asked(claim, rows, unreadable), kept, waiting, paused);
    }

    private boolean isClosed(String table) {
      if (parkedNow.isParked(table)) {
        return true;
      }
      if (!tables.manages(table)) {
        parked.keepSome(
            table, tables.unmanaged().getOrDefault(table, "it is not managed by gameq"));
        return true;
      }
      Set<String> parents = tables.table(table).foreignKeys().parents();
      return !parents.isEmpty() && parents.stream().anyMatch(parkedNow::isParentParked);
    }
  }

  private static OwnerRows asked(Claim claim, List<RowChange> rows, List<Refused> unreadable) {
    return new OwnerRows(
        claim.owner(),
        claim.session(),
        claim.attempts(),
        claim.refusedForMillis(),
        rows,
        unreadable);
  }

  /** Rows that refer to a table of which rows are kept wait with them: they may be its children. */
  private static void keepChildren(List<RowChange> rows, List<VersionedKey> kept) {
    Set<String> tables = new HashSet<>();
    kept.forEach(row -> tables.add(RowKey.tableName(row.key())));
    boolean more = !tables.isEmpty();
    while (more) {
      List<RowChange> children = new ArrayList<>();
      rows.removeIf(
          row ->
              row.image().op() != RowOp.DELETE
                  && !Collections.disjoint(parents(row), tables)
                  && children.add(row));
      more = !children.isEmpty();
      for (RowChange row : children) {
        kept.add(new VersionedKey(row.key().text(), row.image().version()));
        tables.add(row.key().table().name());
      }
    }
  }

  private static Set<String> parents(RowChange row) {
    return row.key().table().foreignKeys().parents();
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

  /** A claim that nobody can flush: what MySQL lacks of it is to be set aside. */
  DecodedClaim givenUp(Claim claim, String reason, OwnerReader reader) {
    List<Refused> rows =
        notInMySql(claim, reader).stream()
            .filter(row -> !HandledRow.is(row.key())) // it decides whether the others count
            .map(row -> setAside(claim, row, reason))
            .toList();
    OwnerRows asked = asked(claim, handled(claim.owner(), claim.rows()), rows);
    return new DecodedClaim(claim, asked, List.of(), List.of(), Set.of());
  }

  /** The rows of a claim of which MySQL holds no newer or equal version, as far as keys tell. */
  private List<EncodedRow> notInMySql(Claim claim, OwnerReader reader) {
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
            row ->
                !keys.containsKey(row)
                    || there.getOrDefault(keys.get(row), -1L) < WalRow.version(row.image()))
        .toList();
  }

  /** A row to be set aside as it is. */
  private static Refused setAside(Claim claim, EncodedRow row, String reason) {
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
        WalRow.version(row.image()),
        row.image(),
        claim.attempts(),
        0,
        reason);
  }

  private static VersionedKey versioned(EncodedRow row) {
    return new VersionedKey(row.key(), WalRow.version(row.image()));
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
