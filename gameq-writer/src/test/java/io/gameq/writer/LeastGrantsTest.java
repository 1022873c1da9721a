package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.GameQueue;
import io.gameq.GameQueueConfig;
import io.gameq.OwnerSession;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.mysql.LeastGrants;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code schema check} names as the least grants is enough for a node and a writer. */
class LeastGrantsTest {
  private static final String PASSWORD = "least-grants";

  record Pet(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private GameDatabase database;
  private Game game;
  private String node;
  private String writer;

  @BeforeEach
  void start() throws Exception {
    database =
        GameDatabase.create("grants")
            .table(
                "pet",
                "player",
                "player_id",
                "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(5) NOT"
                    + " NULL CHECK (name <> 'bad'), KEY (player_id)");
    String name = database.server().queryText("SELECT DATABASE()");
    String last = name.substring(Math.max(0, name.length() - 12));
    node = "n" + last;
    writer = "w" + last;
    List<String> grants = new ArrayList<>(LeastGrants.ofNode(name, node));
    grants.addAll(LeastGrants.ofWriter(name, writer));
    for (String user : List.of(node, writer)) {
      database.server().execute("CREATE USER %s IDENTIFIED BY '%s'".formatted(user, PASSWORD));
    }
    database.server().execute(grants.toArray(String[]::new));
    String namespace = "t" + last;
    try (Game admin = new Game(database, walDirectory, namespace)) {
      admin.node("first").close(); // as schema migrate, which notes namespace and slots
    }
    game = new Game(database, walDirectory, namespace, writer, PASSWORD);
  }

  @AfterEach
  void stop() throws SQLException {
    game.close();
    database.server().execute("DROP USER " + node, "DROP USER " + writer);
  }

  private GameQueueConfig config(String name) {
    return game.config(name).mysql(database.server().jdbcUrl(), node, PASSWORD).build();
  }

  @Test
  void nodesAndWritersWorkWithTheLeastGrants() throws Exception {
    try (GameQueue one = GameQueue.open(config("n1"));
        WriterService unused = game.writer("w1")) {
      OwnerSession giver = one.open("player:1");
      OwnerSession taker = one.open("player:2");
      for (int id = 1; id <= 3; id++) {
        giver.put(new Pet(id, 1, "a"));
      }
      giver.commit().awaitDurable(LONG);
      giver.delete(Pet.class, 1L);
      giver.move(new Pet(2, 2, "b"), taker);
      one.commit(giver, taker).awaitDurable(LONG);
      taker.put(new Pet(4, 2, "bad"));
      taker.commit();
      await()
          .atMost(LONG)
          .until(() -> game.queryText("SELECT COUNT(*) FROM gameq_dead_letter").equals("1"));
      one.open("player:1"); // again
      assertEquals(1, one.read("player:1", Pet.class).size());
    }
    try (GameQueue again = GameQueue.open(config("n1"))) { // over its own WAL
      assertEquals(1, again.open("player:1").rows(Pet.class).size());
    }
  }
}
