package io.gameq.node;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.ChangeSet;
import io.gameq.ClosedException;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RollbackRequiredException;
import io.gameq.RowRefusedException;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.Takeover;
import io.gameq.owner.OwnerId;
import io.gameq.redis.Slots;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.TestServers;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.Transacted;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Change sets, what a session has now, and how an owner changes hands, without a writer. */
class ChangeSetTest {
  private static final GameDatabase DATABASE = database();

  record Item(long playerId, int slot, int itemId) {}

  record Pet(long id, long playerId) {}

  record Greeting(String text) {}

  @TempDir Path walDirectory;

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);

  private static GameDatabase database() {
    try {
      return GameDatabase.create("changesets")
          .table(
              "item",
              "player",
              "player_id",
              "player_id BIGINT NOT NULL, slot INT NOT NULL, item_id INT NOT NULL, PRIMARY KEY"
                  + " (player_id, slot)")
          .table(
              "pet",
              "player",
              "player_id",
              "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private GameQueueConfigBuilder config(String node) {
    try {
      DATABASE.server().execute("DELETE FROM gameq_setting WHERE name = 'namespace'");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return TestNodes.on(DATABASE)
        .namespace(namespace)
        .node(node)
        .slots(4)
        .walDirectory(walDirectory.resolve(node));
  }

  private GameQueue node(String node) {
    return GameQueue.open(config(node).build());
  }

  private static List<Item> items(GameQueue queue, long id) {
    return queue.read("player:" + id, Item.class).stream()
        .sorted(Comparator.comparing(Item::slot))
        .toList();
  }

  private static List<Item> current(OwnerSession player) {
    return player.current(Item.class).stream().sorted(Comparator.comparing(Item::slot)).toList();
  }

  private static void refused(Executable transaction, String... parts) {
    String message = assertThrows(RowRefusedException.class, transaction).getMessage();
    for (String part : parts) {
      assertTrue(message.contains(part), message);
    }
  }

  @Test
  void aTradeWithARefusedPutChangesNothingAtAll() {
    try (GameQueue queue = node("n1")) {
      OwnerSession giver = queue.open("player:1");
      OwnerSession taker = queue.open("player:2");
      queue.transact(giver, tx -> tx.put(new Item(1, 1, 1_001))).awaitQueued(LONG);
      refused(
          () ->
              queue.transact(
                  giver,
                  taker,
                  tx -> {
                    tx.delete(Item.class, 1, 1);
                    tx.put("item", Map.of("player_id", 2, "slot", 1, "item_id", 3_000_000_000L));
                  }),
          "item.item_id");
      giver.commit().awaitQueued(LONG);
      taker.commit().awaitQueued(LONG);
      queue.commit(giver, taker).awaitQueued(LONG);
      giver.close();
      taker.close();
      assertEquals(List.of(new Item(1, 1, 1_001)), items(queue, 1));
      assertEquals(List.of(), items(queue, 2));
    }
  }

  @Test
  void aRefusalThatTheCodeCatchesDiscardsTheSetAllTheSame() {
    try (GameQueue queue = node("n1")) {
      OwnerSession player = queue.open("player:3");
      List<Executable> refusals = new ArrayList<>();
      refused(
          () ->
              queue.transact(
                  player,
                  tx -> {
                    tx.put(new Item(3, 1, 1));
                    refusals.add(() -> tx.put(new Item(4, 1, 1)));
                    assertThrows(RowRefusedException.class, refusals.get(0));
                  }),
          "player:4",
          "player:3");
      assertThrows(
          IllegalStateException.class,
          () ->
              queue.transact(
                  player,
                  tx -> {
                    tx.put(new Item(3, 2, 1));
                    throw new IllegalStateException("the game's own");
                  }));
      player.commit().awaitQueued(LONG);
      assertEquals(List.of(), items(queue, 3));
    }
  }

  @Test
  void aTradeOfSeveralOwnersArrivesAsOneAndReturnsAValue() {
    try (GameQueue queue = node("n1")) {
      OwnerSession one = queue.open("player:5");
      OwnerSession two = queue.open("player:6");
      OwnerSession three = queue.open("player:7");
      queue.transact(one, tx -> tx.put(new Pet(50, 5))).awaitQueued(LONG);
      Transacted<String> traded =
          queue.transactReturning(
              List.of(one, two, three),
              tx -> {
                tx.move(new Pet(50, 6), one);
                tx.put(new Item(5, 1, 11));
                tx.put(new Item(6, 1, 12));
                tx.put(new Item(7, 1, 13));
                tx.delete(Item.class, 7, 2);
                tx.delete(three, Pet.class, 51);
                tx.urgent();
                return "a pet for three items";
              });
      traded.receipt().awaitQueued(LONG);
      assertEquals("a pet for three items", traded.value());
      assertEquals(List.of(new Pet(50, 6)), queue.read("player:6", Pet.class));
      assertEquals(List.of(), queue.read("player:5", Pet.class));
      assertEquals(List.of(new Item(7, 1, 13)), items(queue, 7));
      refused(
          () -> queue.transact(List.of(one, two), tx -> tx.delete(Pet.class, 50)),
          "does not name the owner");
      refused(() -> queue.transact(one, two, tx -> tx.move(new Pet(50, 6), two)), "stays with");
    }
  }

  @Test
  void whatIsStagedInTheSessionStaysAndIsNoPartOfTheSet() {
    try (GameQueue queue = node("n1")) {
      OwnerSession player = queue.open("player:8");
      player.put(new Item(8, 1, 1));
      assertThrows(
          GameQueueException.class, () -> queue.transact(player, tx -> tx.put(new Item(8, 1, 2))));
      queue.transact(player, tx -> tx.put(new Item(8, 2, 2))).awaitQueued(LONG);
      assertEquals(List.of(new Item(8, 2, 2)), items(queue, 8));
      assertThrows(RowRefusedException.class, () -> player.put(new Item(9, 1, 1)));
      queue.transact(player, tx -> tx.put(new Item(8, 3, 3))).awaitQueued(LONG);
      assertThrows(RollbackRequiredException.class, player::commit);
      player.rollback();
      assertEquals(2, items(queue, 8).size());
      assertDoesNotThrow(() -> queue.transact(player, tx -> {}).awaitDurable(LONG));
    }
  }

  @Test
  void moreThanOneCommitTakesIsRefusedAtThePutAndNotAtTheClose() {
    GameQueueConfig small = config("n1").maxCommit(3, 4_096).maxRowBytes(1_024).build();
    try (GameQueue queue = GameQueue.open(small)) {
      OwnerSession player = queue.open("player:10");
      OwnerSession other = queue.open("player:11");
      for (int slot = 1; slot <= 3; slot++) {
        player.put(new Item(10, slot, 1));
        player.put(new Item(10, slot, 2));
      }
      GameQueueException full =
          assertThrows(GameQueueException.class, () -> player.put(new Item(10, 4, 1)));
      assertTrue(full.getMessage().contains("4 rows"), full::getMessage);
      assertTrue(full.getMessage().contains("limit is 3"), full::getMessage);
      assertTrue(full.getMessage().contains("maxCommit"), full::getMessage);
      player.rollback();
      GameQueueException together =
          assertThrows(
              GameQueueException.class,
              () ->
                  queue.transact(
                      player,
                      other,
                      tx -> {
                        for (int slot = 1; slot <= 2; slot++) {
                          tx.put(new Item(10, slot, 1));
                          tx.put(new Item(11, slot, 1));
                        }
                      }));
      assertTrue(together.getMessage().contains("maxCommit"), together::getMessage);
      for (int slot = 1; slot <= 3; slot++) {
        player.put(new Item(10, slot, 1));
      }
      player.close();
      assertEquals(3, items(queue, 10).size());
      assertEquals(List.of(), items(queue, 11));
    }
  }

  @Test
  void whateverIsUsedAfterItsCloseThrowsOneException() {
    GameQueue queue = node("n1");
    OwnerSession player = queue.open("player:12");
    OwnerSession other = queue.open("player:13");
    Topic<Greeting> topic = queue.topic("greetings", Greeting.class);
    Subscription subscription = topic.subscribe(message -> {});
    ChangeSet[] kept = new ChangeSet[1];
    queue.transact(
        other,
        tx -> {
          kept[0] = tx;
        });
    subscription.close();
    player.close();
    List<Executable> closed =
        List.of(
            () -> player.put(new Item(12, 1, 1)),
            () -> player.rows(Item.class),
            () -> player.current(Item.class),
            player::deadLetters,
            player::commit,
            () -> queue.commit(player, other),
            () -> queue.transact(player, tx -> tx.put(new Item(12, 1, 1))),
            () -> kept[0].put(new Item(13, 1, 1)),
            subscription::pause,
            subscription::resume);
    for (Executable use : closed) {
      assertThrows(ClosedException.class, use);
    }
    queue.close();
    List<Executable> gone =
        List.of(
            () -> queue.open("player:12"),
            () -> queue.openAsync("player:12", Takeover.ALWAYS),
            () -> queue.read("player:12", Item.class),
            () -> queue.transact(other, tx -> tx.put(new Item(13, 1, 1))),
            () -> queue.commit(other),
            () -> queue.topic("greetings", Greeting.class),
            () -> topic.publish("1", new Greeting("hello")),
            () -> topic.get("1"),
            () -> topic.subscribe(message -> {}));
    for (Executable use : gone) {
      assertThrows(ClosedException.class, use);
    }
    player.close();
    queue.close();
  }

  @Test
  void aSessionClosedAfterTheQueueIsHarmlessUnlessItHasStagedChanges() {
    GameQueue queue = node("n1");
    OwnerSession whole = queue.open("player:21");
    whole.put(new Item(21, 1, 1));
    whole.commit().awaitQueued(LONG);
    OwnerSession half = queue.open("player:22");
    half.put(new Item(22, 1, 1));
    queue.close();
    whole.close();
    String dropped = assertThrows(ClosedException.class, half::close).getMessage();
    assertTrue(dropped.contains("player:22") && dropped.contains("item"), dropped);
    half.close();
    try (GameQueue next = node("n2")) {
      assertEquals(1, items(next, 21).size());
      assertEquals(List.of(), items(next, 22));
    }
  }

  @Test
  void theCurrentRowsAreTheLoadedOnesWithWhatWasCommittedAndStaged() {
    try (GameQueue queue = node("n1")) {
      OwnerSession before = queue.open("player:14");
      before.put(new Item(14, 1, 1));
      before.put(new Item(14, 2, 2));
      before.commit().awaitQueued(LONG);
      before.close();
      OwnerSession player = queue.open("player:14");
      assertEquals(2, current(player).size());
      queue.transact(player, tx -> tx.put(new Item(14, 1, 10))).awaitQueued(LONG);
      player.delete(Item.class, 14, 2);
      player.commit().awaitQueued(LONG);
      player.put(new Item(14, 3, 3));
      assertEquals(List.of(new Item(14, 1, 10), new Item(14, 3, 3)), current(player));
      player.rollback();
      assertEquals(List.of(new Item(14, 1, 10)), current(player));
      assertEquals(2, player.rows(Item.class).size(), "as of open");
      player.put(new Pet(140, 14));
      player.commit().awaitQueued(LONG);
      GameQueueException late =
          assertThrows(GameQueueException.class, () -> player.current(Pet.class));
      assertTrue(late.getMessage().contains("first commit"), late::getMessage);
    }
  }

  @Test
  void aCommitThatFailedIsNotInTheCurrentRows() {
    try (GameQueue queue = node("n1");
        GameQueue other = node("n2")) {
      OwnerSession player = queue.open("player:15");
      player.current(Item.class);
      player.put(new Item(15, 1, 1));
      player.commit().awaitQueued(LONG);
      other.open("player:15");
      player.put(new Item(15, 1, 2));
      assertThrows(OwnershipLostException.class, () -> player.commit().awaitQueued(LONG));
      assertEquals(List.of(new Item(15, 1, 1)), current(player));
    }
  }

  @Test
  void aSecondOpenOnTheSameNodeDoesNotEndTheFirstUnlessAskedFor() {
    try (GameQueue queue = node("n1")) {
      OwnerSession player = queue.open("player:16", Takeover.UNLESS_ALIVE);
      OwnerHeldException held =
          assertThrows(
              OwnerHeldException.class, () -> queue.open("player:16", Takeover.UNLESS_ALIVE));
      assertTrue(held.getMessage().contains("player:16 is open on this node"), held::getMessage);
      assertEquals("player:16", held.owner());
      player.put(new Item(16, 1, 1));
      player.commit().awaitQueued(LONG);
      player.close();
      OwnerSession again = queue.open("player:16", Takeover.UNLESS_ALIVE);
      assertEquals(List.of(new Item(16, 1, 1)), again.rows(Item.class));
      CompletableFuture<Void> lost = again.lost().toCompletableFuture();
      queue.open("player:16", Takeover.ALWAYS);
      await().atMost(LONG).until(lost::isDone);
    }
  }

  @Test
  void theHolderIsToldAtOnceThatItsOwnerWasTakenOver() {
    try (GameQueue one = node("n1");
        GameQueue two = node("n2")) {
      OwnerSession player = one.open("player:17");
      OwnerSession closed = one.open("player:18");
      CompletableFuture<Void> lost = player.lost().toCompletableFuture();
      CompletableFuture<Void> never = closed.lost().toCompletableFuture();
      closed.close();
      two.open("player:18");
      two.open("player:17");
      await().atMost(LONG).until(lost::isDone);
      assertTrue(!never.isDone(), "it was closed before");
    }
  }

  @Test
  void theHolderIsToldOfATakeoverWhoseNoticeWasLost() {
    try (GameQueue queue = node("n1")) {
      OwnerSession player = queue.open("player:23");
      CompletableFuture<Void> lost = player.lost().toCompletableFuture();
      RedisCommands<String, String> redis = TestServers.redis().sync();
      OwnerId owner = OwnerId.of("player:23");
      String own = new String(new Slots(namespace, 4).of(owner).own(owner), US_ASCII);
      redis.set(own, "7" + redis.get(own).substring(1)); // a newer session; nothing is published
      await().atMost(LONG).until(lost::isDone);
    }
  }

  @Test
  void aHolderThatIsAskedCommitsAndClosesBeforeTheOwnerIsTaken() {
    try (GameQueue one = node("n1");
        GameQueue two = node("n2")) {
      OwnerSession player = one.open("player:19");
      player
          .askedToClose()
          .thenRun(
              () -> {
                player.put(new Item(19, 1, 1));
                player.close();
              });
      OwnerSession taken = two.open("player:19", Takeover.UNLESS_ALIVE, LONG);
      assertEquals(List.of(new Item(19, 1, 1)), taken.rows(Item.class));
    }
  }

  @Test
  void aHolderThatDoesNotCloseIsTakenOverInTheEndOrNot() {
    try (GameQueue one = node("n1");
        GameQueue two = node("n2")) {
      OwnerSession player = one.open("player:20");
      CompletableFuture<Void> asked = player.askedToClose().toCompletableFuture();
      assertThrows(
          OwnerHeldException.class,
          () -> two.open("player:20", Takeover.UNLESS_ALIVE, Duration.ofMillis(100)));
      await().atMost(LONG).until(asked::isDone);
      player.put(new Item(20, 1, 1));
      player.commit().awaitQueued(LONG);
      two.open("player:20", Takeover.ALWAYS, Duration.ofMillis(100));
      player.put(new Item(20, 1, 2));
      assertThrows(OwnershipLostException.class, () -> player.commit().awaitQueued(LONG));
    }
  }
}
