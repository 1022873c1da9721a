package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RollbackRequiredException;
import io.gameq.node.NodeAccess;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.terminal.ExitCodes;
import io.gameq.topic.ClaimLostException;
import io.gameq.writer.service.WriterService;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The rows of a message's handler count exactly once: of two handlers of one message MySQL takes
 * the rows of the first that is flushed, whatever Redis has forgotten.
 */
@Execution(ExecutionMode.CONCURRENT)
class RowsOfHandlersTest extends MessagesFixture {
  private static CommitReceipt handle(GameQueue queue, TakenMessage taken, OwnerSession... with) {
    return NodeAccess.messages(queue).commit(List.of(ack(taken)), with);
  }

  private TakenMessage published(GameQueue queue) {
    published(queue, "m", "x");
    return takeAll(60_000).get(0);
  }

  /** As a failover that forgot that it was ever taken. */
  private TakenMessage takenAgain(TakenMessage taken) {
    String topic = "{" + game.namespace + ":" + taken.slot() + "}:t:" + TOPIC + ":";
    byte[] id = taken.id().id().getBytes(US_ASCII);
    redis.sync().hset((topic + "msg").getBytes(US_ASCII), id, taken.value());
    redis.sync().zadd((topic + "due").getBytes(US_ASCII), 1, id);
    redis.sync().del((topic + "done").getBytes(US_ASCII));
    return takeAll(60_000).get(0);
  }

  private TakenMessage handledAndTakenAgain(GameQueue queue, OwnerSession by) {
    TakenMessage taken = published(queue);
    by.put(new Pet(1, 1, "first"));
    handle(queue, taken, by).awaitQueued(LONG);
    return takenAgain(taken);
  }

  private String pets() throws SQLException {
    return game.queryText("SELECT GROUP_CONCAT(name ORDER BY id) FROM pet");
  }

  /** Its node is told, and its next commit is refused. */
  private static void assertLost(OwnerSession session) {
    session.lost().toCompletableFuture().orTimeout(LONG.toMillis(), TimeUnit.MILLISECONDS).join();
    long player = Long.parseLong(session.owner().substring("player:".length()));
    assertThrows(OwnershipLostException.class, () -> queued(session, new Pet(9, player, "later")));
  }

