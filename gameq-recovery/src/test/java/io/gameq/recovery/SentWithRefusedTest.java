package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.agent.RateLimit;
import io.gameq.healing.Lookups;
import io.gameq.healing.WalFolder.WalSet;
import io.gameq.healing.WalReplay.Count;
import io.gameq.healing.WalReplay.RedisTarget;
import io.gameq.healing.WalReplay.ReplayReport;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.RecoveryGame.Pet;
import io.gameq.recovery.mysql.RecoveryDatabase;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.TestServers;
import io.gameq.wal.WalRecord;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A price that is opened elsewhere between plan and replay: what was bought for it waits. */
class SentWithRefusedTest {
  @TempDir Path directory;

  @Test
  void isRefusedTogetherByEitherServer() throws Exception {
    try (RecoveryGame game = new RecoveryGame(directory)) {
      try (GameQueue queue = game.node("n1")) {
        queue
            .transact(
                queue.open("player:1"),
                tx -> {
                  tx.put(new Pet(1, 1, "paid"));
                  tx.send("player:2", new Pet(2, 2, "bought"));
                })
            .awaitQueued(LONG);
      }
      WalSet wals = WalSet.open(List.of(game.wal));
      List<ReplayScript.Owner> group = committed(wals);
      assertEquals(2, group.size());
      game.loseRedis();
      try (GameQueue other = game.node("n2")) {
        other.open("player:1");
        try (RecoveryDatabase database =
            RecoveryDatabase.open(game.database.as(Role.RECOVERY).config(1))) {
          intoMySql(database, wals, group);
          intoRedis(game, database, group);
        }
        assertEquals(List.of(), other.read("player:2", Pet.class));
      }
    }
  }

  private static void intoMySql(
      RecoveryDatabase database, WalSet wals, List<ReplayScript.Owner> group) {
    ReplayReport report = new ReplayReport();
    database
        .target(
            new Lookups(database.rows(), null, SlotKeys.all("any", 1)).codec(wals),
            new RateLimit(0))
        .write(List.of(group), report);
    assertEquals(2, report.count(Count.REFUSED), () -> report.named().toString());
    assertTrue(report.isOvertaken());
    assertEquals(0, report.count(Count.WRITTEN));
  }

  private static void intoRedis(
      RecoveryGame game, RecoveryDatabase database, List<ReplayScript.Owner> group) {
    ReplayReport report = new ReplayReport();
    RedisConfig config =
        new RedisConfig(
            TestServers.redisUri(Role.RECOVERY, game.namespace), null, ReplayScript.TIMEOUT_MILLIS);
    try (RecoveryRedis redis =
        RecoveryRedis.open(config, game.namespace, RecoveryGame.SLOTS, database.terms())) {
      new RedisTarget(redis.redis(), new RateLimit(0)).write(List.of(group), report);
    }
    assertEquals(2, report.count(Count.REFUSED), () -> report.named().toString());
    assertTrue(report.isOvertaken());
    assertEquals(0, report.count(Count.WRITTEN));
  }

  private static List<ReplayScript.Owner> committed(WalSet wals) {
    List<ReplayScript.Owner> group = new ArrayList<>();
    wals.read(
        (entry, wal) -> {
          for (WalRecord.Part part : entry.record().parts()) {
            group.add(
                new ReplayScript.Owner(
                    OwnerId.ofEncoded(part.owner()),
                    SessionId.parse(part.session()),
                    false,
                    part.rows()));
          }
        });
    return group;
  }
}
