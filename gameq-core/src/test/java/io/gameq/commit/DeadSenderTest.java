package io.gameq.commit;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitUnknownException;
import io.gameq.GameQueueException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.VersionClock;
import io.gameq.config.WalLimits;
import io.gameq.durability.NodeSessions;
import io.gameq.healing.DurableTruth;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.TermTable;
import io.gameq.node.TestNodes;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.sign.NodeCounts;
import io.gameq.wal.WalWriter;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A sender that meets an error that nothing helps against, such as OutOfMemoryError. */
class DeadSenderTest {
  @TempDir Path directory;

  private final CompletableFuture<RuntimeException> told = new CompletableFuture<>();

  @Test
  void everythingFailsWithTheCauseAndNobodyWaits() throws Exception {
    Error cause = new AssertionError("planted");
    CompletableFuture<Throwable> died = new CompletableFuture<>();
    GameDatabase database = GameDatabase.create("sender");
    MySqlServer server = database.server();
    WalLimits limits = WalLimits.DEFAULT;
    try (MySql mysql = MySqlPool.open(server.as(Role.NODE).config(2), "test");
        RedisConnector redis =
            RedisConnector.ofOneThread(new RedisConfig(TestServers.redisUri(Role.NODE)));
        WalWriter wal =
            WalWriter.create(
                new WalWriter.Start(
                    directory, "dead", 4, "0db", "n1", "0badcafe", 1_790_000_000_000L),
                WalLimits.of(limits.keep(), limits.maxBytes(), 0, limits.sync()),
                List.of())) {
      RedisClock clock = new RedisClock();
      CommitSender sender =
          new CommitSender(
              TestNodes.on(database)
                  .node("n1")
                  .namespace("dead")
                  .slots(4)
                  .walDirectory(directory)
                  .build(),
              new CommitSender.Servers(
                  SlotKeys.all("dead", 4),
                  new PrimaryConnector(redis, new TermTable(mysql)),
                  redis.eventLoop(),
                  clock,
                  new NodeHeartbeat("dead", "0badcafe", "n1", new RedisClock())),
              wal,
              new VersionClock(clock),
              new NodeSessions(new NodeCounts()),
              new DurableTruth(new SlotKeys[0], new NoSessions(), rows -> Map.of()),
              () -> {},
              died::complete);
      sender.submit(
          new OneRow() {
            @Override
            public @Nullable SessionRef lostSession() {
              throw cause;
            }
          },
          System.nanoTime());
      assertEquals(cause, died.get(LONG.toSeconds(), TimeUnit.SECONDS));
      assertInstanceOf(CommitUnknownException.class, told.get(LONG.toSeconds(), TimeUnit.SECONDS));
      assertSaysWhy(assertThrows(GameQueueException.class, sender::newestSequence));
      assertSaysWhy(
          assertThrows(
              GameQueueException.class, () -> sender.submit(new OneRow(), System.nanoTime())));
      assertFalse(sender.close(100));
    }
  }

  /** Of a sender that never had any. */
  private static final class NoSessions implements DurableSessions {
    @Override
    public Map<OwnerId, CountingSessions> current(Collection<OwnerId> owners) {
      return Map.of();
    }

    @Override
    public long adoptedFrom(OwnerId owner, SessionId session) {
      return 0;
    }

    @Override
    public boolean restore(OwnerId owner, SessionId session) {
      return false;
    }
  }

  private static void assertSaysWhy(GameQueueException e) {
    assertTrue(String.valueOf(e.getMessage()).contains("planted"), e::getMessage);
  }

  private class OneRow extends Commit {
    OneRow() {
      super(
          List.of(
              new CommitPart(
                  new SessionRef(OwnerId.of("player:1"), new SessionId(3, "0badcafe00000001"), 1),
                  List.of(new ChangedRow("pet:1", SlotKeys.bytes("0000000000000000px"))))));
    }

    @Override
    public void queued() {}

    @Override
    public void failed(RuntimeException reason) {
      told.complete(reason);
    }
  }
}
