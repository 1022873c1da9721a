package io.gameq.recovery.plan;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.mysql.tables.DiscardTable.Discard;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.mysql.DurableOwners.Durable;
import io.gameq.recovery.plan.Ownership.Conflict;
import io.gameq.recovery.plan.Ownership.Replayable;
import io.gameq.recovery.plan.Ownership.Verdict;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.recovery.wal.Versions;
import io.gameq.recovery.wal.WalSet;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Answer;
import io.gameq.redis.script.LookupScript.Found;
import io.gameq.redis.script.LookupScript.Question;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.terminal.Shown;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds out what became of a batch of rows: asks Redis, then MySQL. One thread. */
final class Classification {
  private static final byte[] NOTHING = {};

  private final Lookups lookups;
  private final Planner.Options options;
  private final Live live;
  private final Function<String, OwnerIndex.@Nullable Newest> newest;
  private final RowCodec codec;
  private final @Nullable Instant horizon;

  /** When the batch at hand had been read. */
  private long readNanos = System.nanoTime();

  Classification(
      Lookups lookups,
      WalSet wals,
      Planner.Options options,
      Live live,
      Function<String, OwnerIndex.@Nullable Newest> newest) {
    this.lookups = lookups;
    this.options = options;
    this.live = live;
    this.newest = newest;
    this.codec =
        new RowCodec(
            (table, fingerprint) -> {
              String known = lookups.database().layouts().layout(table, fingerprint);
              return known != null ? known : wals.layout(table, fingerprint);
            },
            Clock.systemUTC());
    this.horizon = lookups.database().horizon();
  }

  /**
   * WALs, by number, whose nodes put back by themselves what is missing.
   *
   * @param alive those whose nodes gave a sign of life
   * @param written those that a process on this host writes
   */
  record Live(BitSet alive, BitSet written) {
    boolean heals(int wal, boolean includeLive) {
      return written.get(wal) || (alive.get(wal) && !includeLive);
    }
  }

  /** One row while it is looked up. */
  private static final class Looked {
    final Candidate candidate;
    final SessionId newestSession;
    @Nullable RowKey rowKey;
    String unreadable = "";
    @Nullable SessionId ownedBy;
    byte[] claimed = NOTHING;
    byte[] owned = NOTHING;
    List<byte[]> dirty = List.of();
    List<SessionId> sessions = List.of();

    Looked(Candidate candidate, SessionId newestSession) {
      this.candidate = candidate;
      this.newestSession = newestSession;
    }

    boolean has(byte[] row) {
      return Long.compareUnsigned(Versions.ofText(row), candidate.version()) >= 0 && row.length > 0;
    }

    /** The newest that Redis holds, empty for nothing. */
    byte[] newestInRedis() {
      byte[] best = claimed;
      for (byte[] row : dirty) {
        best = Versions.ofText(row) > Versions.ofText(best) ? row : best;
      }
      return Versions.ofText(owned) > Versions.ofText(best) ? owned : best;
    }
  }

  /** What became of each row, in the same order. */
  List<PlannedRow> classify(List<Candidate> batch) {
    readNanos = System.nanoTime();
    List<Looked> rows = new ArrayList<>(batch.size());
    for (Candidate candidate : batch) {
      OwnerIndex.Newest of = Objects.requireNonNull(newest.apply(candidate.owner().encoded()));
      Looked row = new Looked(candidate, of.session());
      readKey(row);
      rows.add(row);
    }
    boolean whole = options.held() || options.compare();
    askRedis(rows, whole); // first: what Redis no longer has is in MySQL by the next line
    List<RowKey> keys = rows.stream().map(row -> row.rowKey).filter(Objects::nonNull).toList();
    Map<RowKey, Long> versions = lookups.database().versions(new HashSet<>(keys));
    List<Looked> missing = rows.stream().filter(row -> !isIn(versions, row)).toList();
    Set<RowKey> missingKeys = new HashSet<>();
    Set<OwnerId> owners = new HashSet<>();
    for (Looked row : missing) {
      owners.add(row.candidate.owner());
      if (row.rowKey != null) {
        missingKeys.add(row.rowKey);
      }
    }
    Map<OwnerId, Map<RowKey, Long>> letters = lookups.database().deadLetters(missingKeys);
    Map<RowKey, List<Discard>> discards = lookups.database().discards(missingKeys);
    Map<OwnerId, Durable> durable = lookups.database().owners().current(owners);
    Map<RowKey, RowImage> there =
        whole
            ? lookups.database().rows(options.compare() ? new HashSet<>(keys) : missingKeys)
            : Map.of();
    return rows.stream()
        .map(row -> planned(row, versions, letters, discards, durable, there, whole))
        .toList();
  }

