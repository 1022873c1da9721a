package io.gameq.recovery;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.RedisUnavailableException;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.Planner;
import io.gameq.healing.ReplayReport;
import io.gameq.healing.ReplayTarget;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.redis.script.ReplayScript;
import io.gameq.rows.EncodedRow;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Applies rows that a later session did not see, by explicit wish: opens the owner as a node would,
 * writes the rows in their own versions, and closes it. One thread. Killed in between, the owner is
 * left open by nobody: the game opens it as ever.
 */
final class Conflicts {
  /** What is kept in memory; the rest is left for the next run. */
  private static final long MOST_BYTES = 64 << 20;

  private static final String NODE = "gameq-recovery";

  private final OwnerTable sessions;
  private final @Nullable RecoveryRedis redis;
  private final ReplayTarget target;
  private final boolean intoMySql;
  private final String process = "%08x".formatted(new SecureRandom().nextInt());
  private final SecureRandom random = new SecureRandom();
  private final Map<OwnerId, List<EncodedRow>> rows = new LinkedHashMap<>();
  private long bytes;

  /**
   * None yet.
   *
   * @param redis null when it is gone for good
   */
  Conflicts(
      OwnerTable sessions, @Nullable RecoveryRedis redis, ReplayTarget target, boolean intoMySql) {
    this.sessions = sessions;
    this.redis = redis;
    this.target = target;
    this.intoMySql = intoMySql;
  }

  /** Keeps a row for {@link #apply}, unless the planner knows that its WAL is written still. */
  void add(PlannedRow row, Planner planner, ReplayReport report) {
    if (planner.isBeingWritten(row.change().wal())) {
      report.refused(
          row.owner(), 1, "a process still writes its WAL and may mark it as failed: end it first");
    } else if (bytes < MOST_BYTES) {
      rows.computeIfAbsent(row.owner(), owner -> new ArrayList<>()).add(row.change().encoded());
      bytes += row.change().encoded().image().length + row.change().key().length();
    }
  }

  /** Writes what was kept; throws GameQueueException when a server does not answer. */
  void apply(ReplayReport report) {
    rows.forEach(
        (owner, its) -> {
          try {
            apply(owner, its, report);
          } catch (RedisUnavailableException | MySqlException e) {
            throw e;
          } catch (GameQueueException e) {
            report.refused(owner, its.size(), String.valueOf(e.getMessage()));
          }
        });
  }

  private void apply(OwnerId owner, List<EncodedRow> its, ReplayReport report) {
    if (owner.isInbox()) { // which nobody takes over
      SessionId session = SessionId.ofInbox(owner.sender());
      target.write(List.of(List.of(new ReplayScript.Owner(owner, session, false, its))), report);
      return;
    }
    CountingSessions durable = sessions.current(List.of(owner)).get(owner);
    SessionId inRedis = null;
    if (redis != null) {
      String holder = durable == null ? null : redis.liveHolder(owner, durable);
      if (holder != null) {
        report.refused(
            owner, its.size(), "node " + holder + " is alive and has it open: close it there");
        return;
      }
      inRedis = redis.redis().ownedBy(owner);
    }
    String nonce = process + "%08x".formatted(random.nextInt());
    SessionId session =
        sessions.raise(owner, nonce, NODE, inRedis == null ? 0 : inRedis.epoch() + 1);
    if (redis != null && !intoMySql) {
      redis.open(owner, session);
    }
    target.write(List.of(List.of(new ReplayScript.Owner(owner, session, true, its))), report);
    sessions.markOpen(owner, session);
    report.tookOver();
  }
}
