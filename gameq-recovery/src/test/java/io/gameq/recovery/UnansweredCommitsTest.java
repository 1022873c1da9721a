package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.service.WriterService;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A node ends before commits reach Redis, and its WAL is replayed: perhaps after another node has
 * handled the message that a commit acknowledges, since the lease had run out. Then MySQL refuses
 * the rows.
 */
@Execution(ExecutionMode.CONCURRENT)
class UnansweredCommitsTest extends LeftWalFixture {
  private static final TopicOptions OPTIONS = TopicOptions.DEFAULT.lease(Duration.ofSeconds(2));

  record Text(String text) {}

  private final RedisConnector redis =
      new RedisConnector(new RedisConfig(TestServers.adminRedisUri()));
  private @Nullable MySql mysql;

  @BeforeEach
  void connect() {
    mysql = MySqlPool.openForFlushes(game.database.as(Role.WRITER).config(4));
  }

  @AfterEach
  void disconnect() {
    Objects.requireNonNull(mysql).close();
    redis.close();
  }

  private static Topic<Text> topic(GameQueue queue) {
    return queue.topic("work", Text.class, OPTIONS);
  }

  private static Item row(int player) {
    return new Item(player, 1, 1_001, 1);
  }

  private static void handleAs(int player, GameQueue queue, CountDownLatch done, Runnable before) {
    OwnerSession session = queue.open("player:" + player);
    topic(queue)
        .subscribe(
            delivery -> {
              session.put(row(player));
              before.run();
              delivery.ackWith(session).journaled().join();
              done.countDown();
            });
  }

  private static void await(CountDownLatch done) throws InterruptedException {
    assertTrue(done.await(LONG.toMillis(), TimeUnit.MILLISECONDS));
  }

  /**
   * Leaves the WAL of a node, as a copy, in which alone the commit of player 1 is; player 2's is in
   * Redis if another one handles the message.
   */
  private void endBeforeTheAnswer(boolean anotherHandles) throws Exception {
    CountDownLatch first = new CountDownLatch(1);
    GameQueue queue = openBehindProxy();
    topic(queue).publish("k", new Text("x")).awaitQueued(LONG);
    handleAs(1, queue, first, this::cutOff);
    await(first);
    leaveWal();
    if (anotherHandles) {
      try (GameQueue two = game.node("n2")) {
        CountDownLatch second = new CountDownLatch(1);
        try (WriterService writer = writer()) {
          handleAs(2, two, second, () -> {});
          await(second);
          awaitInMySql("2");
        }
      }
    }
  }

  private WriterService writer() {
    return new WriterService(
        new WriterOptions(
            game.namespace,
            RecoveryGame.SLOTS,
            "w1",
            1,
            new ClaimScript.Bounds(256, 1_000, 8 << 20, 30_000),
            new FlushPlan.Patience(3, 0, 0, 15, 100),
            WriterOptions.DEFAULT_TOMBSTONES_KEPT,
            WriterOptions.NO_CEILING),
        redis,
        Objects.requireNonNull(mysql));
  }

  private void awaitInMySql(String players) {
    Awaitility.await()
        .atMost(LONG)
        .until(() -> players.equals(game.query("SELECT GROUP_CONCAT(player_id) FROM item")));
  }

  /** The rows of the other one, which were put back, are refused when they are flushed. */
  private void assertMySqlRefuses(GameQueue queue) {
    try (WriterService writer = writer()) {
      Awaitility.await().atMost(LONG).until(() -> queue.read("player:1", Item.class).isEmpty());
      awaitInMySql("2");
      assertOneHasHandled(queue, 2);
    }
  }

  private void assertOneHasHandled(GameQueue queue, int player) {
    assertEquals(List.of(row(player)), queue.read("player:" + player, Item.class));
    assertEquals(List.of(), queue.read("player:" + (3 - player), Item.class));
    assertEquals(List.of(), game.keys(":t:work:msg"));
    assertEquals(List.of(), game.keys(":t:work:held"));
  }

