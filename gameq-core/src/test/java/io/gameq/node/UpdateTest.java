package io.gameq.node;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RowRefusedException;
import io.gameq.TableName;
import io.gameq.servers.GameDatabase;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Updates of some columns of a row, without a writer but for rows that are in MySQL at first. */
class UpdateTest {
  record Hero(long playerId, int slot, int level, String title, @Nullable String guild) {}

  @TableName("hero")
  record Level(long playerId, int slot, int level) {}

  @TableName("hero")
  record Guild(int slot, String guild) {}

  @TempDir Path walDirectory;

  private final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);

  private GameDatabase database;
  private GameQueue queue;

  @BeforeEach
  void start() throws SQLException {
    database =
        GameDatabase.create("updates")
            .table(
                "hero",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, level INT NOT NULL, title"
                    + " VARCHAR(20) NOT NULL DEFAULT 'none', guild VARCHAR(20) NULL, PRIMARY KEY"
                    + " (player_id, slot)");
    database.server().execute("INSERT INTO hero VALUES (1, 1, 10, 'Sir', 'red', 5)");
    queue = node("n1");
  }

  private GameQueue node(String name) {
    return GameQueue.open(
        TestNodes.on(database)
            .namespace(namespace)
            .node(name)
            .slots(4)
            .walDirectory(walDirectory)
            .build());
  }

  @AfterEach
  void stop() {
    queue.close();
  }

  private List<Hero> heroes(long player) {
    return queue.read("player:" + player, Hero.class);
  }

  private static void refused(Executable change, String... parts) {
    RowRefusedException refusal = assertThrows(RowRefusedException.class, change);
    for (String part : parts) {
      assertTrue(String.valueOf(refusal.getMessage()).contains(part), refusal.getMessage());
    }
  }

  @Test
  void keepsTheOtherColumnsOfWhatIsInMySqlCommittedOrStaged() {
    OwnerSession player = queue.open("player:1");
    player.update(new Level(1, 1, 11));
    player.update("hero", Map.of("player_id", 1, "slot", 1, "title", "Lord"));
    assertEquals(List.of(new Hero(1, 1, 11, "Lord", "red")), player.current(Hero.class));
    player.commit().awaitQueued(LONG);
    assertEquals(List.of(new Hero(1, 1, 11, "Lord", "red")), heroes(1));
    player.update(new Level(1, 1, 12));
    player.commit().awaitQueued(LONG);
    assertEquals(List.of(new Hero(1, 1, 12, "Lord", "red")), heroes(1));
  }

  @Test
  void anEnumThatHoldsNoMemberIsRefusedByNameUntilTheUpdateGivesItOne() throws Exception {
    database
        .table(
            "mount",
            "player",
            "player_id",
            "player_id BIGINT NOT NULL PRIMARY KEY, speed INT NOT NULL, kind ENUM('horse', 'pig')"
                + " NOT NULL")
        .server()
        .execute("SET SESSION sql_mode = ''", "INSERT INTO mount VALUES (1, 5, 'cow', 0)");
    queue.close();
    queue = node("n1");
    OwnerSession player = queue.open("player:1");
    refused(
        () -> player.update("mount", Map.of("player_id", 1, "speed", 6)),
        "mount.kind holds a value in MySQL that is none of its members");
    player.rollback();
    player.update("mount", Map.of("player_id", 1, "speed", 6, "kind", "pig"));
    player.commit().awaitQueued(LONG);
  }

  @Test
  void theNextSessionGoesOnWithWhatTheOneBeforeLeftInRedis() {
    OwnerSession player = queue.open("player:1");
    player.put(new Hero(1, 1, 10, "Duke", null));
    player.commit().awaitQueued(LONG);
    player.close();
    OwnerSession next = queue.open("player:1");
    next.update(new Level(1, 1, 11));
    next.commit().awaitQueued(LONG);
    assertEquals(List.of(new Hero(1, 1, 11, "Duke", null)), heroes(1));
  }

  @Test
  void insertsWithDefaultsWhereThereIsNoRowOrItWasDeleted() {
    OwnerSession player = queue.open("player:1");
    player.update(new Level(1, 2, 1));
    player.delete(Hero.class, 1, 1);
    player.update(new Level(1, 1, 1));
    player.commit().awaitQueued(LONG);
    assertEquals(
        List.of(new Hero(1, 1, 1, "none", null), new Hero(1, 2, 1, "none", null)),
        heroes(1).stream().sorted(Comparator.comparing(Hero::slot)).toList());
    player.delete(Hero.class, 1, 2);
    player.commit().awaitQueued(LONG);
    refused(
        () -> player.update("hero", Map.of("player_id", 1, "slot", 2, "title", "x")),
        "hero.level",
        "no default");
  }

  @Test
  void buildsOnNothingOfATradeThatIsRefused() {
    OwnerSession one = queue.open("player:1");
    OwnerSession two = queue.open("player:2");
    assertEquals(1, one.current(Hero.class).size());
    try (GameQueue other = node("n2")) {
      other.open("player:2");
      CommitReceipt trade =
          queue.transact(
              one,
              two,
              tx -> {
                tx.update("hero", Map.of("player_id", 1, "slot", 1, "guild", "sold"));
                tx.put(new Hero(2, 1, 1, "x", "bought"));
              });
      one.update(new Level(1, 1, 11));
      one.commit().awaitQueued(LONG);
      assertThrows(OwnershipLostException.class, () -> trade.awaitQueued(LONG));
      assertEquals(List.of(new Hero(1, 1, 11, "Sir", "red")), heroes(1));
    }
  }

  @Test
  void aChangeSetUpdatesToo() {
    OwnerSession one = queue.open("player:1");
    OwnerSession two = queue.open("player:2");
    queue
        .transact(
            one,
            two,
            tx -> {
              tx.update(new Level(1, 1, 11));
              tx.update("hero", Map.of("player_id", 1, "slot", 1, "guild", "blue"));
              tx.update(new Level(2, 1, 3));
            })
        .awaitQueued(LONG);
    assertEquals(List.of(new Hero(1, 1, 11, "Sir", "blue")), heroes(1));
    assertEquals(List.of(new Hero(2, 1, 3, "none", null)), heroes(2));
    refused(
        () -> queue.transact(one, two, tx -> tx.update("hero", Map.of("slot", 1, "level", 3))),
        "hero.player_id",
        "primary key");
  }

  @Test
  void refusesWhatAPutWould() {
    OwnerSession player = queue.open("player:1");
    refused(() -> player.update(new Guild(1, "red")), "hero.player_id", "part of the primary key");
    player.rollback();
    refused(
        () -> player.update("hero", Map.of("player_id", 1, "slot", 1, "lvl", 3)), "lvl", "hero");
    player.rollback();
    refused(() -> player.update(new Level(2, 1, 3)), "player:2");
    player.rollback();
    refused(
        () -> player.update("hero", Map.of("player_id", 1, "slot", 1, "level", 1L << 40)),
        "hero.level");
    assertThrows(GameQueueException.class, player::commit, "half of a change");
    player.rollback();
    player.commit();
    assertEquals(List.of(new Hero(1, 1, 10, "Sir", "red")), heroes(1));
  }

  @Test
  void aSessionThatDoesNotKnowItsRowsSaysSoAndCommitsNothing() {
    OwnerSession player = queue.open("player:1");
    player.put(new Hero(1, 1, 20, "Sir", "red"));
    player.commit().awaitQueued(LONG);
    GameQueueException unknown =
        assertThrows(GameQueueException.class, () -> player.update(new Level(1, 1, 21)));
    assertTrue(String.valueOf(unknown.getMessage()).contains("before the session's first commit"));
    assertThrows(GameQueueException.class, player::commit);
    OwnerSession other = queue.open("player:2");
    other.forgetLoaded();
    assertThrows(GameQueueException.class, () -> other.update(new Level(2, 1, 21)));
  }
}
