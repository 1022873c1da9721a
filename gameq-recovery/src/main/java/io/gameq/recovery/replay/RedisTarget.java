package io.gameq.recovery.replay;

import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.redis.script.ReplayScript;
import io.gameq.redis.script.ReplayScript.Applied;
import io.gameq.redis.script.ReplayScript.Outcome;
import io.gameq.redis.script.ReplayScript.Pending;
import io.gameq.redis.script.ReplayScript.Refused;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Puts lost rows back into Redis, some scripts ahead of their answers. */
final class RedisTarget implements Target {
  /** Rows of scripts that wait for answers: more gain nothing, and fill Redis' buffers. */
  private static final int MOST_ROWS_AHEAD = 4_000;

  /** One script holds everybody else back for some 100 ms then; an owner alone is never split. */
  private static final int MOST_ROWS_PER_SCRIPT = 20_000;

  private final ReplayScript script;
  private final RateLimit limit;

  RedisTarget(RecoveryRedis redis, RateLimit limit) {
    this.script = new ReplayScript(redis.pipeline(), redis.slots());
    this.limit = limit;
  }

  @Override
  public void write(List<List<Owner>> groups, ReplayReport report) {
    Deque<Pending> ahead = new ArrayDeque<>();
    List<List<ReplayScript.Owner>> next = new ArrayList<>();
    long rows = 0;
    for (List<Owner> group : groups) {
      for (List<Owner> together : sized(group)) {
        next.add(together.stream().map(RedisTarget::owner).toList());
        rows += rows(together);
      }
      if (rows >= limit.burst(MOST_ROWS_AHEAD)) {
        send(next, rows, ahead, report);
        rows = 0;
      }
    }
    send(next, rows, ahead, report);
    settle(ahead, 0, report);
  }

  private static List<List<Owner>> sized(List<Owner> group) {
    return rows(group) <= MOST_ROWS_PER_SCRIPT
        ? List.of(group)
        : group.stream().map(List::of).toList();
  }

  private static long rows(List<Owner> group) {
    return group.stream().mapToLong(of -> of.rows().size()).sum();
  }

  private static ReplayScript.Owner owner(Owner of) {
    return new ReplayScript.Owner(of.owner(), of.session(), of.ends(), of.rows());
  }

  private void send(
      List<List<ReplayScript.Owner>> next, long rows, Deque<Pending> ahead, ReplayReport report) {
    if (next.isEmpty()) {
      return;
    }
    limit.take(rows);
    List<Pending> sent = script.send(next);
    settle(ahead, 0, report); // those of the time before, while these are on their way
    ahead.addAll(sent);
    next.clear();
  }

  private void settle(Deque<Pending> ahead, int leave, ReplayReport report) {
    while (ahead.size() > leave) {
      Pending pending = ahead.remove();
      Outcome outcome = pending.await();
      long rows = pending.group().stream().mapToLong(of -> of.rows().size()).sum();
      if (outcome instanceof Applied applied) {
        report.wrote(rows, applied.written());
      } else {
        withoutRefused(pending.group(), (Refused) outcome, report);
      }
    }
  }

  /** A newer session owns one of them by now: the others are tried without it. */
  private void withoutRefused(
      List<ReplayScript.Owner> group, Refused refused, ReplayReport report) {
    List<ReplayScript.Owner> others = new ArrayList<>(group);
    others.removeIf(
        of -> {
          boolean is = of.owner().equals(refused.owner());
          if (is) {
            report.refused(
                of.owner(),
                of.rows().size(),
                "session " + refused.ownedBy() + " owns in Redis, a later one");
          }
          if (of.owner().isInbox()) {
            report.refused(of.owner(), of.rows().size(), PlanReplay.SENT_WITH_REFUSED);
          }
          return is || of.owner().isInbox();
        });
    if (!others.isEmpty()) {
      settle(new ArrayDeque<>(script.send(List.of(others))), 0, report);
    }
  }
}
