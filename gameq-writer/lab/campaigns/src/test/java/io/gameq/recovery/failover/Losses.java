package io.gameq.recovery.failover;

import io.gameq.writer.campaign.Attempt;
import io.gameq.writer.campaign.CampaignNode;
import io.gameq.writer.campaign.HistoryReplay.LoggedCommit;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What Redis forgot in the failovers of one case: commits between the journal marks of the primary
 * that went and those of what became primary in its place. Used by the campaign's thread.
 */
final class Losses {
  private final List<Loss> losses = new ArrayList<>();

  /** Journal marks: slot, then WAL, then sequence; immutable. */
  record Marks(Map<Integer, Map<String, Long>> bySlot) {
    static final Marks NONE = new Marks(Map.of());

    static Marks read(RedisCommands<String, String> redis, String namespace) {
      Map<Integer, Map<String, Long>> marks = new HashMap<>();
      for (int slot = 0; slot < CampaignNode.SLOTS; slot++) {
        Map<String, Long> ofSlot = new HashMap<>();
        redis
            .hgetall("{" + namespace + ":" + slot + "}:journal")
            .forEach(
                (wal, mark) -> {
                  if (!wal.endsWith("!") && !wal.endsWith("@")) {
                    ofSlot.put(
                        wal, Long.parseLong(mark) >> 20); // also of one that proves nothing now
                  }
                });
        marks.put(slot, ofSlot);
      }
      return new Marks(marks);
    }

    /** Whether any process start of a node committed to it: its marks begin with the same. */
    boolean ofNode(String name) {
      return bySlot.values().stream()
              .flatMap(ofSlot -> ofSlot.entrySet().stream())
              .filter(of -> of.getKey().startsWith(name + "-"))
              .distinct()
              .count()
          > 1;
    }

    boolean hold(int slot, LoggedCommit commit) {
      return bySlot.getOrDefault(slot, Map.of()).getOrDefault(commit.wal(), 0L)
          >= commit.sequence();
    }
  }

  /**
   * What an old primary held when it went; immutable.
   *
   * @param durable the newest version of each row in MySQL at that time
   * @param at when, in nanos
   */
  record Held(Marks marks, Map<String, Long> durable, long at) {}

  private record Loss(Held held, Marks kept) {
    boolean forgot(LoggedCommit commit) {
      return commit.owners().stream()
          .map(owner -> owner.slot(CampaignNode.SLOTS))
          .anyMatch(slot -> held.marks().hold(slot, commit) && !kept.hold(slot, commit));
    }
  }

  /**
   * Row changes; immutable.
   *
   * @param forgotten acknowledged, and no longer in Redis
   * @param endangered of these, not in MySQL either
   */
  record Count(long forgotten, long endangered) {}

  /** One failover: what the old primary held, and what its successor had when it took over. */
  void add(Held held, Marks kept) {
    losses.add(new Loss(held, kept));
  }

  /** The same, with what each of the servers had that could succeed it. */
  void add(Held held, Map<Member, Marks> kept, Member promoted) {
    add(held, Objects.requireNonNull(kept.get(promoted)));
  }

  /** Counts acknowledged changes, each once; deletes without a put beside them are left out. */
  Count count(List<LoggedCommit> commits) {
    long forgotten = 0;
    long endangered = 0;
    for (LoggedCommit commit : commits) {
      Attempt attempt = commit.attempt();
      for (Loss loss : losses) {
        if (attempt.outcome == Attempt.Outcome.OK
            && attempt.knownAt < loss.held().at()
            && loss.forgot(commit)) {
          forgotten += commit.versions().size();
          endangered +=
              commit.versions().entrySet().stream()
                  .filter(
                      row -> loss.held().durable().getOrDefault(row.getKey(), 0L) < row.getValue())
                  .count();
          break;
        }
      }
    }
    return new Count(forgotten, endangered);
  }
}
