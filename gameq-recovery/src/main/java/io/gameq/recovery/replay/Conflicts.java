package io.gameq.recovery.replay;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.mysql.DurableOwners;
import io.gameq.recovery.mysql.DurableOwners.Durable;
import io.gameq.recovery.plan.Lookups;
import io.gameq.recovery.plan.PlannedRow;
import io.gameq.recovery.redis.OwnersInRedis;
import io.gameq.recovery.redis.RecoveryRedis;
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

  private final Lookups lookups;
  private final Target target;
  private final boolean intoMySql;
  private final String process = "%08x".formatted(new SecureRandom().nextInt());
  private final SecureRandom random = new SecureRandom();
  private final Map<OwnerId, List<EncodedRow>> rows = new LinkedHashMap<>();
  private long bytes;

  Conflicts(Lookups lookups, Target target, boolean intoMySql) {
    this.lookups = lookups;
    this.target = target;
    this.intoMySql = intoMySql;
  }

  void add(PlannedRow row) {
    if (bytes < MOST_BYTES) {
      rows.computeIfAbsent(row.owner(), owner -> new ArrayList<>()).add(row.change().encoded());
      bytes += row.change().encoded().image().length + row.change().key().length();
    }
  }

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
      target.write(List.of(List.of(new Target.Owner(owner, session, false, its))), report);
      return;
    }
    DurableOwners sessions = lookups.database().owners();
    Durable durable = sessions.current(List.of(owner)).get(owner);
    RecoveryRedis redis = lookups.redis();
    OwnersInRedis owners = redis == null ? null : new OwnersInRedis(redis);
    SessionId inRedis = null;
    if (owners != null) {
      String holder = durable == null ? null : owners.liveHolder(owner, durable.sessions());
      if (holder != null) {
        report.refused(
            owner, its.size(), "node " + holder + " is alive and has it open: close it there");
        return;
      }
      inRedis = owners.ownedBy(owner);
    }
    SessionId session = raise(sessions, owner, inRedis);
    if (owners != null && !intoMySql) {
      owners.open(owner, session);
    }
    target.write(List.of(List.of(new Target.Owner(owner, session, true, its))), report);
    sessions.markOpen(owner, session);
    report.tookOver();
  }

  private SessionId raise(DurableOwners sessions, OwnerId owner, @Nullable SessionId inRedis) {
    String nonce = process + "%08x".formatted(random.nextInt());
    return sessions.raise(owner, nonce, inRedis == null ? 0 : inRedis.epoch() + 1);
  }
}