  private static boolean isIn(Map<RowKey, Long> versions, Looked row) {
    Long there = row.rowKey == null ? null : versions.get(row.rowKey);
    return there != null && Long.compareUnsigned(there, row.candidate.version()) >= 0;
  }

  private static boolean isDiscarded(Looked row, Map<RowKey, List<Discard>> discards) {
    List<Discard> of = row.rowKey == null ? null : discards.get(row.rowKey);
    return of != null
        && of.stream()
            .anyMatch(
                discard ->
                    discard.covers(
                        row.candidate.owner(), row.candidate.session(), row.candidate.version()));
  }

  private void readKey(Looked row) {
    try {
      RowKey key = lookups.database().catalog().rowKey(row.candidate.key());
      key.parts(); // would else fail where it is bound
      row.rowKey = key;
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      row.unreadable = String.valueOf(e.getMessage());
    }
  }

  // --- Redis

  private void askRedis(List<Looked> rows, boolean whole) {
    if (lookups.redis() == null) {
      return;
    }
    Map<OwnerId, List<Looked>> byOwner = new LinkedHashMap<>();
    rows.forEach(
        row -> byOwner.computeIfAbsent(row.candidate.owner(), owner -> new ArrayList<>()).add(row));
    List<Question> questions = new ArrayList<>();
    byOwner.forEach(
        (owner, its) -> {
          Set<SessionId> sessions = new LinkedHashSet<>();
          for (Looked row : its) {
            sessions.add(row.candidate.session());
            sessions.add(row.newestSession);
          }
          questions.add(
              new Question(
                  owner,
                  List.copyOf(sessions),
                  its.stream().map(row -> row.candidate.key()).toList()));
        });
    RecoveryRedis redis = Objects.requireNonNull(lookups.redis());
    List<Answer> answers = new LookupScript(redis.pipeline(), redis.slots()).ask(questions, whole);
    for (int i = 0; i < answers.size(); i++) {
      Answer answer = answers.get(i);
      List<Looked> its = Objects.requireNonNull(byOwner.get(questions.get(i).owner()));
      for (int field = 0; field < its.size(); field++) {
        Looked row = its.get(field);
        Found found = answer.fields().get(field);
        row.ownedBy = answer.ownedBy();
        row.claimed = found.claimed();
        row.owned = found.owned();
        row.dirty = found.dirty();
        row.sessions = questions.get(i).sessions();
      }
    }
  }

  // --- verdict

  private PlannedRow planned(
      Looked row,
      Map<RowKey, Long> versions,
      Map<OwnerId, Map<RowKey, Long>> letters,
      Map<RowKey, List<Discard>> discards,
      Map<OwnerId, Durable> durables,
      Map<RowKey, RowImage> there,
      boolean whole) {
    Candidate of = row.candidate;
    Long inMySql = row.rowKey == null ? null : versions.get(row.rowKey);
    Durable durable = durables.get(of.owner());
    Judged judged;
    if (isIn(versions, row)) {
      judged = new Judged(Status.IN_MYSQL, "", false);
    } else if (isDiscarded(row, discards)) {
      judged = new Judged(Status.DISCARDED, "", false);
    } else {
      Long letter =
          row.rowKey == null ? null : letters.getOrDefault(of.owner(), Map.of()).get(row.rowKey);
      judged = judge(row, inMySql, letter, durable);
    }
    PlannedRow.Held held = whole ? held(row, there) : null;
    if (options.compare() && held != null) {
      judged = compared(row, inMySql, judged, held);
    }
    long redis = Versions.ofText(row.newestInRedis());
    return new PlannedRow(
        of.owner(),
        of.encoded(),
        of.session(),
        of.version(),
        op(of.image()),
        of.wal(),
        row.rowKey,
        judged.status,
        judged.reason,
        judged.restores,
        inMySql,
        redis < 0 ? null : redis,
        held);
  }

  private record Judged(Status status, String reason, boolean restores) {}

