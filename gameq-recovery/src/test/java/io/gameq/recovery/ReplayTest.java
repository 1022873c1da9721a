package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Pet;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.lettuce.core.RestoreArgs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** From commits of real nodes that are gone to what the next node sees. */
@Execution(ExecutionMode.CONCURRENT)
class ReplayTest extends RecoveryFixture {
  /** A node that put 10 items of 3 players and deleted one of each, and is gone. */
  private void playAndLoseRedis() {
    try (GameQueue queue = game.node("n1")) {
      play(queue);
    }
    game.loseRedis();
  }

  private static void play(GameQueue queue) {
    for (int p = 1; p <= 3; p++) {
      OwnerSession player = queue.open("player:" + p);
      for (int slot = 0; slot < 10; slot++) {
        player.put(new Item(p, slot, 1_000 + slot, 1));
        player.commit();
      }
      player.put(new Item(p, 0, 1_000, 7));
      player.delete(Item.class, p, 9);
      player.commit().awaitQueued(LONG);
    }
  }

  private List<Item> items(int player) {
    try (GameQueue queue = game.node("look" + player)) {
      return queue.read("player:" + player, Item.class).stream()
          .sorted((a, b) -> Integer.compare(a.slot(), b.slot()))
          .toList();
    }
  }

  private void assertRestored() {
    for (int p = 1; p <= 3; p++) {
      List<Item> items = items(p);
      assertEquals(9, items.size(), () -> "items: " + items);
      assertEquals(new Item(p, 0, 1_000, 7), items.get(0));
      assertEquals(new Item(p, 8, 1_008, 1), items.get(8));
    }
  }

  @Test
  void whatRedisLostIsPutBack() throws Exception {
    playAndLoseRedis();
    Run plan = game.run("plan");
    assertEquals(ExitCodes.FOUND_SOMETHING, plan.exitCode());
    assertTrue(plan.says("30  LOST: replay puts them back (3 owners)"), plan::toString);
    assertTrue(plan.says("  gameq-recovery replay --execute --redis redis://"), plan::toString);
    assertEquals(List.of(), game.keys("*"), "a plan changes nothing");
    Run dry = game.run("replay");
    assertEquals(ExitCodes.FOUND_SOMETHING, dry.exitCode());
    assertEquals(List.of(), game.keys("*"), "without --execute nothing is changed");
    String audited =
        "SELECT COUNT(*) FROM gameq_audit WHERE action = 'replay' AND target LIKE 'n1-%'";
    assertEquals("0", game.query(audited));
    Run replay = game.run("replay --execute");
    assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
    assertTrue(replay.says("30 written, 0 were there already"), replay::toString);
    assertRestored();
    assertEquals("1", game.query(audited));
    assertEquals(VerifyCommand.KEEP_THE_WALS, game.run("verify").exitCode());
    assertEquals(List.of(), game.keys(":journal"), "no journal mark is left behind");
  }

