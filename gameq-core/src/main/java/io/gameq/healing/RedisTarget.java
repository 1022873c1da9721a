package io.gameq.healing;

import io.gameq.agent.RateLimit;
import io.gameq.redis.script.ReplayScript;
import io.gameq.redis.script.ReplayScript.Applied;
import io.gameq.redis.script.ReplayScript.Owner;
import io.gameq.redis.script.ReplayScript.Pending;
import io.gameq.redis.script.ReplayScript.Refused;
import java.util.ArrayList;
import java.util.List;

/** Puts lost rows back into Redis, some scripts ahead of their answers. */
public final class RedisTarget implements ReplayTarget {
  /** Rows of scripts that wait for answers: more gain nothing, and fill Redis' buffers. */
  private static final int MOST_ROWS_AHEAD = 4_000;

  /** One script holds everybody else back for some 100 ms then; an owner alone is never split. */
  private static final int MOST_ROWS_PER_SCRIPT = 20_000;

  private final ReplayScript script;
  private final RateLimit limit;

  public RedisTarget(ReplayRedis redis, RateLimit limit) {
    this.script = new ReplayScript(redis.connection(), redis.slots());
    this.limit = limit;
  }

  @Override
  public void write(List<List<Owner>> groups, ReplayReport report) {
    List<Pending> ahead = List.of();
    List<List<Owner>> next = new ArrayList<>();
    long rows = 0;
    for (List<Owner> group : groups) {
      for (List<Owner> together : sized(group)) {
        next.add(together);
        rows += rows(together);
      }
      if (rows >= limit.burst(MOST_ROWS_AHEAD)) {
        limit.take(rows);
        List<Pending> sent = script.send(next);
        settle(ahead, report); // those of the time before, while these are on their way
        ahead = sent;
        next.clear();
        rows = 0;
      }
    }
    limit.take(rows);
    List<Pending> last = script.send(next);
    settle(ahead, report);
    settle(last, report);
  }

  private static List<List<Owner>> sized(List<Owner> group) {
    return rows(group) <= MOST_ROWS_PER_SCRIPT
        ? List.of(group)
        : group.stream().map(List::of).toList();
  }

  private static long rows(List<Owner> group) {
    return group.stream().mapToLong(of -> of.rows().size()).sum();
  }

  private static void settle(List<Pending> ahead, ReplayReport report) {
    for (Pending pending : ahead) {
      ReplayScript.Outcome outcome = pending.await();
      if (outcome instanceof Applied applied) {
        report.wrote(
            pending.group().stream().mapToLong(of -> of.rows().size()).sum(), applied.written());
      } else if (outcome instanceof Refused refused) {
        refused(pending.group(), refused, report);
      }
    }
  }

  /** A newer session owns one of them by now: nothing of the group was written. */
  private static void refused(List<Owner> group, Refused refused, ReplayReport report) {
    for (Owner of : group) {
      report.overtaken(
          of.owner(),
          of.rows().size(),
          of.owner().equals(refused.owner())
              ? "session " + refused.ownedBy() + " owns in Redis, a later one"
              : ReplayReport.COMMITTED_WITH_REFUSED);
    }
  }
}
