package io.gameq.healing;

import io.gameq.MySqlException;
import io.gameq.healing.Lookups.ReplayRedis;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Answer;
import io.gameq.redis.script.LookupScript.Found;
import io.gameq.redis.script.LookupScript.Question;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.terminal.Shown;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of a batch of rows: asks Redis, then MySQL, judges, and compares if wanted.
 * One thread.
 */
final class RowLookup {
  private final Lookups lookups;
  private final DurableRows mysql;
  private final boolean contents;
  private final boolean compare;
  private final RowCodec codec;
  private final IntPredicate isHealed;
  private final @Nullable Instant horizon; // deletes from before then may be forgotten
  private final @Nullable ReplayRedis redis;

  /**
   * Looks rows up.
   *
   * @param contents whether rows come with what MySQL and Redis hold; a comparison needs it
   * @param compare whether rows are compared where versions are the same
   * @param isHealed whether the node of a WAL, by its number, puts back by itself what is missing
   */
  RowLookup(
      Lookups lookups, RowCodec codec, boolean contents, boolean compare, IntPredicate isHealed) {
    this.lookups = lookups;
    this.mysql = lookups.database();
    this.contents = contents;
    this.compare = compare;
    this.codec = codec;
    this.isHealed = isHealed;
    this.horizon = mysql.horizon();
    this.redis = lookups.redis();
  }

  /**
   * A row that is looked up, and what Redis and MySQL answer. MySQL is asked for all but the
   * version only where that is missing or older than the WAL's; for the image also to compare.
   */
  private static final class Row {
    final WalRow change;
    final SessionId newestSession; // of its owner, in all WALs
    final long readNanos;
    @Nullable RowKey key; // null when its table is not managed, or the key does not fit it
    String problem = ""; // why there is no key, or why the change cannot be decoded

    @Nullable SessionId ownedBy; // as far as Redis knows
    Map<SessionId, byte[]> dirty = Map.of(); // by the sessions that were asked for
    byte[] claimed = {};
    byte[] owned = {}; // dirty under the session that owns

    @Nullable Long version; // in MySQL, of the row or its tombstone
    @Nullable Long deadLetter; // the version that MySQL refused
    List<Discard> discards = List.of();
    @Nullable Durable durable; // the owner's sessions
    @Nullable RowImage image;

    Row(WalRow change, SessionId newestSession, long readNanos) {
      this.change = change;
      this.newestSession = newestSession;
      this.readNanos = readNanos;
    }

    /** The newest that Redis holds of the row, empty for nothing. */
    byte[] newestInRedis() {
      byte[] newest = claimed;
      for (byte[] row : dirty.values()) {
        newest = redisVersion(row) > redisVersion(newest) ? row : newest;
      }
      return redisVersion(owned) > redisVersion(newest) ? owned : newest;
    }

    boolean isCoveredBy(byte @Nullable [] row) {
      return row != null
          && row.length > 0
          && Long.compareUnsigned(redisVersion(row), change.version()) >= 0;
    }
  }

  /** The version that begins a row or a version as Redis answers it, -1 for an empty one. */
  private static long redisVersion(byte[] row) {
    if (row.length < 16) {
      return -1;
    }
    long version = 0;
    for (int i = 0; i < 16; i++) {
      version = version << 4 | Math.max(0, Character.digit(row[i], 16));
    }
    return version;
  }

  /**
   * What became of each row, in the same order.
   *
   * @param fold that they are of
   */
  List<PlannedRow> classify(List<WalRow> batch, Fold fold) {
    long readNanos = System.nanoTime();
    List<Row> rows = new ArrayList<>();
    for (WalRow change : batch) {
      Row row = new Row(change, fold.owner(change.owner()).newest, readNanos);
      rows.add(row);
      try {
        RowKey key = mysql.catalog().rowKey(row.change.key());
        key.parts(); // would else fail where it is bound
        row.key = key;
      } catch (MySqlException e) {
        throw e;
      } catch (RuntimeException e) {
        row.problem = String.valueOf(e.getMessage());
      }
    }
    // Redis first: what it no longer has is in MySQL by the next line.
    if (redis != null) {
      askRedis(redis, rows);
    }
    askMySql(rows);
    return rows.stream().map(this::planned).toList();
  }

