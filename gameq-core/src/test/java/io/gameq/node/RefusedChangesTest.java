package io.gameq.node;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.QueueFullException;
import io.gameq.RollbackRequiredException;
import io.gameq.RowRefusedException;
import io.gameq.commit.MessageCommits;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.servers.GameDatabase;
import io.gameq.sign.NodeCounts.CommitOutcome;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Half of a change is never committed: a session with a refused change waits for a rollback. */
class RefusedChangesTest {
  private static final GameDatabase DATABASE = database();

  record Item(long playerId, int slot, int itemId) {}

  record Pet(long id, long playerId) {}

  @TempDir Path walDirectory;

  private static GameDatabase database() {
    try {
      return GameDatabase.create("refusals")
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

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);

  private GameQueueConfigBuilder config(String node) throws SQLException {
    DATABASE.server().execute("DELETE FROM gameq_setting WHERE name = 'namespace'");
    return TestNodes.on(DATABASE)
        .namespace(namespace)
        .node(node)
        .slots(4)
        .walDirectory(walDirectory);
  }

  private GameQueue node() throws SQLException {
    return GameQueue.open(config("n1").build());
  }

  /** A player with one item in slot 1. */
  private static OwnerSession player(GameQueue queue, long id) {
    OwnerSession player = queue.open("player:" + id);
    player.put(new Item(id, 1, 1_001));
    player.commit().awaitQueued(LONG);
    return player;
  }

  private static List<Item> items(GameQueue queue, long id) {
    return queue.read("player:" + id, Item.class);
  }

  private static void assertHeldBack(Executable commit, String... parts) {
    String message = assertThrows(RollbackRequiredException.class, commit).getMessage();
    for (String part : parts) {
      assertTrue(message.contains(part), message);
    }
  }

  @Test
  void theHalfBeforeARefusedPutIsNotSentUntilItIsRolledBack() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession player = player(queue, 1);
      OwnerSession other = player(queue, 2);
      other.put(new Item(2, 2, 1_002));
      player.delete(Item.class, 1, 1);
      assertThrows(
          RowRefusedException.class,
          () -> player.put("item", Map.of("player_id", 1, "slot", 2, "item_id", 3_000_000_000L)));
      assertHeldBack(player::commit, "player:1", "item.item_id", "rollback()");
      assertHeldBack(player::commit);
      other.commit().awaitQueued(LONG);
      assertEquals(List.of(new Item(1, 1, 1_001)), items(queue, 1));
      assertEquals(2, items(queue, 2).size(), "the other session is untouched");
      player.rollback();
      player.commit().awaitQueued(LONG);
      assertEquals(List.of(new Item(1, 1, 1_001)), items(queue, 1));
      player.put(new Item(1, 1, 1_009));
      player.commit().awaitQueued(LONG);
      assertEquals(List.of(new Item(1, 1, 1_009)), items(queue, 1));
    }
  }

  @Test
  void aRefusedDeleteOrAnUnknownTableHoldsBackToo() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession player = player(queue, 4);
      List<Executable> refused =
          List.of(
              () -> player.delete(Item.class, 4),
              () -> player.delete("item", 5, 1),
              () -> player.put("itme", Map.of()),
              () -> player.put(new Item(5, 1, 1)));
      for (Executable change : refused) {
        player.put(new Item(4, 3, 1));
        assertThrows(GameQueueException.class, change);
        assertHeldBack(player::commit);
        player.rollback();
      }
      player.commit();
      assertEquals(1, items(queue, 4).size());
    }
  }

  @Test
  void bothSessionsOfATradeWithARefusedPutAreHeldBack() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession giver = player(queue, 11);
      OwnerSession taker = player(queue, 12);
      giver.delete(Item.class, 11, 1);
      assertThrows(RowRefusedException.class, () -> taker.put(new Item(11, 2, 1_001)));
      assertHeldBack(() -> queue.commit(giver, taker), "player:12");
      assertHeldBack(giver::commit, "player:11");
      taker.rollback();
      assertHeldBack(giver::commit, "player:11");
      giver.rollback();
      queue.commit(giver, taker).awaitQueued(LONG);
      assertEquals(1, items(queue, 11).size());
      assertEquals(1, items(queue, 12).size());
    }
  }

  @Test
  void aRefusedMoveHoldsBackBothSessions() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession from = player(queue, 21);
      OwnerSession to = player(queue, 22);
      from.put(new Item(21, 2, 1));
      to.put(new Item(22, 2, 1));
      assertThrows(RowRefusedException.class, () -> from.move(new Pet(7, 21), to));
      assertHeldBack(from::commit, "move", "pet");
      assertHeldBack(to::commit, "move", "pet");
      from.rollback();
      assertHeldBack(to::commit);
      to.rollback();
      from.commit();
      to.commit();
      assertEquals(1, items(queue, 21).size());
      assertEquals(1, items(queue, 22).size());
    }
  }

  @Test
  void halfOfAMoveIsHeldBackAfterTheOtherHalfWasRolledBack() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession from = player(queue, 31);
      OwnerSession to = player(queue, 32);
      from.move(new Pet(8, 32), to);
      from.rollback();
      GameQueueException half = assertThrows(GameQueueException.class, to::commit);
      assertTrue(half.getMessage().contains("roll both back"), half::getMessage);
      to.rollback();
      to.commit();
      assertEquals(List.of(), queue.read("player:32", Pet.class));
    }
  }

  @Test
  void closingDropsHalfAChangeAndSaysSo() throws Exception {
    try (GameQueue queue = node()) {
      OwnerSession player = player(queue, 41);
      player.delete(Item.class, 41, 1);
      assertThrows(RowRefusedException.class, () -> player.delete(Item.class, 41));
      assertHeldBack(player::close, "is closed", "[item] were dropped");
      player.close();
      OwnerSession again = queue.open("player:41");
      assertEquals(1, again.rows(Item.class).size());
      assertThrows(RowRefusedException.class, () -> again.delete(Item.class, 41));
      again.close(); // nothing was staged, nothing is lost
      assertEquals(1, items(queue, 41).size());
    }
  }

  @Test
  void aTradeThatFoundNoRoomIsCommittedWholeOrNotAtAll() throws Exception {
    try (GameQueue queue =
        GameQueue.open(
            config("n1")
                .maxCommit(3, 5_000)
                .maxRowBytes(2_000)
                .maxDirtyRowsPerOwner(3)
                .maxInFlight(100, 5_000, Duration.ZERO)
                .build())) {
      OwnerSession giver = player(queue, 51);
      OwnerSession taker = player(queue, 52);
      taker.put(new Item(52, 2, 1));
      taker.put(new Item(52, 3, 1));
      taker.commit().awaitQueued(LONG);
      giver.delete(Item.class, 51, 1);
      taker.put(new Item(52, 4, 1_001));
      assertThrows(QueueFullException.class, () -> queue.commit(giver, taker));
      assertHeldBack(giver::commit, "together");
      assertThrows(QueueFullException.class, () -> queue.commit(giver, taker));
      taker.rollback();
      assertHeldBack(giver::commit, "was dropped");
      giver.rollback();
      queue.commit(giver, taker).awaitQueued(LONG);
      assertEquals(1, items(queue, 51).size());
    }
  }

  @Test
  void aRefusedCommitOfMessagesIsCountedOnceWhateverSessionsItNames() throws Exception {
    try (GameQueue queue =
        GameQueue.open(config("n1").maxRowBytes(500).maxCommit(3, 5_000).build())) {
      OwnerSession player = queue.open("player:61");
      List<MessageChange> tooMany =
          Stream.of("a", "b", "c", "d")
              .<MessageChange>map(
                  key -> new MessageChange.Delete(MessageId.of("mail", null, key), 1))
              .toList();
      MessageCommits messages = NodeAccess.messages(queue);
      assertThrows(GameQueueException.class, () -> messages.commit(tooMany));
      assertThrows(GameQueueException.class, () -> messages.commit(tooMany, player));
      assertThrows(GameQueueException.class, () -> messages.commit(tooMany, failure -> {}));
      assertEquals(3, ((NodeQueue) queue).counts().commits(CommitOutcome.REFUSED));
    }
  }

  @Test
  void aTradeOfWhichOneOwnerIsLostIsNotSentByHalf() throws Exception {
    try (GameQueue queue = node();
        GameQueue elsewhere = GameQueue.open(config("n2").build())) {
      OwnerSession giver = player(queue, 61);
      OwnerSession taker = player(queue, 62);
      elsewhere.open("player:62");
      taker.put(new Item(62, 2, 1));
      assertThrows(OwnershipLostException.class, () -> taker.commit().awaitQueued(LONG));
      giver.delete(Item.class, 61, 1);
      taker.put(new Item(62, 3, 1_001));
      assertThrows(OwnershipLostException.class, () -> queue.commit(giver, taker));
      assertHeldBack(giver::commit, "player:61");
      giver.rollback();
      giver.put(new Item(61, 5, 5));
      giver.commit().awaitQueued(LONG);
      assertEquals(2, items(queue, 61).size());
    }
  }
}
