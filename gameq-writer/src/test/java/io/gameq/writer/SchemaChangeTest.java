package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.DeadLetterException;
import io.gameq.GameQueue;
import io.gameq.LayoutException;
import io.gameq.OwnerSession;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.RetryStatus;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A table is altered while nodes run that do not know of it: n1 is of before, n2 of after. Nothing
 * is lost, and no column is set back to its default.
 */
@Execution(ExecutionMode.CONCURRENT)
class SchemaChangeTest {

  record Pet(long id, long playerId, int age) {}

  record Badge(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private Game game;
  private GameQueue before;

  @BeforeEach
  void start() throws Exception {
    game =
        new Game(
            GameDatabase.create("altered")
                .table(
                    "pet",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, age INT NOT NULL,"
                        + " KEY (player_id), CONSTRAINT mortal CHECK (age < 100 OR age > 1000)")
                .table(
                    "badge",
                    "player",
                    "player_id",
                    "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20)"
                        + " COLLATE utf8mb4_bin NOT NULL, KEY (player_id), UNIQUE (name)"),
            walDirectory);
    before = game.node("n1");
  }

  @AfterEach
  void stop() {
    before.close();
    game.close();
  }

  private void alter(String... statements) throws Exception {
    game.database.server().execute(statements);
  }

  private static CommitReceipt commit(OwnerSession session, Record row) {
    session.put(row);
    return session.commit();
  }

  private static CommitReceipt commit(OwnerSession session, String table, Map<String, ?> row) {
    session.put(table, row);
    return session.commit();
  }

  private static Map<String, Object> pet(long id, int age, Object horns) {
    return Map.of("id", id, "player_id", 1, "age", age, "horns", horns);
  }

  /** A node started after the change commits a row; its session ends. */
  private void commitAfter(String table, Map<String, ?> row) {
    try (GameQueue after = game.node("n2");
        OwnerSession player = after.open("player:1")) {
      commit(player, table, row).awaitQueued(LONG);
    }
  }

  private void flushAll() {
    try (WriterService writer = game.writer("w")) {
      assertEquals(List.of(), List.copyOf(before.drain(LONG)));
    }
  }

  @Test
  void aNodeOfBeforeSeesARowThatANodeOfAfterCommitted() throws Exception {
    alter("ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7");
    commitAfter("pet", pet(1, 5, 9));
    assertEquals(List.of(new Pet(1, 1, 5)), before.read("player:1", Pet.class), "a read");
    assertEquals(List.of(new Pet(1, 1, 5)), before.open("player:1").rows(Pet.class), "an open");
  }

  @Test
  void aPutThatDoesNotNameAColumnKeepsItsValueInMySql() throws Exception {
    alter(
        "ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7, ADD COLUMN tail INT",
        "INSERT INTO pet (id, player_id, age, horns, tail) VALUES (1, 1, 5, 9, 3)");
    commit(before.open("player:1"), new Pet(1, 1, 6));
    flushAll();
    assertEquals("6,9,3", game.queryText("SELECT CONCAT_WS(',', age, horns, tail) FROM pet"));
  }

  @Test
  void aPutOverARowThatStillWaitsInRedisKeepsTheColumnThatItsNodeDoesNotKnow() throws Exception {
    alter("ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7");
    commitAfter("pet", pet(1, 5, 9));
    OwnerSession player = before.open("player:1");
    commit(player, new Pet(1, 1, 6)).awaitQueued(LONG);
    commit(player, "pet", Map.of("id", 1, "player_id", 1, "age", 7)).awaitQueued(LONG);
    flushAll();
    assertEquals("7,9", game.queryText("SELECT CONCAT_WS(',', age, horns) FROM pet"));
  }

  @Test
  void anUpdateOfSomeColumnsKeepsTheOthersAndThatWhichItsNodeDoesNotKnow() throws Exception {
    commit(before.open("player:1"), new Pet(1, 1, 5)).awaitQueued(LONG);
    alter("ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7");
    commitAfter("pet", pet(1, 5, 9));
    OwnerSession player = before.open("player:1");
    player.update("pet", Map.of("id", 1, "age", 6));
    player.commit().awaitQueued(LONG);
    flushAll();
    assertEquals("6,9", game.queryText("SELECT CONCAT_WS(',', age, horns) FROM pet"));
    commitAfter("pet", pet(1, 6, 11));
    OwnerSession again = before.open("player:1");
    again.update("pet", Map.of("id", 1, "age", 7));
    again.commit().awaitQueued(LONG);
    flushAll();
    assertEquals("7,11", game.queryText("SELECT CONCAT_WS(',', age, horns) FROM pet"));
  }

  @Test
  void aRowThatMovesBetweenOwnersTakesAlongTheColumnThatItsNodeDoesNotKnow() throws Exception {
    alter("ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7");
    commitAfter("pet", pet(1, 5, 9));
    OwnerSession from = before.open("player:1");
    OwnerSession to = before.open("player:2");
    from.move(new Pet(1, 2, 6), to);
    before.commit(from, to).awaitQueued(LONG);
    commit(to, new Pet(1, 2, 8)).awaitQueued(LONG);
    flushAll();
    assertEquals("2,8,9", game.queryText("SELECT CONCAT_WS(',', player_id, age, horns) FROM pet"));
  }

  @Test
  void aRowThatWasDeletedAndMadeAnewTakesTheDefault() throws Exception {
    alter(
        "ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7",
        "INSERT INTO pet (id, player_id, age, horns) VALUES (1, 1, 5, 9), (2, 1, 5, 9)");
    OwnerSession player = before.open("player:1");
    player.delete(Pet.class, 1);
    player.put(new Pet(1, 1, 6)); // in one commit
    player.delete(Pet.class, 2);
    player.commit().awaitQueued(LONG);
    commit(player, new Pet(2, 1, 6)).awaitQueued(LONG); // in two, and both wait for one flush
    flushAll();
    assertEquals(
        "6,7;6,7",
        game.queryText("SELECT GROUP_CONCAT(age, ',', horns ORDER BY id SEPARATOR ';') FROM pet"));
  }

  @Test
  void aRowDeletedByTheSessionBeforeAndMadeAnewTakesTheDefault() throws Exception {
    alter(
        "ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7",
        "INSERT INTO pet (id, player_id, age, horns) VALUES (1, 1, 5, 9)");
    try (GameQueue after = game.node("n2");
        OwnerSession player = after.open("player:1")) {
      player.delete(Pet.class, 1);
      player.commit().awaitQueued(LONG);
    }
    commit(before.open("player:1"), new Pet(1, 1, 6)).awaitQueued(LONG);
    flushAll();
    assertEquals("6,7", game.queryText("SELECT CONCAT_WS(',', age, horns) FROM pet"));
  }

  @Test
  void aNodeOfAfterSeesTheColumnOfMySqlBesideARowThatANodeOfBeforeCommitted() throws Exception {
    alter(
        "ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7",
        "INSERT INTO pet (id, player_id, age, horns) VALUES (1, 1, 5, 9)");
    commit(before.open("player:1"), new Pet(1, 1, 6)).awaitQueued(LONG);
    try (GameQueue after = game.node("n2")) {
      assertEquals(9L, after.open("player:1").rows("pet").get(0).getLong("horns"));
      assertEquals(6L, after.read("player:1", "pet").get(0).getLong("age"));
    }
  }

  @Test
  void rowsOfBeforeAreWrittenBesideAColumnWithoutADefault() throws Exception {
    try (WriterService writer = game.writer("w")) {
      OwnerSession player = before.open("player:1");
      commit(player, new Pet(1, 1, 5)).awaitDurable(LONG);
      alter(
          "ALTER TABLE pet ADD COLUMN horns INT NOT NULL, ADD COLUMN mood ENUM('calm','wild') NOT"
              + " NULL, ADD COLUMN note VARCHAR(9) NOT NULL",
          "UPDATE pet SET horns = 9, mood = 'wild', note = 'x'");
      player.put(new Pet(1, 1, 6));
      commit(player, new Pet(2, 1, 6)).awaitDurable(LONG);
    }
    assertEquals(
        "6,9,wild,x;6,0,calm,",
        game.queryText(
            "SELECT GROUP_CONCAT(age, ',', horns, ',', mood, ',', note ORDER BY id SEPARATOR ';')"
                + " FROM pet"));
    assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
  }

  @Test
  void aTableWithAnotherUniqueKeyKeepsTheColumnToo() throws Exception {
    alter(
        "ALTER TABLE badge ADD COLUMN shine INT NOT NULL DEFAULT 7",
        "INSERT INTO badge (id, player_id, name, shine) VALUES (1, 1, 'a', 9), (2, 1, 'b', 8)");
    OwnerSession player = before.open("player:1");
    player.put(new Badge(1, 1, "b")); // the names are exchanged
    player.put(new Badge(2, 1, "c"));
    player.commit().awaitQueued(LONG);
    flushAll();
    assertEquals(
        "b,9;c,8",
        game.queryText(
            "SELECT GROUP_CONCAT(name, ',', shine ORDER BY id SEPARATOR ';') FROM badge"));
  }

  @Test
  void aDeadLetterOfBeforeIsRetriedWithoutTouchingTheColumn() throws Exception {
    try (WriterService writer = game.writer("w")) {
      OwnerSession player = before.open("player:1");
      commit(player, new Pet(1, 1, 5)).awaitDurable(LONG);
      CommitReceipt refused = commit(player, new Pet(1, 1, 200));
      assertThrows(DeadLetterException.class, () -> refused.awaitDurable(LONG));
    }
    alter(
        "ALTER TABLE pet ADD COLUMN horns INT NOT NULL DEFAULT 7, DROP CONSTRAINT mortal",
        "UPDATE pet SET horns = 9");
    var server = game.database.server();
    try (MySql mysql = MySqlPool.open(server.as(Role.WRITER).config(2), "dead")) {
      long id = Long.parseLong(game.queryText("SELECT id FROM gameq_dead_letter"));
      assertEquals(RetryStatus.WRITTEN, new DeadLetters(mysql).retry(id, false).status());
    }
    assertEquals("200,9", game.queryText("SELECT CONCAT_WS(',', age, horns) FROM pet"));
  }

  @Test
  void rowsOfAWiderTypeAndOfANewEnumMemberPassNodesAndWritersOfBefore() throws Exception {
    alter("ALTER TABLE pet ADD COLUMN mood ENUM('calm') NOT NULL DEFAULT 'calm'");
    try (WriterService writer = game.writer("w");
        GameQueue middle = game.node("n3")) {
      middle.open("player:1").close();
      alter(
          "ALTER TABLE pet MODIFY age BIGINT NOT NULL, MODIFY mood ENUM('calm','wild') NOT NULL"
              + " DEFAULT 'calm'",
          "ALTER TABLE badge MODIFY name VARCHAR(60) COLLATE utf8mb4_bin NOT NULL");
      try (GameQueue after = game.node("n2");
          OwnerSession player = after.open("player:1")) {
        player.put("pet", Map.of("id", 1, "player_id", 1, "age", 5_000_000_000L, "mood", "wild"));
        player.put("badge", Map.of("id", 1, "player_id", 1, "name", "n".repeat(40)));
        player.commit().awaitQueued(LONG);
      }
      OwnerSession player = middle.open("player:1");
      assertEquals("n".repeat(40), player.rows(Badge.class).get(0).name());
      assertEquals(5_000_000_000L, player.rows("pet").get(0).getLong("age"));
      player.put("pet", player.rows("pet").get(0).asMap());
      player.commit().awaitDurable(LONG);
      assertEquals(
          "5000000000,wild," + "n".repeat(40),
          game.queryText("SELECT CONCAT_WS(',', age, mood, name) FROM pet, badge"));
    }
  }

  @Test
  void rowsOfADroppedColumnWaitUntilThatIsAnnounced() throws Exception {
    try (WriterService writer = game.writer("w")) {
      OwnerSession player = before.open("player:1");
      assertEquals(List.of(), player.current(Pet.class));
      commit(player, new Pet(1, 1, 5)).awaitDurable(LONG);
      alter("ALTER TABLE pet DROP CONSTRAINT mortal", "ALTER TABLE pet DROP COLUMN age");
      assertEquals(List.of(), before.open("player:2").rows(Pet.class), "it reads the table anew");
      player.put(new Badge(1, 1, "a"));
      commit(player, new Pet(2, 1, 6)).awaitQueued(LONG);
      player.update("pet", Map.of("id", 2, "player_id", 1));
      CommitReceipt waits = player.commit();
      assertEquals(
          List.of(5, 6), player.current(Pet.class).stream().map(Pet::age).sorted().toList());
      commit(player, new Badge(2, 1, "b")).awaitDurable(LONG);
      await().atMost(LONG).until(() -> writer.parkedTables().containsKey("pet"));
      String why = String.valueOf(writer.parkedTables().get("pet"));
      assertTrue(why.contains("schema drop-column pet age"), why);
      assertFalse(waits.durable().isDone());
      alter("ALTER TABLE pet ADD COLUMN age INT NOT NULL");
      waits.awaitDurable(LONG);
      assertEquals("6", game.queryText("SELECT age FROM pet WHERE id = 2"), "nothing is lost");
      await().atMost(LONG).until(() -> writer.parkedTables().isEmpty());

      alter( // MySQL takes it for the same
          "INSERT INTO gameq_dropped_column VALUES ('pet', 'AGE', UTC_TIMESTAMP(3))");
      alter("ALTER TABLE pet DROP COLUMN age");
      commit(player, new Pet(3, 1, 7)).awaitDurable(LONG);
      assertEquals("3", game.queryText("SELECT COUNT(*) FROM pet"));
      assertEquals(3, before.open("player:1").rows(Pet.class).size(), "it can be opened");
      try (GameQueue after = game.node("n2")) {
        assertEquals(3, after.open("player:1").rows("pet").size());
      }
    }
  }

  @Test
  void anOwnerWhoseRowsWaitForAnAnnouncementCanBeOpened() throws Exception {
    commit(before.open("player:1"), new Pet(1, 1, 5)).awaitQueued(LONG);
    alter("ALTER TABLE pet DROP CONSTRAINT mortal", "ALTER TABLE pet DROP COLUMN age");
    try (GameQueue after = game.node("n2")) {
      assertEquals(1, after.open("player:1").rows("pet").size());
    }
    try (WriterService writer = game.writer("w")) {
      await().atMost(LONG).until(() -> writer.parkedTables().containsKey("pet"));
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM pet"));
      alter("ALTER TABLE pet ADD COLUMN age INT NOT NULL");
      await().atMost(LONG).until(() -> "5".equals(game.queryText("SELECT MAX(age) FROM pet")));
    }
  }

  @Test
  void anOwnerWithARowOfARenamedColumnFailsToOpenAndItsSessionGoesOn() throws Exception {
    OwnerSession player = before.open("player:1");
    commit(player, new Pet(1, 1, 5)).awaitQueued(LONG);
    alter(
        "ALTER TABLE pet DROP CONSTRAINT mortal", // MySQL keeps the names that one uses
        "ALTER TABLE pet RENAME COLUMN age TO years");
    try (GameQueue after = game.node("n2")) {
      LayoutException e = assertThrows(LayoutException.class, () -> after.open("player:1"));
      assertTrue(
          String.valueOf(e.getMessage()).contains("pet")
              && e.getMessage().contains("age")
              && e.getMessage().contains("years"),
          e.getMessage());
      assertEquals("n1", game.queryText("SELECT node FROM gameq_owner"), "no epoch was raised");
      commit(player, new Pet(2, 1, 6)).awaitQueued(LONG); // it still owns
      alter("ALTER TABLE pet RENAME COLUMN years TO age");
      assertEquals(2, after.open("player:1").rows("pet").size());
    }
    flushAll();
    assertEquals("5,6", game.queryText("SELECT GROUP_CONCAT(age ORDER BY id) FROM pet"));
  }
}
