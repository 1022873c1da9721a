package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitFailedException;
import io.gameq.CommitReceipt;
import io.gameq.DeadLetterException;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RollbackRequiredException;
import io.gameq.RowRefusedException;
import io.gameq.servers.TestServers;
import io.gameq.topic.DeadLetter;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Rows that are sent to an owner, whoever has it: each is there once, and its holder is told. */
@Execution(ExecutionMode.CONCURRENT)
class SendTest extends RedisLossFixture {
  private static Queue<Pet> toldOf(OwnerSession session) {
    Queue<Pet> told = new ConcurrentLinkedQueue<>();
    session.onSent(rows -> told.addAll(rows.rows(Pet.class)));
    return told;
  }

  private static void awaitTold(Queue<Pet> told, Pet... pets) {
    await().atMost(LONG).untilAsserted(() -> assertEquals(List.of(pets), List.copyOf(told)));
  }

  private void drain(GameQueue... nodes) {
    try (WriterService writer = game.writer("w1")) {
      for (GameQueue node : nodes) {
        assertEquals(Set.of(), node.drain(LONG));
      }
    }
  }

  private String pets() throws Exception {
    return game.queryText(
        "SELECT COALESCE(GROUP_CONCAT(CONCAT(id, ' ', player_id, ' ', name) ORDER BY id), '')"
            + " FROM pet");
  }

