package io.gameq.recovery.failover;

import io.gameq.OwnerId;
import io.gameq.writer.campaign.Attempt;
import io.gameq.writer.campaign.Replay.LoggedCommit;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What Redis forgot in the failovers of one case: commits between the journal marks of the primary
 * that went and those of what became primary in its place. Used by the campaign's thread.
 */
final class Losses {
  private final List<Loss> losses = new ArrayList<>();

  /** Journal marks: slot, then WAL, then sequence; immutable. */
  record Marks(Map<Integer, Map<String, Long>> bySlot) {
    static final Marks NONE = new Marks(Map.of());

    static Marks read(RedisCommands<String, String> redis, String namespace, int slots) {
      Map<Integer, Map<String, Long>> marks = new HashMap<>();
      for (int slot = 0; slot < slots; slot++) {
        Map<String, Long> ofSlot = new HashMap<>();
        redis
            .hgetall("{" + namespace + ":" + slot + "}:journal")
            .forEach((wal, sequence) -> ofSlot.put(wal, Long.parseLong(sequence)));
        marks.put(slot, ofSlot);
      }
      return new Marks(marks);
    }

    boolean hold(int slot, LoggedCommit commit) {
      return bySlot.getOrDefault(slot, Map.of()).getOrDefault(commit.wal(), 0L)
          >= commit.sequence();
    }
  }

  /**
   * One failover; immutable.
   *
   * @param held by the old primary just before it went
   * @param kept by the new one
   * @param durable the newest version of each row in MySQL at that time
   * @param at when, in nanos
   */
  private record Loss(Marks held, Marks kept, Map<String, Long> durable, long at) {
    boolean forgot(LoggedCommit commit, int slots) {
      return commit.owners().stream()
          .map(owner -> slot(owner, slots))
          .anyMatch(slot -> held.hold(slot, commit) && !kept.hold(slot, commit));
    }
  }

  /**
   * Row changes; immutable.
   *
   * @param forgotten acknowledged, and no longer in Redis
   * @param endangered of these, not in MySQL either
   */
  record Count(long forgotten, long endangered) {}

  void add(Marks held, Marks kept, Map<String, Long> durable, long at) {
    losses.add(new Loss(held, kept, durable, at));
  }

  private static int slot(OwnerId owner, int slots) {
    return owner.slot(slots);
  }

  /** Counts acknowledged changes, each once; deletes without a put beside them are left out. */
  Count count(List<LoggedCommit> commits, int slots) {
    long forgotten = 0;
    long endangered = 0;
    for (LoggedCommit commit : commits) {
      Attempt attempt = commit.attempt();
      for (Loss loss : losses) {
        if (attempt.outcome == Attempt.Outcome.OK
            && attempt.knownAt < loss.at()
            && loss.forgot(commit, slots)) {
          forgotten += commit.versions().size();
          endangered +=
              commit.versions().entrySet().stream()
                  .filter(row -> loss.durable().getOrDefault(row.getKey(), 0L) < row.getValue())
                  .count();
          break;
        }
      }
    }
    return new Count(forgotten, endangered);
  }
}
