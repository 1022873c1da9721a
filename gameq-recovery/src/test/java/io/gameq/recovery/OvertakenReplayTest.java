package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.agent.RateLimit;
import io.gameq.healing.Lookups;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder.WalSet;
import io.gameq.healing.WalReplay;
import io.gameq.healing.WalReplay.RedisTarget;
import io.gameq.healing.WalReplay.ReplayReport;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.TestServers;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** An owner is opened elsewhere between plan and replay, of whom others have traded in a chain. */
class OvertakenReplayTest extends RecoveryFixture {
  private static Item row(int player, int slot) {
    return new Item(player, slot, 1_001, 1);
  }

  @Test
  void whoTradedWithHimIsPlannedAgainAndOnlyTheTradeWithHimStaysAway() {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession first = queue.open("player:1");
      OwnerSession second = queue.open("player:2");
      OwnerSession third = queue.open("player:3");
      first.put(row(1, 1));
      second.put(row(2, 1));
      queue.commit(first, second).awaitQueued(LONG);
      second.put(row(2, 2));
      third.put(row(3, 2));
      queue.commit(second, third).awaitQueued(LONG);
    }
    game.loseRedis();
    RedisConfig config =
        new RedisConfig(
            TestServers.redisUri(Role.RECOVERY, game.namespace), null, ReplayScript.TIMEOUT_MILLIS);
    try (GameQueue other = game.node("n2");
        RecoveryDatabase database =
            RecoveryDatabase.open(game.database.as(Role.RECOVERY).config(1));
        RecoveryRedis redis =
            RecoveryRedis.open(config, game.namespace, RecoveryGame.SLOTS, database.terms())) {
      Lookups lookups =
          new Lookups(
              database.rows(), redis.redis(), SlotKeys.all(game.namespace, RecoveryGame.SLOTS));
      boolean[] isOpen = {false};
      ReplayReport overtaken =
          replay(
              lookups,
              row -> {
                if (!isOpen[0]) {
                  isOpen[0] = true;
                  other.open("player:1");
                }
              });
      assertTrue(overtaken.isOvertaken(), () -> overtaken.named().toString());
      assertEquals(List.of(), other.read("player:3", Item.class));

      ReplayReport again = replay(lookups, row -> {});
      assertFalse(again.isOvertaken(), () -> again.named().toString());
      assertEquals(List.of(row(3, 2)), other.read("player:3", Item.class));
      assertEquals(List.of(row(2, 2)), other.read("player:2", Item.class));
      assertEquals(List.of(), other.read("player:1", Item.class));
    }
  }

  private ReplayReport replay(Lookups lookups, Consumer<PlannedRow> sink) {
    WalSet wals = WalSet.open(List.of(game.wal));
    WalReplay replay =
        new WalReplay(
            new Planner(
                wals, lookups, new Planner.Options(Set.of(), true, false, false), step -> {}),
            new RedisTarget(Objects.requireNonNull(lookups.redis()), new RateLimit(0)),
            Set.of(),
            (rows, sessions) -> {});
    replay.run(sink);
    return replay.report();
  }
}
