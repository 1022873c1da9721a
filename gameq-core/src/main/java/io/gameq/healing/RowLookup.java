package io.gameq.healing;

import io.gameq.MySqlException;
import io.gameq.healing.LeftWalReplay.Lookups;
import io.gameq.healing.LeftWalReplay.ReplayRedis;
import io.gameq.healing.LeftWalReplay.WalSet;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.WalReplay.Ownership;
import io.gameq.healing.WalReplay.Ownership.Conflict;
import io.gameq.healing.WalReplay.Ownership.Replayable;
import io.gameq.healing.WalReplay.Ownership.Verdict;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.OwnerTable.Durable;
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
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of a batch of rows: asks Redis, then MySQL, judges, and compares if wanted.
 * One thread.
 */
final class RowLookup {
  private static final byte[] EMPTY = {};

  private final DurableRows mysql;
  private final Planner.Options options;
  private final Function<OwnerId, SessionId> newestSession;
  private final RowCodec codec;
  private final IntPredicate isHealed;
  private final @Nullable Instant horizon; // deletes from before then may be forgotten
  private final @Nullable LookupScript redis;

  /**
   * Looks rows of one group of owners up.
   *
   * @param isHealed whether the node of a WAL, by its number, puts back by itself what is missing
   * @param newestSession of an owner, in all WALs
   */
  RowLookup(
      Lookups lookups,
      WalSet wals,
      Planner.Options options,
      IntPredicate isHealed,
      Function<OwnerId, SessionId> newestSession) {
    this.mysql = lookups.database();
    this.options = options;
    this.newestSession = newestSession;
    this.codec = lookups.codec(wals);
    this.isHealed = isHealed;
    this.horizon = lookups.database().horizon();
    ReplayRedis open = lookups.redis();
    this.redis = open == null ? null : new LookupScript(open.connection(), open.slots());
  }

  /**
   * A row that is looked up, and what Redis and MySQL answer. MySQL is asked for all but the
   * version only where that is missing or older than the WAL's; for the image also to compare.
   */
  private static final class Row {
    final WalRow change;
    final SessionId newestSession; // of its owner, in all WALs
    @Nullable RowKey key; // null when its table is not managed, or the key does not fit it
    String problem = ""; // why there is no key, or why the change cannot be decoded

    @Nullable SessionId ownedBy; // as far as Redis knows
    List<SessionId> sessions = List.of(); // that Redis was asked about
    Found inRedis = new Found(EMPTY, List.of(), EMPTY); // rows or versions; by these sessions

    @Nullable Long version; // in MySQL, of the row or its tombstone
    @Nullable Long deadLetter; // the version that MySQL refused
    List<Discard> discards = List.of();
    @Nullable Durable durable; // the owner's sessions
    @Nullable RowImage image;

    Row(WalRow change, SessionId newestSession) {
      this.change = change;
      this.newestSession = newestSession;
    }

    /** The newest that Redis holds of the row, empty for nothing. */
    byte[] newestInRedis() {
      byte[] best = inRedis.claimed();
      for (byte[] row : inRedis.dirty()) {
        best = redisVersion(row) > redisVersion(best) ? row : best;
      }
      return redisVersion(inRedis.owned()) > redisVersion(best) ? inRedis.owned() : best;
    }

