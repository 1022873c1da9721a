package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.recovery.RecoveryGame.Pet;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.terminal.ExitCodes;
import io.gameq.topic.DeadLetter;
import io.gameq.topic.Delivery;
import io.gameq.topic.Topic;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What nodes that are gone had sent, and Redis lost: it is replayed whoever has the owner now. */
@Execution(ExecutionMode.CONCURRENT)
class SentRowsTest extends RecoveryFixture {
  /** To one who was open and is offline, to one whom nobody ever opened, and to one open later. */
  private void sendAndLoseRedis() {
    try (GameQueue queue = game.node("n1")) {
      queue.open("player:1").close();
      queue.send("player:1", new Pet(1, 1, "offline")).awaitQueued(LONG);
      queue.send("player:2", new Pet(2, 2, "never")).awaitQueued(LONG);
      queue.send("player:3", new Pet(3, 3, "later")).awaitQueued(LONG);
    }
    game.loseRedis();
  }

  private String pets() throws Exception {
    return game.query(
        "SELECT COALESCE(GROUP_CONCAT(CONCAT(id, ' ', player_id, ' ', name) ORDER BY id), '')"
            + " FROM pet");
  }

  /** Owners and their epochs. */
  private String sessions() throws Exception {
    return game.query(
        "SELECT COALESCE(GROUP_CONCAT(CONCAT(owner, ' ', epoch, ' ', state) ORDER BY owner), '')"
            + " FROM gameq_owner");
  }

  @Test
  void isPutBackIntoRedisWhoeverHasTheOwner() throws Exception {
    sendAndLoseRedis();
    try (GameQueue other = game.node("n2")) {
      OwnerSession later = other.open("player:3");
      assertEquals(List.of(), later.rows(Pet.class));
      Queue<Pet> told = new ConcurrentLinkedQueue<>();
      later.onSent(rows -> told.addAll(rows.rows(Pet.class)));
      String before = sessions();
      Run plan = game.run("plan");
      assertTrue(plan.says("3  LOST: replay puts them back (3 owners)"), plan::toString);
      assertTrue(plan.says("0  CONFLICTS"), plan::toString);
      Run replay = game.run("replay --execute");
      assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
      assertTrue(replay.says("3 written, 0 were there already"), replay::toString);
      assertFalse(replay.says("restored"), replay::toString);
      assertEquals(before, sessions());
      assertEquals(List.of(), game.keys(":own:*!*"));
      assertEquals(List.of(), game.keys(":closing"));
      assertEquals(List.of(new Pet(1, 1, "offline")), other.read("player:1", Pet.class));
      assertEquals(List.of(new Pet(2, 2, "never")), other.read("player:2", Pet.class));
      assertEquals(List.of(new Pet(3, 3, "later")), other.read("player:3", Pet.class));
      await().atMost(LONG).until(() -> List.copyOf(told).equals(List.of(new Pet(3, 3, "later"))));
    }
    Run again = game.run("replay --execute");
    assertTrue(again.says("Replayed 0 rows"), again::toString);
  }

  @Test
  void isPutIntoMySqlWhoeverHasTheOwner() throws Exception {
    sendAndLoseRedis();
    try (GameQueue other = game.node("n2")) {
      other.open("player:3");
      Run replay = game.run("replay --execute --into mysql --no-redis");
      assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
      assertEquals("1 1 offline,2 2 never,3 3 later", pets());
      assertEquals(
          "player%3A1 1 open,player%3A2 0 open,player%3A3 1 open",
          sessions(), "nobody has opened player:2");
    }
    game.loseRedis();
    assertEquals(ExitCodes.OK, game.run("verify").exitCode());
    try (GameQueue other = game.node("n3")) {
      assertEquals(List.of(new Pet(2, 2, "never")), other.open("player:2").rows(Pet.class));
    }
  }