  private void askRedis(ReplayRedis of, List<Row> rows) {
    Map<OwnerId, List<Row>> byOwner = new LinkedHashMap<>();
    rows.forEach(
        row -> byOwner.computeIfAbsent(row.change.owner(), owner -> new ArrayList<>()).add(row));
    List<Question> questions = new ArrayList<>();
    byOwner.forEach(
        (owner, its) -> {
          Set<SessionId> sessions = new HashSet<>(Set.of(its.get(0).newestSession));
          its.forEach(row -> sessions.add(row.change.session()));
          List<String> keys = its.stream().map(row -> row.change.key()).toList();
          questions.add(new Question(owner, List.copyOf(sessions), keys));
        });
    Iterator<Answer> answers =
        LookupScript.ask(of.connection(), of.slots(), questions, contents).iterator();
    for (Question question : questions) {
      List<SessionId> sessions = question.sessions();
      Answer answer = answers.next();
      Iterator<Found> fields = answer.fields().iterator();
      for (Row row : Objects.requireNonNull(byOwner.get(question.owner()))) {
        Found found = fields.next();
        row.ownedBy = answer.ownedBy();
        row.claimed = found.claimed();
        row.owned = found.owned();
        row.dirty = new LinkedHashMap<>();
        for (int session = 0; session < sessions.size(); session++) {
          row.dirty.put(sessions.get(session), found.dirty().get(session));
        }
      }
    }
  }

  private void askMySql(List<Row> rows) {
    Set<RowKey> keys = keys(rows);
    Map<RowKey, Long> versions = mysql.reader().versions(keys);
    rows.forEach(row -> row.version = row.key == null ? null : versions.get(row.key));
    List<Row> missing = rows.stream().filter(row -> !row.change.isCoveredBy(row.version)).toList();
    Set<RowKey> missingKeys = keys(missing);
    Map<OwnerId, Map<RowKey, Long>> letters = mysql.reader().setAside(missingKeys);
    Map<RowKey, List<Discard>> discards = mysql.discards(missingKeys);
    Map<OwnerId, Durable> durable =
        lookups.durable(missing.stream().map(row -> row.change.owner()));
    Map<RowKey, RowImage> images = contents ? mysql.rows(compare ? keys : missingKeys) : Map.of();
    for (Row row : rows) {
      OwnerId owner = row.change.owner();
      row.durable = durable.get(owner);
      RowKey key = row.key;
      if (key != null) {
        row.deadLetter = letters.getOrDefault(owner.base(), Map.of()).get(key);
        row.discards = discards.getOrDefault(key, List.of());
        row.image = images.get(key);
      }
    }
  }

  private static Set<RowKey> keys(List<Row> rows) {
    Set<RowKey> keys = new HashSet<>();
    for (Row row : rows) {
      if (row.key != null) {
        keys.add(row.key);
      }
    }
    return keys;
  }

  private PlannedRow planned(Row row) {
    byte[] inRedis = row.newestInRedis();
    long redisVersion = redisVersion(inRedis);
    PlannedRow planned =
        new PlannedRow(
            row.change,
            row.version,
            redisVersion < 0 ? null : redisVersion,
            row.image,
            contents && inRedis.length > 0 ? decoded(row, inRedis) : null,
            contents ? decoded(row, row.change.image()) : null,
            Status.IN_MYSQL,
            "",
            false,
            false);
    String difference = compare ? difference(planned, inRedis) : "";
    return difference.isEmpty()
        ? judged(planned, row)
        : planned.as(Status.OTHER_CONTENT, difference);
  }

  /** Null when it cannot be decoded: then the row's problem says why. */
  private @Nullable RowImage decoded(Row row, byte[] image) {
    if (row.key == null) {
      return null;
    }
    try {
      return mysql.decode(codec, row.change.key(), image, row.readNanos);
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      row.problem = String.valueOf(e.getMessage());
      return null;
    }
  }

  /** What became of a row, by what Redis and MySQL answered about it. */
  private PlannedRow judged(PlannedRow planned, Row row) {
    WalRow change = row.change;
    if (change.isCoveredBy(row.version)) {
      return planned;
    }
    if (row.discards.stream()
        .anyMatch(of -> of.covers(change.owner(), change.session(), change.version()))) {
      return planned.as(Status.DISCARDED, "");
    }
    Verdict verdict = judge(change.session(), row.newestSession, row.durable, row.ownedBy);
    boolean isLive = isHealed.test(change.wal());
    if (isFlushedFromRedis(row, verdict)) {
      boolean isUnknown = verdict.under != null && row.ownedBy == null;
      return planned.as(
          Status.IN_REDIS,
          "",
          verdict.restores && !isLive,
          (verdict.restores || isUnknown) && !isLive);
    }
    if (change.isCoveredBy(row.deadLetter)) {
      return planned.as(Status.DEAD_LETTER, "");
    }
    boolean isDelete = change.op() == RowOp.DELETE;
    boolean isOld = horizon != null && Shown.time(change.version()).isBefore(horizon);
    if (isOld && isDelete && row.version == null) {
      return planned; // deleted, and even that is forgotten
    }
    if (row.key != null) {
      row.problem = "";
    }
    if (decoded(row, change.image()) == null) {
      return planned.as(Status.UNREADABLE, row.problem);
    }
    if (horizon != null && isOld && !isDelete) {
      return planned.as(
          Status.TOO_OLD,
          "deletes from before %s UTC are forgotten: it could bring a deleted row back"
              .formatted(Shown.utc(horizon)));
    }
    if (verdict.under == null) {
      boolean isDirty = row.dirty.values().stream().anyMatch(row::isCoveredBy);
      return planned.as(isDirty ? Status.PARKED : Status.CONFLICT, verdict.conflict);
    }
    return isLive
        ? planned.as(Status.LIVE, "its node is alive and heals itself")
        : planned.as(
            Status.LOST, verdict.restores ? "MySQL lost its session" : "", verdict.restores, true);
  }