  @Test
  void theRowsThatTheNextStartPutsBackDoNotCountBesideThoseOfAnother() throws Exception {
    endBeforeTheAnswer(true);
    try (GameQueue again = game.node("n1")) {
      assertMySqlRefuses(again);
    }
  }

  @Test
  void theNextStartPutsItsRowsBackAndEndsTheMessageIfNobodyHandledIt() throws Exception {
    endBeforeTheAnswer(false);
    try (GameQueue again = game.node("n1")) {
      assertOneHasHandled(again, 1);
    }
  }

  @Test
  void rowsArePutBackWhateverSomebodyElseWroteIntoTheTopic() throws Exception {
    endBeforeTheAnswer(false);
    String claim = game.keys(":t:work:claim").get(0);
    try (var redis = TestServers.redis()) {
      redis.sync().set(claim.replaceAll("claim$", "why"), "not a hash");
    }
    try (GameQueue again = game.node("n1")) {
      assertEquals(List.of(row(1)), again.read("player:1", Item.class));
    }
  }

  @Test
  void aMessageIsNotPutBackWithoutItsRowsHoweverOftenTheNodeStarts() throws Exception {
    int other = neighbour();
    GameQueue queue = openBehindProxy();
    Topic<Text> topic = topic(queue);
    OwnerSession lost = queue.open("player:1");
    OwnerSession stays = queue.open("player:" + other);
    cutOff();
    lost.put(row(1));
    lost.publish(topic, Publish.of("k", new Text("x")));
    lost.commit().journaled().join();
    stays.put(row(other)); // of the same slot, and replayed behind the other one
    stays.commit().journaled().join();
    leaveWal();
    try (GameQueue two = game.node("n2");
        GameQueue three = game.node("n3")) {
      OwnerSession later = two.open("player:1");
      later.put(new Item(1, 2, 1_002, 2));
      later.commit().awaitQueued(LONG);
      three.open("player:1"); // takes over what is newer than what was lost
    }
    for (int start = 0; start < 3; start++) {
      try (GameQueue again = game.node("n1")) {
        assertEquals(List.of(new Item(1, 2, 1_002, 2)), again.read("player:1", Item.class));
        assertEquals(List.of(row(other)), again.read("player:" + other, Item.class));
        assertEquals(List.of(), game.keys(":t:work:msg"), "start " + start);
      }
    }
    assertTrue(game.run("plan --include-live").says("1  CONFLICTS"));
  }

  @Test
  void theRowsThatTheToolPutsBackDoNotCountBesideThoseOfAnother() throws Exception {
    endBeforeTheAnswer(true);
    Run replay = game.run("replay --execute --include-live");
    assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
    try (GameQueue another = game.node("n3")) {
      assertMySqlRefuses(another);
    }
    assertTheyAreConflicts();
  }

  @Test
  void theToolDoesNotWriteThemIntoMySqlBesideThoseOfAnother() throws Exception {
    endBeforeTheAnswer(true);
    Run replay = game.run("replay --execute --include-live --into mysql");
    assertTrue(replay.says("another handler of a message"), replay::toString);
    awaitInMySql("2");
    assertTheyAreConflicts();
  }

  private void assertTheyAreConflicts() {
    Run plan = game.run("plan --include-live");
    assertTrue(plan.says("0  LOST"), plan::toString);
    assertTrue(plan.says("  CONFLICTS"), plan::toString);
  }

  @Test
  void theToolPutsThemBackIfNobodyHandledTheMessages() throws Exception {
    endBeforeTheAnswer(false);
    Run plan = game.run("plan --include-live");
    assertTrue(plan.says("2  LOST"), plan::toString); // the row, and which message it was for
    Run replay = game.run("replay --execute --include-live");
    assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
    try (GameQueue another = game.node("n3")) {
      assertOneHasHandled(another, 1);
    }
  }
}