  @Test
  void whatItsOwnerChangedOrDeletedSinceStaysSo() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      queue
          .send("player:1", new Pet(1, 1, "a"), new Pet(2, 1, "b"), new Pet(3, 1, "c"))
          .awaitQueued(LONG);
      try (GameQueue other = game.node("n2")) {
        OwnerSession player = other.open("player:1");
        player.put(new Pet(1, 1, "mine"));
        player.delete(Pet.class, 2);
        player.commit().awaitQueued(LONG);
      }
    }
    game.loseRedis();
    assertEquals(ExitCodes.OK, game.run("replay --execute").exitCode());
    try (GameQueue other = game.node("n3")) {
      assertEquals(
          Set.of(new Pet(1, 1, "mine"), new Pet(3, 1, "c")),
          Set.copyOf(other.read("player:1", Pet.class)));
    }
    game.loseRedis();
    String n2 = walOf("n2");
    game.run("replay --execute --into mysql --no-redis", List.of(n2));
    assertEquals("1 1 mine", pets());
    Run plan = game.run("plan");
    assertTrue(plan.says("4  in MySQL"), plan::toString);
    assertTrue(plan.says("1  LOST"), plan::toString);
    game.run("replay --execute --into mysql --no-redis");
    assertEquals("1 1 mine,3 1 c", pets());
  }

  private String walOf(String node) throws Exception {
    try (var directories = java.nio.file.Files.list(game.wal)) {
      return directories
          .filter(of -> of.getFileName().toString().startsWith(node + "-"))
          .findFirst()
          .orElseThrow()
          .toString();
    }
  }

  /** A price that another session has not seen since, and what was bought for it. */
  private void buyAndLoseRedis() {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession buyer = queue.open("player:1");
      queue
          .transact(
              buyer,
              tx -> {
                tx.put(new Pet(1, 1, "paid"));
                tx.send("player:2", new Pet(2, 2, "bought"));
              })
          .awaitQueued(LONG);
      buyer.put(new Pet(1, 1, "paid again")); // the WAL's newest change of the row is another one
      buyer.commit().awaitQueued(LONG);
      queue.send("player:2", new Pet(3, 2, "free")).awaitQueued(LONG);
    }
    game.loseRedis();
  }

  @Test
  void whatWasSentTogetherWithAConflictIsReportedWithIt() throws Exception {
    buyAndLoseRedis();
    try (GameQueue other = game.node("n2")) {
      other.open("player:1").close();
    }
    for (String filter : List.of("", " --owner player:2")) {
      Run plan = game.run("plan" + filter);
      assertTrue(plan.says(filter.isEmpty() ? "2  CONFLICTS" : "1  CONFLICTS"), plan::toString);
      assertTrue(plan.says("1  LOST"), plan::toString);
      assertTrue(plan.says("sent together with pet:1 of player:1, a conflict"), plan::toString);
      assertTrue(plan.says("sent to player:2 by node process"), plan::toString);
    }
    game.run("replay --execute --owner player:2");
    game.run("replay --execute");
    try (GameQueue other = game.node("n3")) {
      assertEquals(List.of(), other.read("player:1", Pet.class));
      assertEquals(List.of(new Pet(3, 2, "free")), other.read("player:2", Pet.class));
    }
    game.run("replay --execute --into mysql");
    assertEquals("", pets());
    String before = sessions();
    Run apply = game.run("replay --execute --conflicts apply --owner player:2");
    assertFalse(apply.says("taken over"), apply::toString);
    assertEquals(before, sessions());
    try (GameQueue other = game.node("n4")) {
      assertEquals(
          Set.of(new Pet(2, 2, "bought"), new Pet(3, 2, "free")),
          Set.copyOf(other.read("player:2", Pet.class)));
    }
  }

  @Test
  void whatWasSentTogetherWithWhatIsReplayedIsReplayedWithIt() {
    buyAndLoseRedis();
    assertEquals(ExitCodes.OK, game.run("replay --execute").exitCode());
    try (GameQueue other = game.node("n2")) {
      assertEquals(List.of(new Pet(1, 1, "paid again")), other.read("player:1", Pet.class));
      assertEquals(2, other.read("player:2", Pet.class).size());
    }
  }

  @Test
  void isShownAsSentAndFoundByItsOwner() {
    sendAndLoseRedis();
    Run inspect = game.run("inspect --rows --owner player:2");
    assertTrue(
        inspect.says("committed put pet:2 sent to player:2 by node process "), inspect::toString);
    assertTrue(inspect.says("1 row change that you asked for, of 1 owner in 0 sessions"));
    Run verify = game.run("verify --owner player:2");
    assertTrue(verify.says("pet:2 sent to player:2 by node process "), verify::toString);
    Run json = game.run("verify --json --owner player:2");
    assertTrue(json.says("\"owner\":\"player:2\""), json::toString);
    assertTrue(json.says("\"sentBy\":\""), json::toString);
    for (Run run : List.of(inspect, verify, json)) {
      assertFalse(run.says("0000000000000000-"), run::toString);
      assertFalse(run.says("pet:1"), run::toString);
    }
  }

  @Test
  void aKeyThatIsInUseIsSetAsideOnce() throws Exception {
    game.database.server().execute("INSERT INTO pet (id, player_id, name) VALUES (2, 2, 'first')");
    sendAndLoseRedis();
    Run replay = game.run("replay --execute --into mysql --no-redis");
    assertTrue(replay.says("1 row refused by MySQL, now dead letters"), replay::toString);
    assertEquals("1 1 offline,2 2 first,3 3 later", pets());
    Run plan = game.run("plan");
    assertTrue(plan.says("1  dead letters"), plan::toString);
    assertTrue(plan.says("0  LOST"), plan::toString);
  }

  @Test
  void whatASecondHandlerSentIsSetAsideAndAllElseThatWasSentIsWritten() throws Exception {
    assertSetAside(
        (delivery, player) -> {
          player.send("player:2", new Pet(2, 2, "of the second"));
          return delivery.ackWith(player);
        });
  }

  @Test
  void soIsWhatItSentWithoutASession() throws Exception {
    assertSetAside(
        (delivery, player) ->
            delivery.ackWith(tx -> tx.send("player:2", new Pet(2, 2, "of the second"))));
  }

  private record Text(String text) {}

  private void assertSetAside(BiFunction<Delivery<Text>, OwnerSession, CommitReceipt> second)
      throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      CountDownLatch handled = new CountDownLatch(1);
      Topic<Text> work = queue.topic("work", Text.class);
      work.subscribe(
          delivery -> {
            second.apply(delivery, player).awaitQueued(LONG);
            handled.countDown();
          });
      work.publish("m", new Text("x")).awaitQueued(LONG);
      assertTrue(handled.await(LONG.toMillis(), TimeUnit.MILLISECONDS));
      queue.send("player:2", new Pet(3, 2, "to the same")).awaitQueued(LONG);
      queue.send("player:3", new Pet(4, 3, "to another")).awaitQueued(LONG);
    }
    game.loseRedis();
    Matcher row =
        Pattern.compile("gameq_handled:work,m,(\\d+),0,")
            .matcher(game.run("inspect --rows --owner player:2").out());
    assertTrue(row.find());
    game.database
        .server()
        .execute(
            "INSERT INTO gameq_handled VALUES ('work', 'm', %s, 0, 'first', 1, UTC_TIMESTAMP(3))"
                .formatted(row.group(1)));
    Run replay = game.run("replay --execute --into mysql --no-redis");
    assertEquals("3 2 to the same,4 3 to another", pets(), replay::toString);
    assertTrue(replay.says("1 row refused by MySQL, now dead letters"), replay::toString);
    assertFalse(replay.says("sent together with"), replay::toString);
    assertEquals(
        "2 " + DeadLetter.HANDLED_TWICE,
        game.query("SELECT GROUP_CONCAT(row_key, ' ', error_code) FROM gameq_dead_letter"));
    game.run("replay --execute --into mysql --no-redis");
    assertEquals("1", game.query("SELECT COUNT(*) FROM gameq_dead_letter"));
  }

  @Test
  void whatAnOperatorDiscardedStaysAway() throws Exception {
    sendAndLoseRedis();
    game.database
        .server()
        .execute(
            "INSERT INTO gameq_discard (table_name, row_key, session, owner, version, discarded_at)"
                + " VALUES ('pet', '2', '', 'player%3A2', 9000000000000000000, NOW())");
    Run replay = game.run("replay --execute --into mysql --no-redis");
    assertTrue(replay.says("1  discarded"), replay::toString);
    assertEquals("1 1 offline,3 3 later", pets());
  }
}