  @Test
  void aNodeStartedAfterAFailoverHandlesAgainWhatWasHandledAndTheRowsOfOneCount() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1")) {
      OwnerSession first = one.open("player:1");
      published(one, "m", "x");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      first.put(new Pet(1, 1, "first"));
      handle(one, takeAll(60_000).get(0), first).awaitQueued(LONG);
      cutOff();
      replica.restore();
      try (GameQueue two = game.node("n2");
          WriterService writer = game.writer("w1")) {
        OwnerSession second = two.open("player:2");
        second.put(new Pet(2, 2, "second"));
        handle(two, takeAll(60_000).get(0), second).awaitDurable(LONG);
        proxy.refuse(false);
        await().atMost(LONG).until(() -> !conflicts.isEmpty());
        assertTrue(conflicts.element().rows().containsKey("pet:1"), conflicts::toString);
        assertLost(first);
        assertEquals("second", pets());
        assertEquals(List.of(), two.read("player:1", Pet.class));
      }
    }
  }

  @Test
  void theSessionOfTheSecondHandlerIsLostWithAllThatItCommittedSince() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = GameQueue.open(behind(proxy.uri(), "n2").build())) {
      OwnerSession first = one.open("player:1");
      OwnerSession second = two.open("player:2");
      TakenMessage again = handledAndTakenAgain(one, first);
      try (WriterService writer = game.writer("w1")) {
        first.awaitDurable(LONG);
        second.put(new Pet(2, 2, "second"));
        handle(two, again, second).awaitQueued(LONG);
        assertLost(second);
        await().atMost(LONG).until(() -> !conflicts.isEmpty());
        assertTrue(conflicts.element().rows().containsKey("pet:2"), conflicts::toString);
        assertEquals("first", pets());
        OwnerSession anew = two.open("player:2");
        commit(anew, new Pet(3, 2, "anew")).awaitDurable(LONG);
        assertEquals("first,anew", pets());
        assertEquals("mail m", game.queryText("SELECT CONCAT(topic, ' ', id) FROM gameq_handled"));
      }
    }
  }

  @Test
  void otherMessagesOfASessionThatIsLostAreGivenBackAndHandledAgain() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = GameQueue.open(behind(proxy.uri(), "n2").build())) {
      OwnerSession first = one.open("player:1");
      OwnerSession second = two.open("player:2");
      TakenMessage again = handledAndTakenAgain(one, first);
      try (WriterService writer = game.writer("w1")) {
        first.awaitDurable(LONG);
        published(one, "other", "its payload");
        published(one, "more", "of it");
        List<TakenMessage> others = takeAll(60_000);
        second.put(new Pet(2, 2, "second"));
        NodeAccess.messages(two)
            .commit(List.of(ack(again), ack(others.get(0)), ack(others.get(1))), second)
            .awaitQueued(LONG);
        Map<String, String> back = Map.of("other", "its payload", "more", "of it");
        await().atMost(LONG).until(() -> pending().equals(back));
        assertLost(second);
        OwnerSession anew = two.open("player:2");
        anew.put(new Pet(2, 2, "anew"));
        List<TakenMessage> givenBack = takeAll(60_000);
        NodeAccess.messages(two)
            .commit(List.of(ack(givenBack.get(0)), ack(givenBack.get(1))), anew)
            .awaitDurable(LONG);
        assertEquals("first,anew", pets());
        assertEquals("3", game.queryText("SELECT COUNT(*) FROM gameq_handled"));
        assertEquals(Map.of(), pending());
      }
    }
  }

  @Test
  void operatorsSeeWhatASecondHandlerCommittedAndDiscardIt() throws Exception {
    ConfigFile config =
        ConfigFile.write(walDirectory, game.database.server(), game.namespace, Game.SLOTS);
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2");
        WriterService writer = game.writer("w1")) {
      OwnerSession first = one.open("player:1");
      OwnerSession second = two.open("player:2");
      TakenMessage taken = published(one);
      first.put(new Pet(1, 1, "first"));
      handle(one, taken, first).awaitDurable(LONG);
      second.put(new Pet(2, 2, "second"));
      handle(two, takenAgain(taken), second).awaitQueued(LONG);
      assertLost(second);
      await().atMost(LONG).until(() -> says(config, "stale list", "player:2", " 3 "));
      String counts = game.queryText("SELECT token FROM gameq_handled");
      String row =
          game.queryText(
              "SELECT CONCAT('gameq_handled:', topic, ',', id, ',', version, ',0,', token) FROM"
                  + " gameq_handled");
      assertTrue(says(config, "trace player:2", "(message handled twice)"));
      assertTrue(says(config, "trace " + row, counts));
      assertTrue(says(config, "stale show --values player:2", "second", "gameq_handled:mail,m,"));
      assertTrue(says(config, "stale discard player:2 --yes", ""));
      assertTrue(says(config, "stale list", "0 sessions"));
    }
  }

  private static boolean says(ConfigFile config, String command, String... texts) {
    CommandLineRun run = config.run(command);
    boolean saysAll = Arrays.stream(texts).allMatch(run.out()::contains);
    return saysAll && run.exitCode() != ExitCodes.COULD_NOT_RUN;
  }

  @Test
  void bothAreFlushedTogetherAndTheRowsOfOneCount() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession first = one.open("player:1");
      OwnerSession second = two.open("player:2");
      TakenMessage again = handledAndTakenAgain(one, first);
      second.put(new Pet(2, 2, "second"));
      handle(two, again, second).awaitQueued(LONG);
      try (WriterService writer = game.writer("w1")) {
        await()
            .atMost(LONG)
            .until(
                () ->
                    first.lost().toCompletableFuture().isDone()
                        != second.lost().toCompletableFuture().isDone());
        OwnerSession counts = first.lost().toCompletableFuture().isDone() ? second : first;
        counts.awaitDurable(LONG);
        assertEquals(counts == first ? "first" : "second", pets());
      }
    }
  }

  @Test
  void whoAdoptedTheRowsOfTheSecondHandlerLosesTheOwner() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two =
            GameQueue.open(game.config("n2").mergeWindow(Duration.ofMinutes(5)).build());
        GameQueue three = game.node("n3");
        WriterService writer = game.writer("w1")) {
      OwnerSession first = one.open("player:1");
      OwnerSession second = two.open("player:2");
      TakenMessage taken = published(one);
      second.put(new Pet(2, 2, "second"));
      handle(two, taken, second).awaitQueued(LONG);
      first.put(new Pet(1, 1, "first"));
      handle(one, takenAgain(taken), first).awaitDurable(LONG);
      OwnerSession next = three.open("player:2");
      assertEquals(List.of(new Pet(2, 2, "second")), next.rows(Pet.class));
      assertLost(next);
      assertEquals("first", pets());
      assertEquals(List.of(), three.open("player:2").rows(Pet.class));
    }
  }

  @Test
  void aHandlerWhoseOwnerHasTheRowsAlreadyIsRefusedAndTheyCount() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession before = one.open("player:1");
      TakenMessage taken = published(one);
      before.put(new Pet(1, 1, "first"));
      handle(one, taken, before).awaitQueued(LONG);
      OwnerSession next = two.open("player:1"); // as gameq-recovery puts rows back before messages
      next.put(new Pet(2, 1, "second"));
      TakenMessage again = takenAgain(taken);
      GameQueueException refused =
          assertThrows(ClaimLostException.class, () -> handle(two, again, next));
      assertTrue(refused.getMessage().contains("player:1"), refused::getMessage);
      next.rollback();
      try (WriterService writer = game.writer("w1")) {
        commit(next, new Pet(3, 1, "later")).awaitDurable(LONG);
        assertEquals("first,later", pets());
      }
    }
  }

  @Test
  void aSessionThatHandledAMessageRefusesToHandleItAgainAndItsRowsCount() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      TakenMessage taken = published(queue);
      player.put(new Pet(1, 1, "first"));
      handle(queue, taken, player).awaitQueued(LONG);
      player.put(new Pet(1, 1, "second"));
      TakenMessage again = takenAgain(taken);
      GameQueueException refused =
          assertThrows(ClaimLostException.class, () -> handle(queue, again, player));
      assertTrue(refused.getMessage().contains("player:1"), refused::getMessage);
      player.rollback();
      try (WriterService writer = game.writer("w1")) {
        commit(player, new Pet(2, 1, "later")).awaitDurable(LONG);
        assertEquals("first,later", pets());
      }
    }
  }

  @Test
  void theRowsOfOneHandlerCountInEachOfItsOwners() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      OwnerSession one = queue.open("player:1");
      OwnerSession two = queue.open("player:2");
      TakenMessage taken = published(queue);
      one.put(new Pet(1, 1, "one"));
      two.put(new Pet(2, 2, "two"));
      handle(queue, taken, one, two).awaitDurable(LONG);
      assertEquals("one,two", pets());
      assertEquals(Map.of(), pending());
      commit(one, new Pet(3, 1, "later")).awaitDurable(LONG);
      assertEquals("one,two,later", pets());
    }
  }

  @Test
  void aSessionWhoseHandlerWasRefusedTakesNothingUntilItsOwnerIsOpenedAgain() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      OwnerSession player = queue.open("player:1");
      published(queue, "m", "x");
      TakenMessage stalled = takeAll(1).get(0);
      await().atMost(LONG).until(() -> !takeAll(60_000).isEmpty()); // its lease ran out
      player.put(new Pet(1, 1, "100 + 50"));
      CommitReceipt refused = handle(queue, stalled, player);
      assertThrows(ClaimLostException.class, () -> refused.awaitQueued(LONG));
      for (int times = 0; times < 2; times++) { // to roll back does not bring the memory back
        GameQueueException told =
            assertThrows(ClosedException.class, () -> player.put(new Pet(1, 1, "100 + 50 + 20")));
        assertTrue(told.getMessage().contains("player:1"), told::getMessage);
        assertTrue(told.getMessage().contains("open the owner again"), told::getMessage);
        assertThrows(ClosedException.class, player::commit);
        player.rollback();
      }
      player.close();
      OwnerSession again = queue.open("player:1");
      assertEquals(List.of(), again.rows(Pet.class));
      commit(again, new Pet(1, 1, "100 + 20")).awaitDurable(LONG);
      assertEquals("100 + 20", pets());
    }
  }

  @Test
  void whatWasStagedForAHandlerThatWasNotTakenIsCommittedWithNoOther() throws Exception {
    try (GameQueue queue = GameQueue.open(game.config("n1").maxCommit(3, 8 << 20).build())) {
      OwnerSession player = queue.open("player:1");
      TakenMessage taken = published(queue);
      for (int id = 1; id <= 3; id++) {
        player.put(new Pet(id, 1, "too many"));
      }
      assertThrows(GameQueueException.class, () -> handle(queue, taken, player));
      assertThrows(RollbackRequiredException.class, player::commit);
      player.rollback();
      player.put(new Pet(1, 1, "one"));
      handle(queue, taken, player).awaitQueued(LONG);
      assertEquals(List.of(new Pet(1, 1, "one")), queue.read("player:1", Pet.class));
    }
  }
}