  private Judged judge(
      Looked row, @Nullable Long inMySql, @Nullable Long letter, @Nullable Durable durable) {
    Candidate of = row.candidate;
    Verdict verdict = Ownership.judge(of.session(), row.newestSession, durable, row.ownedBy);
    boolean restores = verdict instanceof Replayable replayable && replayable.restore();
    boolean isLive = live.heals(of.wal(), options.includeLive());
    if (isFlushedFromRedis(row, durable, verdict)) {
      return new Judged(Status.IN_REDIS, "", restores && !isLive);
    }
    if (letter != null && Long.compareUnsigned(letter, of.version()) >= 0) {
      return new Judged(Status.DEAD_LETTER, "", false);
    }
    boolean old =
        horizon != null && Shown.time(of.version()).isBefore(Objects.requireNonNull(horizon));
    if (old && op(of.image()) == RowOp.DELETE && inMySql == null) {
      return new Judged(Status.IN_MYSQL, "", false); // deleted, and even that is forgotten
    }
    String unreadable = row.unreadable.isEmpty() ? undecodable(row) : row.unreadable;
    if (!unreadable.isEmpty()) {
      return new Judged(Status.UNREADABLE, unreadable, false);
    }
    if (old && op(of.image()) != RowOp.DELETE) {
      return new Judged(
          Status.TOO_OLD,
          "deletes from before %s UTC are forgotten: it could bring a deleted row back"
              .formatted(Shown.utc(Objects.requireNonNull(horizon))),
          false);
    }
    if (verdict instanceof Conflict conflict) {
      return new Judged(
          row.dirty.stream().anyMatch(row::has) ? Status.PARKED : Status.CONFLICT,
          conflict.reason(),
          false);
    }
    return isLive
        ? new Judged(Status.LIVE, "its node is alive and heals itself", false)
        : new Judged(Status.LOST, restores ? "MySQL lost its session" : "", restores);
  }

  /**
   * Whether what Redis holds of the row will be flushed by writers, once its session is durable.
   */
  private static boolean isFlushedFromRedis(
      Looked row, @Nullable Durable durable, Verdict verdict) {
    if (row.has(row.claimed)) {
      return true;
    }
    SessionId ownedBy = row.ownedBy;
    if (ownedBy != null) {
      boolean isOlder =
          durable != null
              && ownedBy.text().compareTo(durable.sessions().holder(ownedBy).text()) < 0;
      boolean willBeOlder = verdict instanceof Replayable to && !to.under().equals(ownedBy);
      boolean parks = isOlder || willBeOlder;
      return row.has(row.owned) && !parks;
    }
    if (verdict instanceof Replayable to) { // a writer asks MySQL who owns, and tells Redis
      int at = row.sessions.indexOf(to.under());
      return at >= 0 && row.has(row.dirty.get(at));
    }
    return false;
  }

  private static RowOp op(byte[] image) {
    try {
      return RowCodec.op(image);
    } catch (GameQueueException e) {
      return RowOp.PUT;
    }
  }

  /** Why a row cannot be decoded; empty when it can. */
  private String undecodable(Looked row) {
    try {
      decode(row, row.candidate.image());
      return "";
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private RowImage decode(Looked row, byte[] image) {
    return lookups.database().decode(codec, row.candidate.key(), image, readNanos);
  }

  // --- contents

  private PlannedRow.Held held(Looked row, Map<RowKey, RowImage> there) {
    return new PlannedRow.Held(
        row.rowKey == null ? null : there.get(row.rowKey),
        decoded(row, row.newestInRedis()),
        decoded(row, row.candidate.image()));
  }

  private @Nullable RowImage decoded(Looked row, byte[] image) {
    if (row.rowKey == null || image.length == 0) {
      return null;
    }
    try {
      return decode(row, image);
    } catch (MySqlException e) {
      throw e;
    } catch (RuntimeException e) {
      return null;
    }
  }

  private static Judged compared(
      Looked row, @Nullable Long inMySql, Judged judged, PlannedRow.Held held) {
    Candidate of = row.candidate;
    RowImage wal = held.after();
    RowImage mysql = held.mysql();
    if (wal != null
        && mysql != null
        && inMySql != null
        && inMySql == of.version()
        && mysql.version() == of.version()
        && wal.op() != RowOp.DELETE
        && !isSame(wal, mysql)) {
      return new Judged(Status.OTHER_CONTENT, "MySQL holds this version with other values", false);
    }
    byte[] redis = row.newestInRedis();
    if (redis.length > 0
        && Versions.ofText(redis) == of.version()
        && !Arrays.equals(redis, of.image())) {
      return new Judged(Status.OTHER_CONTENT, "Redis holds this version with other values", false);
    }
    return judged;
  }

  /** In what the row of the WAL names: a column that its node did not know is what it was. */
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
