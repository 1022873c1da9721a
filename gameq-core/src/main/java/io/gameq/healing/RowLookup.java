package io.gameq.healing;

import io.gameq.MySqlException;
import io.gameq.healing.LeftWalReplay.Lookups;
import io.gameq.healing.LeftWalReplay.ReplayRedis;
import io.gameq.healing.LeftWalReplay.WalSet;
import io.gameq.healing.OwnerGroup.WalRow;
import io.gameq.healing.Planner.PlannedRow;
import io.gameq.healing.Planner.PlannedRow.Contents;
import io.gameq.healing.Planner.PlannedRow.Judgement;
import io.gameq.healing.WalReplay.Ownership;
import io.gameq.healing.WalReplay.Ownership.Conflict;
import io.gameq.healing.WalReplay.Ownership.Replayable;
import io.gameq.healing.WalReplay.Ownership.Verdict;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.mysql.tables.DurableRows;
import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Answer;
import io.gameq.redis.script.LookupScript.Found;
import io.gameq.redis.script.LookupScript.Question;
import io.gameq.rows.HandledRow.RowKey;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.terminal.Shown;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
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
   * A row that Redis and MySQL are asked about.
   *
   * @param newestSession of its owner, in all WALs
   * @param key null when its table is not managed, or the key does not fit it
   * @param keyProblem why there is no key; empty when there is one
   */
  record AskedRow(
      WalRow change, SessionId newestSession, @Nullable RowKey key, String keyProblem) {}

  /** What became of each row, in the same order. */
  List<PlannedRow> classify(List<WalRow> batch) {
    long readNanos = System.nanoTime();
    List<AskedRow> rows = batch.stream().map(this::asked).toList();
    // Redis first: what it no longer has is in MySQL by the next line.
    List<InRedis> inRedis =
        redis == null
            ? Collections.nCopies(rows.size(), InRedis.NOTHING)
            : askRedis(redis, rows, options.contents());
    List<InMySql> inMySql = askMySql(rows);
    List<PlannedRow> planned = new ArrayList<>(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      planned.add(planned(rows.get(i), inRedis.get(i), inMySql.get(i), readNanos));
    }
    return planned;
  }

  private AskedRow asked(WalRow row) {
    SessionId newest = newestSession.apply(row.owner());
    try {
      RowKey key = mysql.catalog().rowKey(row.key());
      key.parts(); // would else fail where it is bound
      return new AskedRow(row, newest, key, "");
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      return new AskedRow(row, newest, null, String.valueOf(e.getMessage()));
    }
  }

  private PlannedRow planned(AskedRow row, InRedis redis, InMySql mysql, long readNanos) {
    WalRow change = row.change;
    Judgement judgement = judge(row, redis, mysql, readNanos);
    Contents contents =
        options.contents()
            ? new Contents(
                mysql.image,
                redis.newest().length == 0 ? null : decoded(row, redis.newest(), readNanos).image,
                decoded(row, change.image(), readNanos).image)
            : Contents.NONE;
    if (options.compare()) {
      String difference = difference(change, redis, mysql, contents);
      if (!difference.isEmpty()) {
        judgement = Judgement.of(Status.OTHER_CONTENT, difference);
      }
    }
    long inRedis = InRedis.version(redis.newest());
    return new PlannedRow(change, mysql.version, inRedis < 0 ? null : inRedis, contents, judgement);
  }

  /** A decoded row; null, and why, when it is none or cannot be decoded. */
  private record Decoded(@Nullable RowImage image, String problem) {}

  private Decoded decoded(AskedRow row, byte[] image, long readNanos) {
    if (row.key == null) {
      return new Decoded(null, row.keyProblem);
    }
    try {
      return new Decoded(mysql.decode(codec, row.change.key(), image, readNanos), "");
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      return new Decoded(null, String.valueOf(e.getMessage()));
    }
  }

  /** What became of a row, by what Redis and MySQL answered about it. */
  private Judgement judge(AskedRow asked, InRedis redis, InMySql mysql, long readNanos) {
    WalRow row = asked.change();
    if (row.isCoveredBy(mysql.version())) {
      return Judgement.of(Status.IN_MYSQL);
    }
    if (mysql.discards().stream()
        .anyMatch(of -> of.covers(row.owner(), row.session(), row.version()))) {
      return Judgement.of(Status.DISCARDED);
    }
    Verdict verdict =
        Ownership.judge(row.session(), asked.newestSession(), mysql.durable(), redis.ownedBy());
    boolean restores = verdict instanceof Replayable replayable && replayable.restore();
    boolean isLive = isHealed.test(row.wal());
    if (isFlushedFromRedis(row, redis, mysql, verdict)) {
      boolean isUnknown = verdict instanceof Replayable && redis.ownedBy() == null;
      return new Judgement(
          Status.IN_REDIS, "", restores && !isLive, (restores || isUnknown) && !isLive);
    }
    if (row.isCoveredBy(mysql.deadLetter())) {
      return Judgement.of(Status.DEAD_LETTER);
    }
    boolean isDelete = row.op() == RowOp.DELETE;
    boolean isOld = horizon != null && Shown.time(row.version()).isBefore(horizon);
    if (isOld && isDelete && mysql.version() == null) {
      return Judgement.of(Status.IN_MYSQL); // deleted, and even that is forgotten
    }
    String problem = decoded(asked, row.image(), readNanos).problem;
    if (!problem.isEmpty()) {
      return Judgement.of(Status.UNREADABLE, problem);
    }
    if (horizon != null && isOld && !isDelete) {
      return Judgement.of(
          Status.TOO_OLD,
          "deletes from before %s UTC are forgotten: it could bring a deleted row back"
              .formatted(Shown.utc(horizon)));
    }
    if (verdict instanceof Conflict conflict) {
      return Judgement.of(
          redis.isDirty(row.version()) ? Status.PARKED : Status.CONFLICT, conflict.reason());
    }
    return isLive
        ? Judgement.of(Status.LIVE, "its node is alive and heals itself")
        : new Judgement(Status.LOST, restores ? "MySQL lost its session" : "", restores, true);
  }

  /**
   * Whether what Redis holds of the row will be flushed by writers, once its session is durable.
   */
  private static boolean isFlushedFromRedis(
      WalRow row, InRedis redis, InMySql mysql, Verdict verdict) {
    long version = row.version();
    if (redis.isClaimed(version)) {
      return true;
    }
    SessionId ownedBy = redis.ownedBy();
    if (ownedBy != null) {
      Durable durable = mysql.durable();
      boolean isOlder =
          durable != null
              && ownedBy.text().compareTo(durable.sessions().holder(ownedBy).text()) < 0;
      boolean willBeOlder = verdict instanceof Replayable to && !to.under().equals(ownedBy);
      return redis.isDirtyOfOwner(version) && !isOlder && !willBeOlder; // else it is parked
    }
    // a writer asks MySQL who owns, and tells Redis
    return verdict instanceof Replayable to && redis.isDirtyOf(to.under(), version);
  }

  /** What of the same version differs, in the columns that the WAL's row names; or empty. */
  private static String difference(WalRow change, InRedis redis, InMySql mysql, Contents contents) {
    RowImage wal = contents.wal();
    RowImage stored = contents.mysql();
    if (wal != null
        && stored != null
        && mysql.version != null
        && mysql.version == change.version()
        && stored.version() == change.version()
        && change.op() != RowOp.DELETE
        && !isSame(wal, stored)) {
      return "MySQL holds this version with other values";
    }
    byte[] held = redis.newest();
    return held.length > 0
            && InRedis.version(held) == change.version()
            && !Arrays.equals(held, change.image())
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
   * What Redis holds of a row.
   *
   * @param ownedBy the session that owns as far as Redis knows; null when it knows none
   * @param sessions that were asked about
   * @param found as whole rows or as versions only; dirty in the order of {@code sessions}
   */
  record InRedis(@Nullable SessionId ownedBy, List<SessionId> sessions, Found found) {
    private static final byte[] EMPTY = {};

    /** When Redis is gone for good. */
    static final InRedis NOTHING = new InRedis(null, List.of(), new Found(EMPTY, List.of(), EMPTY));

    /** The version that begins a row or a version as Redis answers it, -1 for an empty one. */
    static long version(byte[] row) {
      if (row.length < 16) {
        return -1;
      }
      long version = 0;
      for (int i = 0; i < 16; i++) {
        version = version << 4 | Math.max(0, Character.digit(row[i], 16));
      }
      return version;
    }

    /** The newest that Redis holds of the row, empty for nothing. */
    byte[] newest() {
      byte[] best = found.claimed();
      for (byte[] row : found.dirty()) {
        best = version(row) > version(best) ? row : best;
      }
      return version(found.owned()) > version(best) ? found.owned() : best;
    }

    boolean isClaimed(long version) {
      return covers(found.claimed(), version);
    }

    /** Under the session that owns. */
    boolean isDirtyOfOwner(long version) {
      return covers(found.owned(), version);
    }

    /** Under this session, if it was asked about. */
    boolean isDirtyOf(SessionId session, long version) {
      int at = sessions.indexOf(session);
      return at >= 0 && covers(found.dirty().get(at), version);
    }

    /** Under any session that was asked about. */
    boolean isDirty(long version) {
      return found.dirty().stream().anyMatch(row -> covers(row, version));
    }

    private static boolean covers(byte[] row, long version) {
      return row.length > 0 && Long.compareUnsigned(version(row), version) >= 0;
    }
  }

  private static List<InRedis> askRedis(LookupScript script, List<AskedRow> rows, boolean whole) {
    Map<OwnerId, List<Integer>> placesByOwner = new LinkedHashMap<>();
    for (int i = 0; i < rows.size(); i++) {
      OwnerId owner = rows.get(i).change.owner();
      placesByOwner.computeIfAbsent(owner, of -> new ArrayList<>()).add(i);
    }
    List<Question> questions = new ArrayList<>();
    placesByOwner.forEach(
        (owner, places) -> {
          Set<SessionId> sessions = new LinkedHashSet<>();
          List<String> keys = new ArrayList<>();
          for (int place : places) {
            AskedRow row = rows.get(place);
            sessions.add(row.change.session());
            sessions.add(row.newestSession);
            keys.add(row.change.key());
          }
          questions.add(new Question(owner, List.copyOf(sessions), keys));
        });
    List<Answer> answers = script.ask(questions, whole);
    InRedis[] found = new InRedis[rows.size()];
    for (int i = 0; i < answers.size(); i++) {
      Question question = questions.get(i);
      Answer answer = answers.get(i);
      List<Integer> places = Objects.requireNonNull(placesByOwner.get(question.owner()));
      for (int field = 0; field < places.size(); field++) {
        found[places.get(field)] =
            new InRedis(answer.ownedBy(), question.sessions(), answer.fields().get(field));
      }
    }
    return Arrays.asList(found);
  }

  /**
   * What MySQL holds of a row and of its owner. All but the version is asked for, and else empty,
   * only where the version is missing or older than the WAL's; the image also for a comparison.
   *
   * @param version of the row or its tombstone; null for none
   * @param deadLetter the version that MySQL refused; null for none
   * @param durable the owner's sessions; null for none
   * @param image null for none
   */
  record InMySql(
      @Nullable Long version,
      @Nullable Long deadLetter,
      List<Discard> discards,
      @Nullable Durable durable,
      @Nullable RowImage image) {}

  private List<InMySql> askMySql(List<AskedRow> rows) {
    Set<RowKey> keys = keys(rows);
    Map<RowKey, Long> versions = mysql.versions(keys);
    List<AskedRow> missing =
        rows.stream()
            .filter(of -> !of.change.isCoveredBy(of.key == null ? null : versions.get(of.key)))
            .toList();
    Set<RowKey> missingKeys = keys(missing);
    Map<OwnerId, Map<RowKey, Long>> letters = mysql.deadLetters(missingKeys);
    Map<RowKey, List<Discard>> discards = mysql.discards(missingKeys);
    Map<OwnerId, Durable> durable =
        mysql
            .owners()
            .durable(missing.stream().map(of -> of.change.owner()).collect(Collectors.toSet()));
    Map<RowKey, RowImage> images =
        options.contents() ? mysql.rows(options.compare() ? keys : missingKeys) : Map.of();
    return rows.stream()
        .map(
            of -> {
              OwnerId owner = of.change.owner();
              return of.key == null
                  ? new InMySql(null, null, List.of(), durable.get(owner), null)
                  : new InMySql(
                      versions.get(of.key),
                      letters.getOrDefault(owner.base(), Map.of()).get(of.key),
                      discards.getOrDefault(of.key, List.of()),
                      durable.get(owner),
                      images.get(of.key));
            })
        .toList();
  }

  private static Set<RowKey> keys(Collection<AskedRow> rows) {
    Set<RowKey> keys = new HashSet<>();
    rows.stream().map(AskedRow::key).filter(Objects::nonNull).forEach(keys::add);
    return keys;
  }
}
