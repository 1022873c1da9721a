package io.gameq.redis.script;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup.CommitsInMulti;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.servers.TestServers;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class CommitGroupTest {
  private static Commit commit(
      long sequence, List<CommitPart> parts, List<MessageChange> messages) {
    Commit commit =
        new Commit(parts, messages, null) {
          @Override
          public void queued() {}

          @Override
          public void failed(RuntimeException reason) {}
        };
    commit.setSequence(sequence);
    return commit;
  }

  /** Rows travel before messages: when only they arrive, the mark does not cover older messages. */
  @Test
  void rowsMoveTheMarkNoFurtherThanOlderMessagesThatMayNotArrive() {
    SlotKeys slot = new SlotKeys("t" + UUID.randomUUID().toString().substring(0, 8), 0);
    SessionRef session =
        new SessionRef(
            OwnerId.of("player:1"), SessionId.parse("0".repeat(15) + "1-" + "a".repeat(16)), 0);
    CommitPart part = new CommitPart(session, List.of(new ChangedRow("pet:1", new byte[20])));
    MessageChange delete = new MessageChange.Delete(new MessageId("mail", "a"), 0);
    List<Commit> commits =
        List.of(commit(3, List.of(), List.of(delete)), commit(5, List.of(part), List.of()));
    try (RedisConnector connector =
            new RedisConnector(new RedisConfig(TestServers.adminRedisUri()));
        RedisConnection redis = connector.open()) {
      MessagesScript.load(redis);
      SlotMarks marks = new SlotMarks(1);
      SlotKeys[] slots = {slot};
      WalCall call = new WalCall(SlotKeys.bytes("wal"), Mode.FIRST, 0, 1, slots);
      CommitsInMulti rows =
          new CommitsInMulti(commits.subList(1, 2), call, marks, false, java.util.Map.of(0, 3L));
      rows.send(redis).toCompletableFuture().join();
      JournalMarks found = JournalMarks.read(redis, new SlotKeys[] {slot}, "wal");
      assertEquals(2, found.sequence(0), "the messages of commit 3 have not arrived");
      CommitGroup.of(
              commits,
              new WalCall(SlotKeys.bytes("both"), Mode.FIRST, 0, 1, slots),
              new SlotMarks(1),
              false)
          .send(redis)
          .toCompletableFuture()
          .join();
      assertEquals(5, JournalMarks.read(redis, new SlotKeys[] {slot}, "both").sequence(0));
      redis.sync().del(slot.journal());
    }
  }

  /**
   * Emptied beneath its connection, Redis knows neither session; no mark is expected, none there.
   */
  @Test
  void aSpanningCommitOfSessionsThatRedisForgotWritesNothing() {
    try (SlotFixture game = new SlotFixture()) {
      CommitScript.load(game.redis);
      game.open(game.first);
      OwnerId other = OwnerId.of("player:43");
      ChangedRow row = new ChangedRow("pet:1", new byte[20]);
      Commit trade =
          commit(
              1,
              List.of(
                  new CommitPart(new SessionRef(game.owner, game.first, 0), List.of(row)),
                  new CommitPart(new SessionRef(other, game.first, 0), List.of(row))),
              List.of());
      game.keys().forEach(key -> game.redis.sync().del(SlotFixture.bytes(key)));
      assertEquals(
          CommitWire.Answer.FORGOTTEN,
          CommitWire.first(game.redis, game.slot, "wal", trade, new SlotMarks(1)));
      assertEquals(List.of(), game.keys());
    }
  }
}