  @Test
  void keysOfZeroAndBelowComeBackAsTheyWere() throws Exception {
    game.database.server().execute("ALTER TABLE pet MODIFY id BIGINT NOT NULL AUTO_INCREMENT");
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      player.put(new Pet(0, 1, "Rex"));
      player.put(new Pet(-1, 1, "Ada"));
      player.commit().awaitQueued(LONG);
    }
    game.loseRedis();
    for (int time = 1; time <= 2; time++) {
      game.run("replay --execute --into mysql --no-redis");
      assertEquals("-1Ada,0Rex", game.query("SELECT GROUP_CONCAT(id, name ORDER BY id) FROM pet"));
    }
  }

  @Test
  void twiceIsHarmless() {
    playAndLoseRedis();
    game.run("replay --execute");
    long rows = game.dirtyRows();
    Run again = game.run("replay --execute");
    assertEquals(ExitCodes.OK, again.exitCode());
    assertTrue(again.says("Replayed 0 rows"), again::toString);
    assertEquals(rows, game.dirtyRows());
    assertRestored();
  }

  @Test
  void twoAtOnceAreHarmless() {
    playAndLoseRedis();
    CompletableFuture<Run> other =
        CompletableFuture.supplyAsync(() -> game.run("replay --execute"));
    Run one = game.run("replay --execute");
    assertEquals(ExitCodes.OK, one.exitCode(), one::toString);
    assertEquals(ExitCodes.OK, other.join().exitCode(), () -> other.join().toString());
    assertRestored();
  }

  @Test
  void whatIsThereAlreadyIsNotLost() {
    try (GameQueue queue = game.node("n1")) {
      play(queue);
    }
    Run plan = game.run("plan");
    assertEquals(ExitCodes.OK, plan.exitCode(), plan::toString);
    assertTrue(plan.says("30  in Redis, to be flushed by writers"), plan::toString);
    assertEquals(ExitCodes.OK, game.run("replay --execute --into mysql").exitCode());
  }

  @Test
  void aNewerValueIsNeverReplacedByAnOldOne() {
    playAndLoseRedis();
    try (GameQueue queue = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      player.put(new Item(1, 0, 1_000, 8));
      player.commit().awaitQueued(LONG);
    }
    Run replay = game.run("replay --execute");
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), "player:1 has conflicts");
    assertEquals(List.of(new Item(1, 0, 1_000, 8)), items(1));
    assertEquals(9, items(2).size());
  }

  @Test
  void whatRedisOnlyHoldsInAnOlderVersionIsPutBack() {
    try (GameQueue queue = game.node("n1");
        var redis = TestServers.redis()) {
      OwnerSession player = queue.open("player:1");
      player.put(new Item(1, 0, 1_000, 1));
      player.commit().awaitQueued(LONG);
      String dirty = game.keys(":dirty:*").get(0);
      byte[] older = redis.sync().dump(dirty);
      player.put(new Item(1, 0, 1_000, 2));
      player.commit().awaitQueued(LONG);
      redis.sync().restore(dirty, older, RestoreArgs.Builder.ttl(0).replace());
    }
    assertEquals(List.of(new Item(1, 0, 1_000, 1)), items(1), "a failover lost the newest commit");
    Run verify = game.run("verify");
    assertTrue(verify.says("item:1,0 of player:1: older"), verify::toString);
    assertEquals(ExitCodes.OK, game.run("replay --execute").exitCode());
    assertEquals(List.of(new Item(1, 0, 1_000, 2)), items(1));
  }

  @Test
  void aLaterSessionThatDidNotSeeTheRowsIsAConflict() throws Exception {
    playAndLoseRedis();
    try (GameQueue queue = game.node("n2")) {
      queue.open("player:1");
    }
    Run plan = game.run("plan --details " + directory.resolve("details"));
    assertTrue(plan.says("10  CONFLICTS"), plan::toString);
    assertTrue(plan.says("of node n2 has owned since"), plan::toString);
    assertTrue(plan.says("--conflicts apply --owner player:1"), plan::toString);
    Path json = directory.resolve("details/plan.json");
    String text = java.nio.file.Files.readString(json);
    assertTrue(text.contains("\"status\":\"conflict\""), text);
    assertTrue(
        text.contains("\"after\":{\"player_id\":1,\"slot\":0,\"item_id\":1000,\"count\":7}"), text);
    assertEquals(
        "[OWNER_READ, OWNER_WRITE]",
        new java.util.TreeSet<>(java.nio.file.Files.getPosixFilePermissions(json)).toString());
    game.run("replay --execute");
    assertEquals(List.of(), items(1), "conflicts are skipped");
    Run apply = game.run("replay --execute --conflicts apply --owner player:1");
    assertEquals(ExitCodes.OK, apply.exitCode(), apply::toString);
    assertTrue(apply.says("1 owner taken over"), apply::toString);
    assertRestored();
    assertEquals("open", game.query("SELECT state FROM gameq_owner WHERE owner = 'player%3A1'"));
  }

  @Test
  void whatASessionCommittedWhoseOwnerWasPurgedIsAConflictThatMayBeApplied() throws Exception {
    playAndLoseRedis();
    game.database
        .server()
        .execute(
            "DELETE FROM gameq_owner",
            "INSERT INTO gameq_setting VALUES ('owners_purged_epoch', '5')");
    Run plan = game.run("plan");
    assertTrue(plan.says("of node (purged) has owned since"), plan::toString);
    game.run("replay --execute");
    assertEquals(List.of(), items(1), "conflicts are skipped");
    assertEquals("0", game.query("SELECT COUNT(*) FROM gameq_owner"));
    Run apply = game.run("replay --execute --conflicts apply");
    assertEquals(ExitCodes.OK, apply.exitCode(), apply::toString);
    assertRestored();
    assertEquals("6", game.query("SELECT MIN(epoch) FROM gameq_owner"));
  }

  @Test
  void aConflictOfAnOwnerThatALiveNodeHoldsIsNotApplied() {
    playAndLoseRedis();
    try (GameQueue queue = game.node("n2")) {
      OwnerSession player = queue.open("player:1");
      Run apply = game.run("replay --execute --conflicts apply --owner player:1");
      assertEquals(ExitCodes.FOUND_SOMETHING, apply.exitCode());
      assertTrue(apply.says("node n2 is alive and has it open"), apply::toString);
      player.put(new Item(1, 5, 1, 1));
      player.commit().awaitQueued(LONG);
      assertEquals(1, items(1).size());
    }
  }

  @Test
  void aNodeThatIsAliveIsLeftAlone() throws Exception {
    // It would look for its rows itself, some seconds after the merge window.
    Duration late = Duration.ofMinutes(5);
    try (GameQueue queue = GameQueue.open(game.config("n1").mergeWindow(late).build())) {
      play(queue);
      game.keys("*").stream()
          .filter(key -> key.contains(":dirty:") || key.contains(":due"))
          .forEach(
              key -> {
                try (var redis = io.gameq.servers.TestServers.redis()) {
                  redis.sync().del(key);
                }
              });
      Run plan = game.run("plan");
      assertTrue(plan.says("NODE IS ALIVE"), plan::toString);
      assertTrue(plan.says("30  missing, of nodes that are ALIVE"), plan::toString);
      Run replay = game.run("replay --execute");
      assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode());
      assertEquals(0, game.dirtyRows());
      Run forced = game.run("replay --execute --include-live");
      assertTrue(forced.says("Replayed 0 rows"), forced::toString);
      Path copy = copyOf(game.wal); // of which nobody knows that a process writes it
      Run copied = game.run("replay --execute --include-live", List.of(copy.toString()));
      assertEquals(ExitCodes.OK, copied.exitCode(), copied::toString);
      assertRestored();
      assertEquals(List.of(), game.keys(":closing"), "the sessions of a live node are not ended");
    }
  }

  /** Else it may refuse a commit, and mark it, between the tool's reading and its writing. */
  @Test
  void whatAProcessStillWritesIsNotReplayedThoughItGivesNoSignOfLife() throws Exception {
    try (GameQueue queue = game.node("n1");
        GameQueue later = game.node("n2")) {
      play(queue);
      OwnerSession taken = queue.open("player:8");
      taken.put(new Item(8, 1, 1, 1));
      taken.commit().awaitQueued(LONG);
      try (var redis = io.gameq.servers.TestServers.redis()) {
        game.keys("*").forEach(redis.sync()::del);
        redis.sync().keys(game.namespace + ":node:*").forEach(redis.sync()::del);
      }
      later.open("player:8");
      Run replay = game.run("replay --execute --conflicts apply --include-live");
      assertTrue(replay.says("NODE IS ALIVE"), replay::toString);
      assertTrue(replay.says("Replayed 0 rows"), replay::toString);
      assertTrue(replay.says("a process still writes its WAL"), replay::toString);
    }
  }

  private Path copyOf(Path wals) throws java.io.IOException {
    Path copy = directory.resolve("copy");
    try (var files = java.nio.file.Files.walk(wals)) {
      for (Path file : files.toList()) {
        java.nio.file.Files.copy(file, copy.resolve(wals.relativize(file)));
      }
    }
    return copy;
  }

  @Test
  void aFailedCommitIsNeverReplayed() {
    try (GameQueue first = game.node("n1");
        GameQueue second = game.node("n2")) {
      OwnerSession other = first.open("player:6");
      other.put(new Item(6, 1, 1, 1));
      other.commit().awaitQueued(LONG);
      OwnerSession old = first.open("player:5");
      second.open("player:5");
      old.put(new Item(5, 1, 1, 99));
      assertThrows(OwnershipLostException.class, () -> old.commit().awaitQueued(LONG));
    }
    game.loseRedis();
    Run plan = game.run("plan");
    assertTrue(plan.says("2 row changes, 1 failed"), plan::toString);
    assertTrue(plan.says("1  LOST"), plan::toString);
    assertEquals(ExitCodes.OK, game.run("replay --execute --conflicts apply").exitCode());
    assertEquals(List.of(), items(5));
    assertEquals(1, items(6).size());
  }

  @Test
  void aMovedRowIsSeenOnceByItsNewOwner() {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession from = queue.open("player:1");
      OwnerSession to = queue.open("player:2");
      from.put(new Pet(7, 1, "Rex"));
      from.commit();
      from.move(new Pet(7, 2, "Rex"), to);
      queue.commit(from, to).awaitQueued(LONG);
    }
    game.loseRedis();
    assertEquals(ExitCodes.OK, game.run("replay --execute").exitCode());
    try (GameQueue queue = game.node("look")) {
      assertEquals(List.of(), queue.read("player:1", Pet.class));
      assertEquals(List.of(new Pet(7, 2, "Rex")), queue.read("player:2", Pet.class));
    }
  }

  @Test
  void aSessionThatWasOpenIsPutBackAlthoughALaterOpenFailedHalfway() throws Exception {
    for (String way : List.of("", " --into mysql")) {
      playAndLoseRedis();
      game.database
          .server()
          .execute(
              "UPDATE gameq_owner SET before_epoch = epoch, before_nonce = nonce, epoch = epoch +"
                  + " 1, nonce = 'deaddeaddeaddead', state = 'opening'");
      assertEquals(ExitCodes.OK, game.run("replay --execute" + way).exitCode());
      assertRestored();
    }
  }

  @Test
  void straightIntoMySqlWhenRedisIsGoneForGood() throws Exception {
    playAndLoseRedis();
    game.database.server().execute("ALTER TABLE item ADD CONSTRAINT few CHECK (count < 7)");
    Run plan = game.run("plan --no-redis");
    assertTrue(plan.says("  gameq-recovery replay --execute --into mysql --mysql"), plan::toString);
    Run replay = game.run("replay --execute --into mysql --no-redis");
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), replay::toString);
    assertTrue(replay.says("3 rows refused by MySQL, now dead letters"), replay::toString);
    assertEquals("24", game.query("SELECT COUNT(*) FROM item"));
    assertEquals("3", game.query("SELECT COUNT(*) FROM gameq_dead_letter"));
    assertEquals("3", game.query("SELECT COUNT(*) FROM gameq_tombstone"));
    Run again = game.run("replay --execute --into mysql --no-redis");
    assertTrue(again.says("Replayed 0 rows"), again::toString);
    assertEquals(List.of(), game.keys(":dirty:*"));
  }

  @Test
  void whatAFailoverOfMySqlLostIsPutBackWithItsSessions() throws Exception {
    playAndLoseRedis();
    game.run("replay --execute --into mysql");
    assertEquals("27", game.query("SELECT COUNT(*) FROM item"));
    game.loseRedis();
    game.database
        .server()
        .execute(
            "DELETE FROM item WHERE player_id < 3",
            "UPDATE item SET count = 1, gq_version = 5 WHERE player_id = 3 AND slot = 0",
            "TRUNCATE gameq_tombstone",
            "UPDATE gameq_owner SET epoch = 0, nonce = 'feedfeedfeedfeed' WHERE owner ="
                + " 'player%3A1'",
            "DELETE FROM gameq_owner WHERE owner = 'player%3A2'",
            "DELETE FROM gameq_layout");
    Run plan = game.run("plan");
    assertTrue(plan.says("22  LOST"), plan::toString);
    assertTrue(plan.says("2  sessions that MySQL lost"), plan::toString);
    Run replay = game.run("replay --execute");
    assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
    assertTrue(replay.says("2 sessions restored in MySQL"), replay::toString);
    assertNotEquals("0", game.query("SELECT epoch FROM gameq_owner WHERE owner = 'player%3A1'"));
    assertEquals("2", game.query("SELECT COUNT(*) FROM gameq_layout"));
    assertRestored();
    assertEquals("3", game.query("SELECT COUNT(*) FROM gameq_owner"));
  }

  @Test
  void rowsInRedisOfASessionThatMySqlLostAreFlushableAgain() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      play(queue);
    }
    game.database.server().execute("DELETE FROM gameq_owner WHERE owner = 'player%3A2'");
    Run plan = game.run("plan");
    assertEquals(ExitCodes.FOUND_SOMETHING, plan.exitCode(), plan::toString);
    assertEquals(ExitCodes.OK, game.run("replay --execute").exitCode());
    assertEquals("1", game.query("SELECT COUNT(*) FROM gameq_owner WHERE owner = 'player%3A2'"));
  }

  @Test
  void rowsFromBeforeTheTombstoneHorizonAreRefusedByName() throws Exception {
    playAndLoseRedis();
    game.database
        .server()
        .execute(
            "INSERT INTO gameq_setting VALUES ('tombstones_purged_before',"
                + " '2999-01-01T00:00:00.000Z')");
    Run replay = game.run("replay --execute");
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode());
    assertTrue(replay.says("27  REFUSED: older than the deletes"), replay::toString);
    assertTrue(replay.says("could bring a deleted row back"), replay::toString);
    assertTrue(replay.says("player:1: 9 rows, such as item:1,1"), replay::toString);
    assertEquals(0, game.dirtyRows());
  }

  @Test
  void aTableThatIsNotManagedAnyMoreIsListedAndTheRestIsReplayed() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      player.put(new Item(1, 1, 1, 1));
      player.put(new Pet(7, 1, "Rex"));
      player.commit().awaitQueued(LONG);
    }
    game.loseRedis();
    game.database.server().execute("DELETE FROM gameq_table WHERE table_name = 'pet'");
    Run replay = game.run("replay --execute");
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode());
    assertTrue(replay.says("table pet is not managed"), replay::toString);
    assertEquals(1, game.dirtyRows());
  }

  @Test
  void verifyNamesWhatIsMissingOlderAndDifferent() throws Exception {
    playAndLoseRedis();
    game.run("replay --execute --into mysql");
    game.loseRedis();
    assertEquals(ExitCodes.OK, game.run("verify").exitCode());
    game.database
        .server()
        .execute(
            "DELETE FROM item WHERE player_id = 1 AND slot = 1",
            "UPDATE item SET gq_version = gq_version - 1 WHERE player_id = 1 AND slot = 2",
            "UPDATE item SET count = 666 WHERE player_id = 1 AND slot = 3");
    Run verify = game.run("verify");
    assertEquals(ExitCodes.FOUND_SOMETHING, verify.exitCode());
    assertTrue(verify.says("item:1,1 of player:1: missing"), verify::toString);
    assertTrue(verify.says("item:1,2 of player:1: older"), verify::toString);
    assertTrue(verify.says("item:1,3 of player:1: other content"), verify::toString);
    assertEquals(ExitCodes.OK, game.run("verify --owner player:2").exitCode());
    Run json = game.run("verify --json --owner player:1");
    assertTrue(
        json.says("\"mysql\":{\"player_id\":1,\"slot\":3,\"item_id\":1003,\"count\":666}"),
        json::toString);
    assertTrue(json.says("\"other_content\":1"), json::toString);
    assertFalse(json.says("WAL of namespace"));
  }
}