  /**
   * Whether what Redis holds of the row will be flushed by writers, once its session is durable.
   */
  private static boolean isFlushedFromRedis(Row row, Verdict verdict) {
    if (row.isCoveredBy(row.claimed)) {
      return true;
    }
    SessionId ownedBy = row.ownedBy;
    if (ownedBy == null) { // a writer asks MySQL who owns, and tells Redis
      return verdict.under != null && row.isCoveredBy(row.dirty.get(verdict.under));
    }
    Durable durable = row.durable;
    boolean isOlder =
        durable != null && ownedBy.text().compareTo(durable.sessions().holder(ownedBy).text()) < 0;
    boolean willBeOlder = verdict.under != null && !verdict.under.equals(ownedBy);
    return row.isCoveredBy(row.owned) && !isOlder && !willBeOlder; // else it is parked
  }

  /** What of the same version differs, in the columns that the WAL's row names; or empty. */
  private static String difference(PlannedRow row, byte[] inRedis) {
    WalRow change = row.change();
    RowImage wal = row.wal();
    RowImage stored = row.mysql();
    if (wal != null
        && stored != null
        && row.mysqlVersion() != null
        && row.mysqlVersion() == change.version()
        && stored.version() == change.version()
        && change.op() != RowOp.DELETE
        && !isSame(wal, stored)) {
      return "MySQL holds this version with other values";
    }
    return inRedis.length > 0
            && redisVersion(inRedis) == change.version()
            && !Arrays.equals(inRedis, change.image())
        ? "Redis holds this version with other values"
        : "";
  }

  /** A column that the WAL's node did not know is what it was. */
  private static boolean isSame(RowImage wal, RowImage mysql) {
    if (wal.named() == null || wal.table().columns().size() != mysql.table().columns().size()) {
      return Arrays.deepEquals(wal.values(), mysql.values());
    }
    for (int i = 0; i < wal.values().length; i++) {
      if (wal.names(i) && !Objects.deepEquals(wal.values()[i], mysql.values()[i])) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether a row may be put back.
   *
   * @param under the session that owns; null: a later session opened the owner without the row
   * @param restores whether MySQL has lost that session
   * @param conflict the reason where it may not
   */
  record Verdict(@Nullable SessionId under, boolean restores, String conflict) {}

  /**
   * Judges one row, by who owns its owner now.
   *
   * <p>MySQL holding an older session of the owner than WALs do means that MySQL lost commits in a
   * failover: the WALs' newest session is restored, and everything from the session that MySQL
   * still knows on is put back under it.
   *
   * @param row the session that wrote the row last
   * @param newest the newest session of the owner in the WALs
   * @param durable what MySQL holds
   * @param inRedis the session that owns as far as Redis knows
   */
  static Verdict judge(
      SessionId row, SessionId newest, @Nullable Durable durable, @Nullable SessionId inRedis) {
    if (row.isInbox()) {
      return new Verdict(row, false, ""); // whoever has the owner
    }
    CountingSessions sessions = durable == null ? null : durable.sessions();
    boolean isLost = sessions == null || newest.isNewerThan(sessions.newest());
    if (durable != null
        && !CountingSessions.counts(sessions, row)
        && !(isLost && row.isNewerThan(durable.sessions().newest()))) {
      return new Verdict(
          null,
          false,
          "session %s of node %s has owned since %s UTC, later than %s of this change"
              .formatted(
                  durable.sessions().newest().text(),
                  Shown.text(durable.node()),
                  Shown.utc(durable.openedAt()),
                  row.text()));
    }
    SessionId under = sessions == null || isLost ? newest : sessions.holder(inRedis);
    return inRedis != null && inRedis.text().compareTo(under.text()) > 0
        ? new Verdict(
            null,
            false,
            "session %s owns in Redis, later than %s of this change; MySQL does not know it"
                .formatted(inRedis.text(), row.text()))
        : new Verdict(under, isLost, "");
  }
}
