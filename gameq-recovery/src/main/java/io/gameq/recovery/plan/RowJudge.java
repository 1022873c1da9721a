package io.gameq.recovery.plan;

import io.gameq.owner.SessionId;
import io.gameq.recovery.mysql.DurableOwners.Durable;
import io.gameq.recovery.plan.Ownership.Conflict;
import io.gameq.recovery.plan.Ownership.Replayable;
import io.gameq.recovery.plan.Ownership.Verdict;
import io.gameq.rows.RowOp;
import io.gameq.terminal.Shown;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Decides what became of a row, by what Redis and MySQL answered about it. Immutable. */
final class RowJudge {
  private final HealingWals healing;
  private final boolean includeLive;
  private final @Nullable Instant horizon;

  /**
   * A judge.
   *
   * @param includeLive whether WALs of nodes that are alive count as those of nodes that are gone
   * @param horizon deletes from before then may be forgotten; null when none are
   */
  RowJudge(HealingWals healing, boolean includeLive, @Nullable Instant horizon) {
    this.healing = healing;
    this.includeLive = includeLive;
    this.horizon = horizon;
  }

  /** What became of a row; decodes it only where that decides. */
  Judgement judge(FoundRow row, BatchDecoder decoder) {
    if (row.isInMySql()) {
      return Judgement.of(Status.IN_MYSQL);
    }
    if (row.isDiscarded()) {
      return Judgement.of(Status.DISCARDED);
    }
    WalRow of = row.change();
    Verdict verdict =
        Ownership.judge(
            of.session(),
            row.asked().newestSession(),
            row.mysql().durable(),
            row.redis().ownedBy());
    boolean restores = verdict instanceof Replayable replayable && replayable.restore();
    boolean isLive = healing.heals(of.wal(), includeLive);
    if (isFlushedFromRedis(row, verdict)) {
      return new Judgement(Status.IN_REDIS, "", restores && !isLive);
    }
    if (row.isDeadLetter()) {
      return Judgement.of(Status.DEAD_LETTER);
    }
    boolean isDelete = of.op() == RowOp.DELETE;
    boolean isOld = horizon != null && Shown.time(of.version()).isBefore(horizon);
    if (isOld && isDelete && row.mysql().version() == null) {
      return Judgement.of(Status.IN_MYSQL); // deleted, and even that is forgotten
    }
    String problem = decoder.problem(row.asked());
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
          row.redis().isDirty(of.version()) ? Status.PARKED : Status.CONFLICT, conflict.reason());
    }
    return isLive
        ? Judgement.of(Status.LIVE, "its node is alive and heals itself")
        : new Judgement(Status.LOST, restores ? "MySQL lost its session" : "", restores);
  }

  /**
   * Whether what Redis holds of the row will be flushed by writers, once its session is durable.
   */
  private static boolean isFlushedFromRedis(FoundRow row, Verdict verdict) {
    long version = row.change().version();
    InRedis redis = row.redis();
    if (redis.isClaimed(version)) {
      return true;
    }
    SessionId ownedBy = redis.ownedBy();
    if (ownedBy != null) {
      Durable durable = row.mysql().durable();
      boolean isOlder =
          durable != null
              && ownedBy.text().compareTo(durable.sessions().holder(ownedBy).text()) < 0;
      boolean willBeOlder = verdict instanceof Replayable to && !to.under().equals(ownedBy);
      boolean parks = isOlder || willBeOlder;
      return redis.isDirtyOfOwner(version) && !parks;
    }
    // a writer asks MySQL who owns, and tells Redis
    return verdict instanceof Replayable to && redis.isDirtyOf(to.under(), version);
  }
}
