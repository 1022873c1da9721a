package io.gameq.writer.campaign;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.servers.MySqlServer;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalReader.WalReport;
import io.gameq.wal.WalRecord;
import io.gameq.writer.campaign.Violation.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jdbi.v3.core.Jdbi;

/**
 * Flushes everything that the WALs of a case hold of acknowledged commits once more, as the owners'
 * present sessions, twice: newest first, then in any order. Nothing may change. Used by one thread,
 * when the nodes are gone.
 */
public final class HistoryReplay implements AutoCloseable {
  private static final int BATCH_ROWS = 500;

  /** Of a node's start, at the end of an inbox's name. */
  private static final int PROCESS_DIGITS = 8;

  private final Path wals;
  private final MySqlServer admin;
  private final MySql mysql;
  private final Jdbi jdbi;
  private final Catalog catalog;
  private final RowCodec codec;
  private final List<RowChange> images = new ArrayList<>();
  private final Set<String> logged = new HashSet<>();
  private final List<LoggedCommit> commits = new ArrayList<>();
  private final List<String> damaged = new ArrayList<>();

  /**
   * A commit in a WAL; immutable.
   *
   * @param owners of all its parts
   * @param versions row to the version that the commit gave it
   */
  public record LoggedCommit(
      String wal,
      long sequence,
      Attempt attempt,
      Set<OwnerId> owners,
      Map<String, Long> versions) {}

  /**
   * A replay.
   *
   * @param wals the directory that holds one WAL per process start
   * @param admin an administrator's login to the case's database
   * @param jdbcUrl the same database for the game's user
   */
  public HistoryReplay(Path wals, MySqlServer admin, String jdbcUrl) {
    this.wals = wals;
    this.admin = admin;
    mysql =
        MySqlPool.open(
            new MySqlConfig(
                jdbcUrl,
                CampaignMySql.login(Role.RECOVERY).user(),
                CampaignMySql.login(Role.RECOVERY).password(),
                2),
            "replay");
    jdbi = mysql.jdbi();
    catalog = CatalogReader.read(mysql);
    codec = new RowCodec(new LayoutTable(mysql), Clock.systemUTC());
  }

  /** {@code row=value} of every dead letter. */
  public Set<String> setAside() {
    Set<String> rows = new HashSet<>();
    jdbi.useHandle(
        handle ->
            handle
                .createQuery(
                    "SELECT CONCAT(table_name, ':', row_key), image FROM gameq_dead_letter")
                .map((rs, context) -> Map.entry(rs.getString(1), rs.getBytes(2)))
                .filter(letter -> !HandledRow.is(letter.getKey()))
                .forEach(
                    letter ->
                        rows.add(
                            letter.getKey()
                                + "="
                                + value(image(letter.getKey(), letter.getValue())))));
    return rows;
  }

  /** Reads the WALs of all process starts. */
  public void readWals(History history) throws IOException {
    try (Stream<Path> found = Files.list(wals)) {
      for (Path wal : found.toList()) {
        try {
          WalReport report =
              WalReader.read(wal, entry -> read(wal.getFileName().toString(), entry, history));
          if (!report.isWhole()) {
            report.damage().forEach(damage -> damaged.add(wal + ": " + damage));
          }
        } catch (GameQueueException e) {
          damaged.add(e.getMessage());
        }
      }
    }
  }

  /**
   * Every commit in the WALs that puts at least one row: a delete alone does not name its commit.
   */
  public List<LoggedCommit> commits() {
    return commits;
  }

  /** What is wrong with WALs, if anything. */
  public List<String> damaged() {
    return damaged;
  }

  private void read(String wal, WalRecord.Entry entry, History history) {
    WalRecord record = entry.record();
    if (record instanceof WalRecord.Adopted adopted) {
      adopted.part().rows().stream()
          .filter(row -> !HandledRow.is(row.key()))
          .forEach(row -> add(adopted.part(), row, history));
    } else if (record instanceof WalRecord.Committed committed) {
      Map<String, Long> versions = new HashMap<>();
      Set<OwnerId> owners = new HashSet<>();
      Attempt of = null;
      for (WalRecord.Part part : committed.parts()) {
        owners.add(OwnerId.ofEncoded(part.owner()));
        for (EncodedRow row : part.rows()) {
          if (HandledRow.is(row.key())) {
            continue; // it names no attempt, and other checks see to it
          }
          versions.put(row.key(), row.version());
          String value = value(image(row.key(), row.image()));
          logged.add(row.key() + "=" + value + "@" + row.version());
          Attempt attempt = history.attempts.get(value);
          of = attempt != null ? attempt : of;
          if (attempt == null || attempt.outcome == Attempt.Outcome.OK) {
            add(part, row, history); // a delete carries no value: it is looked at later
          }
        }
      }
      if (of != null) {
        of.versions.putAll(versions);
        commits.add(new LoggedCommit(wal, entry.sequence(), of, owners, versions));
      }
    }
  }

  private void add(WalRecord.Part part, EncodedRow row, History history) {
    long version = row.version();
    if (history.conflicts.stream()
        .anyMatch(lost -> lost.row().equals(row.key()) && version <= lost.version())) {
      return; // reported, and not in MySQL
    }
    RowKey key = catalog.rowKey(row.key());
    images.add(
        new RowChange(
            OwnerId.ofEncoded(part.owner()),
            key,
            codec.decodeByFresh(key.table(), row.image()),
            row.image()));
  }