  @Test
  void reachesAnOwnerWhomNobodyHasEverOpened() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      CommitReceipt sent = one.send("player:1", new Pet(1, 1, "a"), new Pet(2, 1, "b"));
      sent.awaitQueued(LONG);
      assertEquals(2, two.read("player:1", Pet.class).size());
      drain(one);
      sent.awaitDurable(LONG);
      assertEquals("1 1 a,2 1 b", pets());
      assertEquals(2, two.open("player:1").rows(Pet.class).size());
    }
    assertEquals(0, redis.sync().keys("*" + game.namespace + "*inboxes*").size());
  }

  @Test
  void isSeenByAnOpenBeforeItIsFlushedAndTheOwnerMayChangeIt() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      one.send("player:1", new Pet(1, 1, "a"), new Pet(2, 1, "b"), new Pet(3, 1, "c"))
          .awaitQueued(LONG);
      OwnerSession player = two.open("player:1");
      assertEquals(3, player.rows(Pet.class).size());
      Queue<Pet> told = toldOf(player);
      player.put(new Pet(1, 1, "mine"));
      player.delete(Pet.class, 2);
      player.commit().awaitQueued(LONG);
      assertEquals(
          Set.of(new Pet(1, 1, "mine"), new Pet(3, 1, "c")),
          Set.copyOf(one.read("player:1", Pet.class)));
      drain(one, two);
      assertEquals("1 1 mine,3 1 c", pets());
      assertEquals(List.of(), List.copyOf(told));
    }
  }

  @Test
  void whoHasTheOwnerIsToldHereAndElsewhere() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession here = one.open("player:1");
      OwnerSession elsewhere = two.open("player:2");
      Queue<Pet> toldElsewhere = toldOf(elsewhere);
      assertEquals(List.of(), elsewhere.current(Pet.class));
      one.send("player:1", new Pet(1, 1, "here")).awaitQueued(LONG);
      one.send("player:2", new Pet(2, 2, "elsewhere")).awaitQueued(LONG);
      awaitTold(toldElsewhere, new Pet(2, 2, "elsewhere"));
      await().atMost(LONG).until(() -> here.current(Pet.class).size() == 1);
      awaitTold(toldOf(here), new Pet(1, 1, "here")); // it waited until the game asked

      elsewhere.delete(Pet.class, 2);
      elsewhere.commit().awaitQueued(LONG);
      here.update("pet", Map.of("id", 1, "player_id", 1, "name", "tamed"));
      here.commit().awaitQueued(LONG);
      assertEquals(List.of(), elsewhere.current(Pet.class));
      drain(one, two);
      assertEquals("1 1 tamed", pets());
    }
  }

  /** As when its notice was lost: the row is noted for the session, and nothing says so. */
  @Test
  void aRowWhoseNoticeWasLostIsToldByTheNextLook() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2");
        StatefulRedisConnection<String, String> raw = TestServers.redis()) {
      OwnerSession holder = two.open("player:1");
      Queue<Pet> told = toldOf(holder);
      assertEquals(List.of(), holder.current(Pet.class));
      one.send("player:1", new Pet(1, 1, "a")).awaitQueued(LONG);
      awaitTold(told, new Pet(1, 1, "a"));
      String ofGame = "*" + game.namespace + "*";
      await().atMost(LONG).until(() -> raw.sync().keys(ofGame + ":sent:*").isEmpty());

      String inbox = raw.sync().keys(ofGame + ":dirty:player%3A1!*").get(0);
      String slot = inbox.substring(0, inbox.indexOf(":dirty:"));
      String session = raw.sync().get(slot + ":own:player%3A1");
      raw.sync()
          .eval(
              """
              local rows = redis.call('HGETALL', KEYS[1])
              local name = string.sub(rows[2], 1, 16) .. string.match(KEYS[1], '!(%x+)')
              redis.call('HSET', KEYS[2], ARGV[1] .. rows[1], '0' .. name)
              """,
              ScriptOutputType.STATUS,
              new String[] {inbox, slot + ":sent:" + session.substring(17, 25)},
              "player%3A1 " + session + " ");
      awaitTold(told, new Pet(1, 1, "a"), new Pet(1, 1, "a"));
    }
  }

  @Test
  void isSentTogetherWithOtherChangesOrNotAtAll() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession giver = one.open("player:1");
      one.transact(
              giver,
              tx -> {
                tx.put(new Pet(1, 1, "paid"));
                tx.send("player:2", new Pet(2, 2, "bought"));
                tx.send("player:3", "pet", Map.of("id", 3, "player_id", 3, "name", "fee"));
              })
          .awaitQueued(LONG);
      giver.put(new Pet(4, 1, "paid"));
      giver.send("player:2", new Pet(5, 2, "late"));
      two.open("player:1");
      CommitReceipt late = giver.commit();
      assertThrows(OwnershipLostException.class, () -> late.awaitQueued(LONG));
      assertEquals(List.of(new Pet(1, 1, "paid")), two.read("player:1", Pet.class));
      assertEquals(List.of(new Pet(2, 2, "bought")), two.read("player:2", Pet.class));
      assertEquals(List.of(new Pet(3, 3, "fee")), two.read("player:3", Pet.class));
    }
  }

  @Test
  void whatIsRefusedLeavesNothingHalf() {
    try (GameQueue one = game.node("n1")) {
      OwnerSession player = one.open("player:1");
      player.put(new Pet(1, 1, "half"));
      assertThrows(RowRefusedException.class, () -> player.send("player:2", new Pet(2, 3, "x")));
      assertThrows(RollbackRequiredException.class, player::commit);
      player.rollback();
      assertThrows(RowRefusedException.class, () -> player.send("player:1", new Pet(2, 1, "x")));
      player.rollback();
      player.send("player:2", new Pet(2, 2, "x"));
      assertThrows(RowRefusedException.class, () -> player.send("player:2", new Pet(2, 2, "y")));
      player.rollback();
      assertThrows(RowRefusedException.class, () -> one.send("player:2", new Pet(2, 3, "x")));
      Pet twice = new Pet(2, 2, "x");
      assertThrows(RowRefusedException.class, () -> one.send("player:2", twice, twice));
      assertEquals(List.of(), one.read("player:1", Pet.class));
      assertEquals(List.of(), one.read("player:2", Pet.class));
    }
  }

  @Test
  void aKeyThatIsInUseIsRefusedAsLongAsItWaitsElseSetAside() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = game.node("n2")) {
      one.send("player:1", new Pet(1, 1, "first")).awaitQueued(LONG);
      CommitReceipt second = two.send("player:1", new Pet(1, 1, "second"), new Pet(2, 1, "x"));
      CommitFailedException refused =
          assertThrows(CommitFailedException.class, () -> second.awaitQueued(LONG));
      assertTrue(refused.getMessage().contains("pet:1"), refused::getMessage);
      OwnerSession player = one.open("player:2");
      queued(player, new Pet(3, 2, "own"));
      CommitReceipt third = one.send("player:2", new Pet(3, 2, "third"));
      assertThrows(CommitFailedException.class, () -> third.awaitQueued(LONG));
      drain(one);
      assertEquals("1 1 first,3 2 own", pets());

      CommitReceipt late = two.send("player:1", new Pet(1, 1, "late"));
      CommitReceipt stolen = two.send("player:3", new Pet(3, 3, "stolen"));
      try (WriterService writer = game.writer("w2")) {
        assertThrows(DeadLetterException.class, () -> late.awaitDurable(LONG));
        assertThrows(DeadLetterException.class, () -> stolen.awaitDurable(LONG));
      }
      assertEquals("1 1 first,3 2 own", pets());
      List<DeadLetter> letters = two.open("player:1").deadLetters();
      assertEquals(1, letters.size());
      assertTrue(letters.get(0).error().contains("new key"), letters.get(0)::error);
    }
  }

  @Test
  void aLostReplyDoublesNothingAndLosesNothing() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      Queue<Pet> told = toldOf(two.open("player:1"));
      proxy.dropReplies();
      CommitReceipt sent = one.send("player:1", new Pet(1, 1, "a"));
      awaitTold(told, new Pet(1, 1, "a"));
      drainWriterOnly();
      proxy.cut();
      proxy.heal();
      sent.awaitQueued(LONG);
      drain(one);
      assertEquals("1 1 a", pets());
    }
  }

  /** Until MySQL has what Redis holds. */
  private void drainWriterOnly() throws Exception {
    try (WriterService writer = game.writer("w0")) {
      await().atMost(LONG).until(() -> !pets().isEmpty());
    }
  }

  /** Redis has forgotten that somebody has player 1, to whom node one then sends a row. */
  private OwnerSession sentToAForgottenSession(GameQueue one, GameQueue two, Queue<Pet> told) {
    OwnerSession holder = two.open("player:1");
    holder.onSent(rows -> told.addAll(rows.rows(Pet.class)));
    assertEquals(List.of(), holder.current(Pet.class));
    cutOff();
    RedisContents.empty(redis, game.namespace).restore();
    one.send("player:1", new Pet(1, 1, "a")).awaitQueued(LONG);
    return holder;
  }

  @Test
  void isToldThoughRedisHadForgottenWhoHasTheOwner() {
    try (GameQueue one = game.node("n1");
        GameQueue two = nodeBehindProxy("n2")) {
      Queue<Pet> told = new ConcurrentLinkedQueue<>();
      OwnerSession holder = sentToAForgottenSession(one, two, told);
      proxy.refuse(false);
      awaitTold(told, new Pet(1, 1, "a"));
      assertEquals(List.of(new Pet(1, 1, "a")), holder.current(Pet.class));
    }
  }

  @Test
  void isToldThoughItWasFlushedBeforeRedisKnewAgainWhoHasTheOwner() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = nodeBehindProxy("n2")) {
      Queue<Pet> told = new ConcurrentLinkedQueue<>();
      OwnerSession holder = sentToAForgottenSession(one, two, told);
      drainWriterOnly();
      await().atMost(LONG).until(() -> redis.sync().keys(ofInboxes()).isEmpty());
      proxy.refuse(false);
      awaitTold(told, new Pet(1, 1, "a"));
      assertEquals(List.of(new Pet(1, 1, "a")), holder.current(Pet.class));
    }
  }

  private String ofInboxes() {
    return "*" + game.namespace + "*:inboxes:*";
  }

  /** What a node that does not look is to be told of costs its names alone. */
  @Test
  void redisDoesNotHoldTwiceWhatIsToBeTold() throws Exception {
    try (GameQueue one = game.node("n1");
        GameQueue two = nodeBehindProxy("n2")) {
      OwnerSession holder = two.open("player:1");
      Queue<Pet> told = toldOf(holder);
      cutOff();
      one.send("player:1", new Pet(1, 1, "x".repeat(20))).awaitQueued(LONG);
      byte[] sent = redis.sync().keys("*" + game.namespace + "*:sent:*").get(0);
      assertTrue(
          redis.sync().hvals(sent).stream().allMatch(of -> of.length < 30),
          () -> "the row stands there: " + redis.sync().hvals(sent));
      drainWriterOnly();
      proxy.refuse(false);
      awaitTold(told, new Pet(1, 1, "x".repeat(20)));
    }
  }

  /** Player 1 pays with pet 1 for what is sent to player 2, pet 2. */
  private static void buy(GameQueue queue, OwnerSession sender) {
    queue
        .transact(
            sender,
            tx -> {
              tx.put(new Pet(1, 1, "paid"));
              tx.send("player:2", new Pet(2, 2, "bought"));
            })
        .awaitQueued(LONG);
  }

  @Test
  void whatAFailoverForgetsIsPutBackWhoeverHasTheOwnerByThen() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = nodeBehindProxy("n2")) {
      OwnerSession sender = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      buy(one, sender);
      one.send("player:3", new Pet(3, 3, "free")).awaitQueued(LONG);
      OwnerSession holder = two.open("player:2");
      assertEquals(1, holder.rows(Pet.class).size());
      loseAllSince(replica);
      queued(holder, new Pet(4, 2, "healed"));
      queued(sender, new Pet(5, 1, "healed"));
      assertEquals(List.of(new Pet(3, 3, "free")), two.read("player:3", Pet.class));
      drain(one, two);
      assertEquals("1 1 paid,2 2 bought,3 3 free,4 2 healed,5 1 healed", pets());
      assertEquals(List.of(), List.copyOf(conflicts));
    }
  }

  @Test
  void whatTheOwnerDeletedDoesNotComeBackByAReplay() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = nodeBehindProxy("n2")) {
      OwnerSession holder = two.open("player:1");
      Queue<Pet> told = toldOf(holder);
      RedisContents replica = RedisContents.of(redis, game.namespace);
      one.send("player:1", new Pet(1, 1, "read"), new Pet(2, 1, "kept")).awaitQueued(LONG);
      await().atMost(LONG).until(() -> told.size() == 2);
      assertEquals(2, holder.current(Pet.class).size());
      holder.delete(Pet.class, 1);
      holder.commit().awaitQueued(LONG);
      loseAllSince(replica);
      queued(holder, new Pet(3, 1, "healed"));
      one.send("player:9", new Pet(9, 9, "healed")).awaitQueued(LONG);
      assertEquals(
          Set.of(new Pet(2, 1, "kept"), new Pet(3, 1, "healed")),
          Set.copyOf(one.read("player:1", Pet.class)));
      drain(one, two);
      loseAllSince(replica); // both replay what they think Redis lost
      drain(one, two);
      assertEquals("2 1 kept,3 1 healed,9 9 healed", pets());
      assertEquals(
          Set.of(new Pet(2, 1, "kept"), new Pet(3, 1, "healed")),
          Set.copyOf(holder.current(Pet.class)));
      assertEquals(1, told.stream().filter(pet -> pet.id() == 1).count(), told::toString);
    }
  }

  @Test
  void whatWasSentWithChangesThatAreLostIsLostWithThemAndReported() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession sender = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      buy(one, sender);
      one.send("player:2", new Pet(3, 2, "free")).awaitQueued(LONG);
      cutOff();
      replica.restore();
      two.open("player:1"); // on a Redis that has forgotten the payment
      proxy.refuse(false);
      await().atMost(LONG).until(() -> two.read("player:2", Pet.class).size() == 1);
      await()
          .atMost(LONG)
          .until(
              () ->
                  conflicts.stream().anyMatch(of -> of.rows().containsKey("pet:1"))
                      && conflicts.stream().anyMatch(of -> of.rows().containsKey("pet:2")));
      drainPlayer2(two);
      assertEquals("3 2 free", pets());
    }
  }

  private void drainPlayer2(GameQueue node) throws Exception {
    try (WriterService writer = game.writer("w1")) {
      await().atMost(LONG).until(() -> !pets().isEmpty());
      assertEquals(Set.of(), node.drain(LONG));
    }
  }

  @Test
  void aRedisThatIsEmptiedUnderALivingConnectionIsNoticedByTheNextSend() throws Exception {
    try (GameQueue one = game.node("n1")) {
      CommitReceipt first = one.send("player:1", new Pet(1, 1, "first"));
      first.awaitQueued(LONG);
      RedisContents.empty(redis, game.namespace).restore();
      CommitReceipt second = one.send("player:1", new Pet(2, 1, "second"));
      second.awaitQueued(LONG);
      drain(one);
      first.awaitDurable(LONG);
      assertEquals("1 1 first,2 1 second", pets());
    }
  }

  @Test
  void whatWasSentIsLostWithChangesThatWereChangedAgainSince() throws Exception {
    try (GameQueue one = nodeBehindProxy("n1");
        GameQueue two = game.node("n2")) {
      OwnerSession sender = one.open("player:1");
      RedisContents replica = RedisContents.of(redis, game.namespace);
      buy(one, sender);
      queued(sender, new Pet(1, 1, "and later"));
      one.send("player:2", new Pet(3, 2, "free")).awaitQueued(LONG);
      cutOff();
      replica.restore();
      two.open("player:1");
      proxy.refuse(false);
      await().atMost(LONG).until(() -> two.read("player:2", Pet.class).size() == 1);
      await()
          .atMost(LONG)
          .until(() -> conflicts.stream().anyMatch(of -> of.rows().containsKey("pet:2")));
      drainPlayer2(two);
      assertEquals("3 2 free", pets());
    }
  }

  @Test
  void rowsOfATableThatANodeDoesNotKnowHoldUpNoOthers() throws Exception {
    try (GameQueue one = game.node("n1")) {
      Queue<Pet> told = new ConcurrentLinkedQueue<>();
      OwnerSession first = one.open("player:1");
      first.onSent(rows -> told.addAll(rows.rows(Pet.class)));
      for (int player = 2; player < 20; player++) {
        one.open("player:" + player).onSent(rows -> told.addAll(rows.rows(Pet.class)));
      }
      game.database.table(
          "letter",
          "player",
          "player_id",
          "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, KEY (player_id)");
      try (GameQueue two = game.node("n2")) {
        two.send("player:1", "letter", Map.of("id", 1, "player_id", 1)).awaitQueued(LONG);
        for (int player = 1; player < 20; player++) {
          two.send("player:" + player, new Pet(player, player, "x")).awaitQueued(LONG);
        }
        await().atMost(LONG).until(() -> told.size() >= 19);
      }
      assertEquals(19, told.size(), told::toString);
    }
  }

  @Test
  void theWalIsKeptUntilMySqlHasWhatWasSent() throws Exception {
    try (GameQueue one = game.node("n1")) {
      one.send("player:1", new Pet(1, 1, "a")).awaitQueued(LONG);
      assertEquals(Set.of("pet:1"), one.drain(Duration.ofMillis(1)));
    }
    RedisContents.empty(redis, game.namespace).restore();
    try (GameQueue one = game.node("n1")) { // replays what the start before left
      assertEquals(List.of(new Pet(1, 1, "a")), one.read("player:1", Pet.class));
      try (WriterService writer = game.writer("w1")) {
        await().atMost(LONG).untilAsserted(() -> assertEquals("1 1 a", pets()));
      }
    }
  }
}