    boolean isCoveredBy(byte[] row) {
      return row.length > 0 && Long.compareUnsigned(redisVersion(row), change.version()) >= 0;
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

  /** What became of each row, in the same order. */
  List<PlannedRow> classify(List<WalRow> batch) {
    long readNanos = System.nanoTime();
    List<Row> rows = batch.stream().map(this::row).toList();
    // Redis first: what it no longer has is in MySQL by the next line.
    if (redis != null) {
      askRedis(redis, rows);
    }
    askMySql(rows);
    return rows.stream().map(row -> planned(row, readNanos)).toList();
  }

  private Row row(WalRow change) {
    Row row = new Row(change, newestSession.apply(change.owner()));
    try {
      RowKey key = mysql.catalog().rowKey(change.key());
      key.parts(); // would else fail where it is bound
      row.key = key;
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      row.problem = String.valueOf(e.getMessage());
    }
    return row;
  }

  private void askRedis(LookupScript script, List<Row> rows) {
    Map<OwnerId, List<Row>> byOwner = new LinkedHashMap<>();
    rows.forEach(
        row -> byOwner.computeIfAbsent(row.change.owner(), of -> new ArrayList<>()).add(row));
    List<Question> questions = new ArrayList<>();
    byOwner.forEach(
        (owner, its) -> {
          Set<SessionId> sessions = new LinkedHashSet<>();
          its.forEach(row -> sessions.addAll(List.of(row.change.session(), row.newestSession)));
          List<String> keys = its.stream().map(row -> row.change.key()).toList();
          questions.add(new Question(owner, List.copyOf(sessions), keys));
        });
    List<Answer> answers = script.ask(questions, options.contents());
    for (int i = 0; i < answers.size(); i++) {
      Question question = questions.get(i);
      Answer answer = answers.get(i);
      List<Row> its = Objects.requireNonNull(byOwner.get(question.owner()));
      for (int field = 0; field < its.size(); field++) {
        Row row = its.get(field);
        row.ownedBy = answer.ownedBy();
        row.sessions = question.sessions();
        row.inRedis = answer.fields().get(field);
      }
    }
  }

  private void askMySql(List<Row> rows) {
    Set<RowKey> keys = keys(rows);
    Map<RowKey, Long> versions = mysql.versions(keys);
    rows.forEach(row -> row.version = row.key == null ? null : versions.get(row.key));
    List<Row> missing = rows.stream().filter(row -> !row.change.isCoveredBy(row.version)).toList();
    Set<RowKey> missingKeys = keys(missing);
    Map<OwnerId, Map<RowKey, Long>> letters = mysql.deadLetters(missingKeys);
    Map<RowKey, List<Discard>> discards = mysql.discards(missingKeys);
    Map<OwnerId, Durable> durable =
        mysql
            .owners()
            .durable(missing.stream().map(row -> row.change.owner()).collect(Collectors.toSet()));
    Map<RowKey, RowImage> images =
        options.contents() ? mysql.rows(options.compare() ? keys : missingKeys) : Map.of();
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

  private PlannedRow planned(Row row, long readNanos) {
    byte[] inRedis = row.newestInRedis();
    long redisVersion = redisVersion(inRedis);
    boolean contents = options.contents();
    PlannedRow planned =
        new PlannedRow(
            row.change,
            row.version,
            redisVersion < 0 ? null : redisVersion,
            row.image,
            contents && inRedis.length > 0 ? decoded(row, inRedis, readNanos) : null,
            contents ? decoded(row, row.change.image(), readNanos) : null,
            Status.IN_MYSQL,
            "",
            false,
            false);
    String difference = options.compare() ? difference(planned, inRedis) : "";
    return difference.isEmpty()
        ? judged(planned, row, readNanos)
        : planned.as(Status.OTHER_CONTENT, difference);
  }

  /** Null when it cannot be decoded: then the row's problem says why. */
  private @Nullable RowImage decoded(Row row, byte[] image, long readNanos) {
    if (row.key == null) {
      return null;
    }
    try {
      return mysql.decode(codec, row.change.key(), image, readNanos);
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      row.problem = String.valueOf(e.getMessage());
      return null;
    }
  }

  /** What became of a row, by what Redis and MySQL answered about it. */
  private PlannedRow judged(PlannedRow planned, Row row, long readNanos) {
    WalRow change = row.change;
    if (change.isCoveredBy(row.version)) {
      return planned;
    }
    if (row.discards.stream()
        .anyMatch(of -> of.covers(change.owner(), change.session(), change.version()))) {
      return planned.as(Status.DISCARDED, "");
    }
    Verdict verdict =
        Ownership.judge(change.session(), row.newestSession, row.durable, row.ownedBy);
    boolean restores = verdict instanceof Replayable replayable && replayable.restore();
    boolean isLive = isHealed.test(change.wal());
    if (isFlushedFromRedis(row, verdict)) {
      boolean isUnknown = verdict instanceof Replayable && row.ownedBy == null;
      return planned.as(
          Status.IN_REDIS, "", restores && !isLive, (restores || isUnknown) && !isLive);
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
    if (decoded(row, change.image(), readNanos) == null) {
      return planned.as(Status.UNREADABLE, row.problem);
    }
    if (horizon != null && isOld && !isDelete) {
      return planned.as(
          Status.TOO_OLD,
          "deletes from before %s UTC are forgotten: it could bring a deleted row back"
              .formatted(Shown.utc(horizon)));
    }
    if (verdict instanceof Conflict conflict) {
      boolean isDirty = row.inRedis.dirty().stream().anyMatch(row::isCoveredBy);
      return planned.as(isDirty ? Status.PARKED : Status.CONFLICT, conflict.reason());
    }
    return isLive
        ? planned.as(Status.LIVE, "its node is alive and heals itself")
        : planned.as(Status.LOST, restores ? "MySQL lost its session" : "", restores, true);
  }

  /**
   * Whether what Redis holds of the row will be flushed by writers, once its session is durable.
   */
  private static boolean isFlushedFromRedis(Row row, Verdict verdict) {
    if (row.isCoveredBy(row.inRedis.claimed())) {
      return true;
    }
    SessionId ownedBy = row.ownedBy;
    if (ownedBy != null) {
      Durable durable = row.durable;
      boolean isOlder =
          durable != null
              && ownedBy.text().compareTo(durable.sessions().holder(ownedBy).text()) < 0;
      boolean willBeOlder = verdict instanceof Replayable to && !to.under().equals(ownedBy);
      return row.isCoveredBy(row.inRedis.owned()) && !isOlder && !willBeOlder; // else it is parked
    }
    // a writer asks MySQL who owns, and tells Redis
    int at = verdict instanceof Replayable to ? row.sessions.indexOf(to.under()) : -1;
    return at >= 0 && row.isCoveredBy(row.inRedis.dirty().get(at));
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
}