  private RowImage image(String row, byte[] encoded) {
    return codec.decodeByFresh(catalog.rowKey(row).table(), encoded);
  }

  private static String value(RowImage image) {
    return image.op() == RowOp.DELETE
        ? ""
        : String.valueOf(
            image.values()[image.table().columns().indexOf(image.table().column("val"))]);
  }

  /** Every row in MySQL carries the version that the WAL logged with its value. */
  public List<Violation> checkVersions(Map<String, Held> rows) {
    List<Violation> violations = new ArrayList<>();
    if (damaged.isEmpty()) {
      rows.forEach(
          (row, held) -> {
            if (!logged.contains(row + "=" + held.value() + "@" + held.version())) {
              violations.add(
                  new Violation(
                      Kind.STALE,
                      "MySQL holds %s as %s in version %d, which no WAL logged"
                          .formatted(row, held.value(), held.version())));
            }
          });
    }
    return violations;
  }

  /** Flushes all images twice; what changed is a violation. */
  public List<Violation> twice(Random random) throws SQLException {
    dropDeletesThatNeverHappened();
    dropWhatWasRefusedForAWhile();
    images.sort((a, b) -> Long.compare(b.image().version(), a.image().version()));
    Map<String, String> before = FinalState.everything(admin);
    flushAll();
    Collections.shuffle(images, random);
    flushAll();
    Map<String, String> after = FinalState.everything(admin);
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    return names.stream()
        .filter(name -> !Objects.equals(before.get(name), after.get(name)))
        .map(
            name ->
                new Violation(
                    Kind.STALE,
                    "replaying %d images twice changed %s from %s to %s"
                        .formatted(images.size(), name, before.get(name), after.get(name))))
        .toList();
  }

  /**
   * A delete that is newer than all that MySQL knows of the row was never acknowledged, or is lost:
   * the checker tells. Of a put and a delete of one version one was refused, since another session
   * had been opened at that moment: if it was the put, a tombstone stands in its way.
   */
  private void dropDeletesThatNeverHappened() {
    Map<RowKey, Set<Long>> puts = new HashMap<>();
    images.stream()
        .filter(change -> change.image().op() != RowOp.DELETE)
        .forEach(
            change ->
                puts.computeIfAbsent(change.key(), key -> new HashSet<>())
                    .add(change.image().version()));
    OwnerReader reader = new OwnerReader(mysql);
    Map<RowKey, Long> versions =
        reader.versions(
            images.stream()
                .filter(change -> change.image().op() == RowOp.DELETE)
                .map(RowChange::key)
                .distinct()
                .toList());
    images.removeIf(
        change ->
            change.image().op() == RowOp.DELETE
                && (versions.getOrDefault(change.key(), 0L) < change.image().version()
                    || puts.getOrDefault(change.key(), Set.of())
                        .contains(change.image().version())));
  }

  /** Now MySQL would take it, as {@code dead retry} would have it. */
  private void dropWhatWasRefusedForAWhile() {
    Set<String> refused = setAside();
    images.removeIf(
        change -> {
          String value = value(change.image());
          return !value.startsWith(CampaignTables.POISON)
              && refused.contains(change.key().text() + "=" + value);
        });
  }

  private void flushAll() {
    FlushTransaction flush =
        new FlushTransaction(
            mysql, GuardedWrites.on(mysql), new FlushPlan.Patience(1, 0, 0, 15, 100_000));
    Map<OwnerId, CountingSessions> sessions =
        new OwnerTable(mysql)
            .current(images.stream().map(change -> change.owner().base()).distinct().toList());
    Map<RowKey, RowChange> batch = new LinkedHashMap<>();
    for (RowChange change : images) {
      if (batch.size() == BATCH_ROWS || batch.containsKey(change.key())) {
        flush(flush, batch, sessions);
      }
      batch.put(change.key(), change);
    }
    flush(flush, batch, sessions);
  }

  private static void flush(
      FlushTransaction flush,
      Map<RowKey, RowChange> batch,
      Map<OwnerId, CountingSessions> sessions) {
    Map<OwnerId, List<RowChange>> owners = new HashMap<>();
    batch
        .values()
        .forEach(
            change -> owners.computeIfAbsent(change.owner(), o -> new ArrayList<>()).add(change));
    List<OwnerRows> rows = new ArrayList<>();
    owners.forEach(
        (owner, changes) ->
            rows.add(new OwnerRows(owner, session(owner, sessions), 1, 0, changes, List.of())));
    if (!rows.isEmpty()) {
      FlushTransaction.Outcome outcome = flush.flush(rows);
      if (!(outcome instanceof FlushTransaction.Committed)) {
        throw new IllegalStateException("a replayed flush was refused: " + outcome);
      }
    }
    batch.clear();
  }

  private static SessionId session(OwnerId owner, Map<OwnerId, CountingSessions> sessions) {
    String encoded = owner.encoded();
    return owner.isInbox()
        ? SessionId.ofInbox(encoded.substring(encoded.length() - PROCESS_DIGITS))
        : Objects.requireNonNull(sessions.get(owner)).newest();
  }

  @Override
  public void close() throws Exception {
    mysql.close();
  }
}
