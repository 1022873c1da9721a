package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.script.ClaimScript;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.service.WriterService;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A replica is promoted while its primary goes on taking writes from those that reach it. */
@Execution(ExecutionMode.CONCURRENT)
class TwoPrimariesTest {

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private final EmbeddedRedis old = EmbeddedRedis.start();
  private final EmbeddedRedis promoted = EmbeddedRedis.start();
  private final RedisClient client = RedisClient.create();
  private final RedisConnector toOld = new RedisConnector(new RedisConfig(old.uri()));
  private Game game;
  private @Nullable AutoCloseable pool;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("two_primaries")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20)"
                        + " NOT NULL, KEY (player_id)"),
            walDirectory);
    ask(promoted, redis -> redis.replicaof("127.0.0.1", old.port()));
    await()
        .atMost(LONG)
        .until(() -> ask(promoted, redis -> redis.info("replication")).contains("link_status:up"));
  }

  @AfterEach
  void stop() throws Exception {
    if (pool != null) {
      pool.close();
    }
    game.close();
    toOld.close();
    client.shutdown();
    promoted.close();
    old.close();
  }

  private <T> T ask(EmbeddedRedis server, Function<RedisCommands<String, String>, T> question) {
    try (StatefulRedisConnection<String, String> connection =
        client.connect(RedisURI.create(server.uri()))) {
      return question.apply(connection.sync());
    }
  }

  private GameQueue node(String name, EmbeddedRedis redis) {
    return GameQueue.open(game.config(name).redis(redis.uri()).build());
  }

  private void promote() {
    ask(promoted, redis -> redis.replicaofNoOne());
  }

  private static void queued(OwnerSession session, Pet pet) {
    session.put(pet);
    session.commit().awaitQueued(LONG);
  }

  private WriterService writerOnOld() {
    MySql mysql = MySqlPool.openForFlushes(game.database.as(Role.WRITER).config(4));
    pool = mysql;
    return new WriterService(
        new WriterOptions(
            game.namespace,
            Game.SLOTS,
            "w-old",
            1,
            new ClaimScript.Bounds(256, 1000, 8 << 20, 30_000),
            game.patience,
            WriterOptions.DEFAULT_TOMBSTONES_KEPT,
            WriterOptions.NO_CEILING),
        toOld,
        mysql);
  }

  @Test
  void ownerThatWasOpenedOnTheNewPrimaryIsNotOpenedByWayOfTheOldOne() throws Exception {
    try (GameQueue onOld = node("n1", old);
        GameQueue alsoOnOld = node("n2", old)) {
      OwnerSession first = onOld.open("player:1");
      queued(first, new Pet(1, 1, "seen by all"));
      await().atMost(LONG).until(() -> ask(promoted, redis -> redis.keys("*:dirty:*")).size() == 1);
      promote();
      queued(first, new Pet(2, 1, "old side only"));
      try (GameQueue onNew = node("n3", promoted)) {
        OwnerSession second = onNew.open("player:1");
        assertEquals(List.of(new Pet(1, 1, "seen by all")), second.rows(Pet.class));
        assertThrows(GameQueueException.class, () -> alsoOnOld.open("player:1"));
        queued(second, new Pet(3, 1, "new side"));
        assertEquals( // its own open, or beside the attempt that was refused
            "2", game.queryText("SELECT COALESCE(before_epoch, epoch) FROM gameq_owner"));
        assertEquals("2", game.queryText("SELECT number FROM gameq_redis_term"));
      }
    }
  }

  @Test
  void rowsOfTheOldPrimaryAreNotFlushedOnceAnotherCounts() throws Exception {
    try (GameQueue onOld = node("n1", old);
        WriterService writer = writerOnOld()) {
      OwnerSession first = onOld.open("player:1");
      queued(first, new Pet(1, 1, "flushed"));
      await().atMost(LONG).until(() -> game.queryText("SELECT COUNT(*) FROM pet").equals("1"));
      promote();
      try (GameQueue onNew = node("n2", promoted)) {
        onNew.open("player:2").close();
        first.put(new Pet(1, 1, "old side"));
        first.commit().journaled().get();
        long flushed = writer.stats().flushes();
        await()
            .during(Duration.ofSeconds(2))
            .atMost(LONG)
            .until(() -> writer.stats().flushes() == flushed);
        assertEquals("flushed", game.queryText("SELECT name FROM pet WHERE id = 1"));
      }
    }
  }

  @Test
  void serverThatWasRestartedTakesItsOwnPlaceAtOnce() throws Exception {
    try (GameQueue node = node("n1", old)) {
      OwnerSession session = node.open("player:1");
      queued(session, new Pet(1, 1, "before"));
      old.close();
      try (EmbeddedRedis second =
          EmbeddedRedis.start(new EmbeddedRedis.Options(null, old.port(), List.of()))) {
        assertEquals(old.port(), second.port());
        queued(session, new Pet(2, 1, "after"));
        assertEquals("2", game.queryText("SELECT number FROM gameq_redis_term"));
        node.close(); // while there is a Redis that answers it
      }
    }
  }
}
