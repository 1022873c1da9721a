package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.LayoutException;
import io.gameq.MySqlException;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushTransaction.OwnerRows;
import io.gameq.mysql.flush.FlushTransaction.Written;
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
import io.gameq.writer.pause.Pauses.HeldTables;
import io.gameq.writer.pause.ResumedTables;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
  private final HoldUps.ParkedTables parked;
  private final Supplier<Pauses> pauses;

  public RowDecoder(Supplier<Catalog> reader, RowCodec codec, HoldUps holdUps) {
    this.catalogs = new CurrentCatalog(reader.get(), reader);
    this.codec = codec;
    this.parked = holdUps.tables();
    this.pauses = holdUps.pauses();
  }

  /**
   * The rows of a claim.
   *
   * @param rows to flush
   * @param unreadable damaged: to be set aside
   * @param kept of tables that take no rows now, or not these: they wait in Redis
   * @param paused the same of tables that operators paused, and of those that go with them
   * @param pausedTables that operators paused
   */
  record Decoded(
      Claim claim,
      List<RowChange> rows,
      List<Refused> unreadable,
      List<EncodedRow> kept,
      List<EncodedRow> paused,
      Set<String> pausedTables) {

    /** What MySQL is asked to write. */
    OwnerRows asked() {
      return new OwnerRows(
          claim.owner(),
          claim.session(),
          claim.attempts(),
          claim.refusedForMillis(),
          rows,
          unreadable);
    }

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
      List<VersionedKey> waiting = new ArrayList<>();
      kept.forEach(row -> waiting.add(new VersionedKey(row.key(), version(row))));
      paused.forEach(row -> waiting.add(new VersionedKey(row.key(), version(row))));
      for (RowChange row : written.kept()) {
        waiting.add(new VersionedKey(row.key().text(), row.image().version()));
      }
      boolean areAllPaused =
          kept.isEmpty() && written.kept().isEmpty() && nowPaused.containsAll(pausedTables);
      long version =
          Stream.of(
                  rows.stream().map(row -> row.image().version()),
                  setAside.stream().map(VersionedKey::version),
                  waiting.stream().map(VersionedKey::version))
              .flatMap(versions -> versions)
              .reduce(0L, Math::max);
      return new Flushed(
          claim,
          version,
          setAside,
          waiting,
          areAllPaused ? ResumedTables.PAUSED_MILLIS : HoldUps.RETRY_MILLIS);
    }
  }

  /**
   * What one batch is decoded by.
   *
   * @param isFresh whether the catalogue was read after the rows were
   * @param misfits tables that it does not fit, and why
   */
  private record By(
      Catalog tables,
      boolean isFresh,
      HoldUps.ParkedTables.Now parked,
      Set<String> paused,
      HeldTables held,
      Map<String, String> misfits) {
    By(Catalog tables, boolean isFresh, HoldUps.ParkedTables.Now parked, Set<String> paused) {
      this(tables, isFresh, parked, paused, HeldTables.of(paused, tables), new HashMap<>());
    }
  }

  /**
   * Decodes claims, by a fresh catalogue if the present one does not do: a table may have come or
   * changed since.
   *
   * @throws io.gameq.MySqlException when MySQL is needed for that and does not answer
   */
  Map<OwnerId, Decoded> decode(List<Claim> batch) {
    long claimedNanos = System.nanoTime();
    HoldUps.ParkedTables.Now now = parked.now();
    Set<String> paused = pauses.get().tables();
    By present = new By(catalogs.get(), false, now, paused);
    Map<OwnerId, Decoded> decoded = decode(batch, present);
    if (!present.misfits.isEmpty()) {
      if (parked.keptLately(present.misfits.keySet())
          && claimedNanos - catalogs.lastReadNanos() < RELOAD_AT_MOST_EVERY_NANOS) {
        return decoded; // it is asked again in a moment
      }
      By fresh = new By(catalogs.readAfter(claimedNanos), true, now, paused);
      decoded = decode(batch, fresh);
      fresh.misfits.forEach(parked::keepSome);
      return decoded;
    }
    if (decoded.values().stream().allMatch(of -> of.kept.isEmpty()) || !reloadCatalog()) {
      return decoded;
    }
    return decode(batch, new By(catalogs.get(), true, now, paused));
  }

  /** Tables whose rows wait since operators paused them, or what they refer to. */
  public Set<String> heldTables() {
    return HeldTables.of(pauses.get().tables(), catalogs.get()).waiting();
  }

  private Map<OwnerId, Decoded> decode(List<Claim> batch, By by) {
    Map<OwnerId, Decoded> decoded = new LinkedHashMap<>();
    batch.forEach(claim -> decoded.put(claim.owner(), decode(claim, by)));
    return decoded;
  }

  private Decoded decode(Claim claim, By by) {
    Decoded decoded =
        new Decoded(
            claim,
            new ArrayList<>(claim.rows().size()),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            by.paused);
    for (EncodedRow row : claim.rows()) {
      try {
        String table = RowKey.tableName(row.key());
        if (!by.held.waiting().isEmpty() && by.held.holds(table, row.op())) {
          decoded.paused.add(row);
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
    if (by.parked.isParked(table)) {
      return true;
    }
    if (!by.tables.manages(table)) {
      parked.keepSome(
          table, by.tables.unmanaged().getOrDefault(table, "it is not managed by gameq"));
      return true;
    }
    return by.tables.table(table).foreignKeys().parents().stream()
        .anyMatch(by.parked::isParentParked);
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
  Decoded givenUp(Claim claim, String reason, OwnerReader reader) {
    List<Refused> rows =
        notInMySql(claim, reader).stream()
            .filter(row -> !HandledRow.is(row.key())) // it decides whether the others count
            .map(row -> setAside(claim, row, reason))
            .toList();
    return new Decoded(
        claim, handled(claim.owner(), claim.rows()), rows, List.of(), List.of(), Set.of());
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
            row -> !keys.containsKey(row) || there.getOrDefault(keys.get(row), -1L) < version(row))
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
        version(row),
        row.image(),
        claim.attempts(),
        0,
        reason);
  }

  /** Zero when the row is too damaged to tell. */
  private static long version(EncodedRow row) {
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
