package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.node.NodeAccess;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages in the WAL of a node that is gone. */
class MessagesLeftTest {
  @TempDir Path directory;

  private static MessageChange publish(String key) {
    MessageId id = MessageId.of("mail", null, key);
    return new MessageChange.Publish(
        id, id.slot(RecoveryGame.SLOTS), 1, true, 0, MessageValue.encode(1, 0, "", new byte[] {7}));
  }

  private static long pending(RecoveryGame game) {
    try (var redis = TestServers.redis()) {
      return game.keys(":t:mail:msg").stream().mapToLong(key -> redis.sync().hlen(key)).sum();
    }
  }

  @Test
  void whatRedisLostOfThemIsShownPutBackAndVerified() throws Exception {
    try (RecoveryGame game = new RecoveryGame(directory)) {
      try (GameQueue queue = game.node("n1")) {
        OwnerSession player = queue.open("player:1");
        for (int i = 0; i < 30; i++) {
          NodeAccess.messages(queue).commit(List.of(publish("m" + i))).awaitQueued(LONG);
        }
        player.put(new Item(1, 1, 1, 1));
        NodeAccess.stage(player, publish("with rows"));
        player.commit().awaitQueued(LONG);
        MessageId gone = MessageId.of("mail", null, "m0");
        NodeAccess.messages(queue)
            .commit(List.of(new MessageChange.Delete(gone, gone.slot(RecoveryGame.SLOTS))))
            .awaitQueued(LONG);
      }
      assertEquals(30, pending(game));
      assertTrue(game.run("inspect").says("and 32 message changes"));
      RecoveryGame.Run whole = game.run("verify");
      assertTrue(whole.says("Of 32 message changes of nodes that are gone Redis lacks 0."));
      game.loseRedis();
      assertEquals(ExitCodes.FOUND_SOMETHING, game.run("plan").exitCode());
      assertTrue(game.run("verify").says("Redis lacks 32."));
      RecoveryGame.Run replay = game.run("replay --execute");
      assertTrue(replay.says("32 commits whose messages were put back into Redis"));
      assertTrue(replay.says("Redis lacks 0."));
      assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
      assertEquals(30, pending(game));
      assertEquals(1, game.dirtyRows());
      game.run("replay --execute");
      assertEquals(30, pending(game));
    }
  }

  /** Something is left of the WAL, so that each start replays it. */
  @Test
  void whatWasPutBackAndIsOverDoesNotComeBackWithTheNextStart() throws Exception {
    try (RecoveryGame game = new RecoveryGame(directory)) {
      try (GameQueue queue = game.node("n1")) {
        OwnerSession player = queue.open("player:1");
        NodeAccess.messages(queue).commit(List.of(publish("alone"))).awaitQueued(LONG);
        player.put(new Item(1, 1, 1, 1));
        player.commit().awaitQueued(LONG);
      }
      game.loseRedis();
      try (GameQueue other = game.node("n2")) {
        other.open("player:1");
      }
      MessageId id = MessageId.of("mail", null, "alone");
      try (GameQueue queue = game.node("n1")) {
        assertEquals(1, pending(game));
        NodeAccess.messages(queue)
            .commit(List.of(new MessageChange.Delete(id, id.slot(RecoveryGame.SLOTS))))
            .awaitQueued(LONG);
        assertEquals(0, pending(game));
      }
      game.node("n1").close();
      assertEquals(0, pending(game));
      assertEquals(ExitCodes.FOUND_SOMETHING, game.run("replay --execute").exitCode());
      assertEquals(0, pending(game));
    }
  }
}
