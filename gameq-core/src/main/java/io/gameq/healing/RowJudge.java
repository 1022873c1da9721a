package io.gameq.healing;

import io.gameq.healing.Ownership.Conflict;
import io.gameq.healing.Ownership.Replayable;
import io.gameq.healing.Ownership.Verdict;
import io.gameq.healing.PlannedRow.Judgement;
import io.gameq.healing.RowLookup.AskedRow;
import io.gameq.healing.RowLookup.InMySql;
import io.gameq.healing.RowLookup.InRedis;
import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.SessionId;
import io.gameq.rows.RowOp;
import io.gameq.terminal.Shown;
import java.time.Instant;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides what became of a row, by what Redis and MySQL answered about it. Immutable.
 *
 * @param isHealed whether the node of a WAL, by its number, puts back by itself what is missing
 * @param horizon deletes from before then may be forgotten; null when none are
 */
record RowJudge(IntPredicate isHealed, @Nullable Instant horizon) {
  /**
   * What became of a row.
   *
   * @param decoding why it cannot be decoded, or empty; asked only where that decides
   */
  Judgement judge(AskedRow asked, InRedis redis, InMySql mysql, Supplier<String> decoding) {
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
    String problem = decoding.get();
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
}
