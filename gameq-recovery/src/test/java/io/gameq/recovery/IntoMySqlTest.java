package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Pet;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.terminal.ExitCodes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What MySQL refuses when it gets rows straight from WALs. */
@Execution(ExecutionMode.CONCURRENT)
class IntoMySqlTest extends RecoveryFixture {
  /** Each owner in a transaction of its own. */
  private static final String ONE_BY_ONE = "replay --execute --into mysql --no-redis --rate 10";

  /** A node plays and is gone, and Redis is lost. */
  private void play(String node, java.util.function.Consumer<GameQueue> how) {
    try (GameQueue queue = game.node(node)) {
      how.accept(queue);
    }
    game.loseRedis();
  }

  private static void commit(OwnerSession session) {
    session.commit().awaitQueued(LONG);
  }

  @Test
  void refusalsThatAnotherOwnersRowsCureAreTriedAgainAndTheOthersAreSetAside() throws Exception {
    play(
        "n1",
        queue -> {
          OwnerSession one = queue.open("player:1");
          one.put(new Pet(3, 1, "Old"));
          one.put(new Pet(4, 1, "Rex"));
          commit(one);
          OwnerSession three = queue.open("player:3");
          three.put(new Item(3, 1, 1, 1));
          commit(three);
        });
    assertEquals(ExitCodes.OK, game.run(ONE_BY_ONE).exitCode());
    game.database
        .server()
        .execute(
            "ALTER TABLE item ADD FOREIGN KEY (player_id) REFERENCES pet (id)",
            "ALTER TABLE pet ADD UNIQUE (name)");
    play(
        "n2",
        queue -> {
          OwnerSession two = queue.open("player:2");
          two.put(new Item(2, 1, 1, 1)); // 1452: needs pet 2
          two.put(new Pet(5, 2, "Rex")); // 1062: needs pet 4 to have another name
          commit(two);
          OwnerSession nine = queue.open("player:9");
          nine.put(new Item(9, 1, 1, 1)); // nobody makes pet 9
          nine.put(new Pet(90, 9, "Ninth"));
          commit(nine);
          OwnerSession one = queue.open("player:1");
          one.delete(Pet.class, 3); // 1451: needs item 3,1 deleted
          one.put(new Pet(4, 1, "Max"));
          one.put(new Pet(2, 1, "Two"));
          commit(one);
          OwnerSession three = queue.open("player:3");
          three.delete(Item.class, 3, 1);
          commit(three);
        });
    Run replay = game.run(ONE_BY_ONE);
    assertTrue(replay.says("1 row refused by MySQL, now dead letters"), replay::toString);
    assertTrue(replay.says("dead letter: item:9,1 of player:9"), replay::toString);
    assertEquals(
        "item:9,1", game.query("SELECT CONCAT(table_name, ':', row_key) FROM gameq_dead_letter"));
    assertEquals("2", game.query("SELECT player_id FROM item"));
    assertEquals(
        "2 Two,4 Max,5 Rex,90 Ninth",
        game.query("SELECT GROUP_CONCAT(CONCAT(id, ' ', name) ORDER BY id) FROM pet"));
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), "a dead letter is left to act on");
  }

  @Test
  void goodRowsAreWrittenThoughNoRowCanBeSetAsideAnyMore() throws Exception {
    play(
        "n1",
        queue -> {
          OwnerSession one = queue.open("player:1");
          one.put(new Pet(1, 1, "Rex"));
          commit(one);
          OwnerSession two = queue.open("player:2");
          two.put(new Pet(2, 2, "Rex"));
          two.put(new Pet(3, 2, "Max"));
          commit(two);
          OwnerSession three = queue.open("player:3");
          three.put(new Pet(4, 3, "Ida"));
          commit(three);
        });
    game.database.server().execute("ALTER TABLE pet ADD UNIQUE (name)");
    game.database
        .server()
        .execute(
            "CREATE TABLE digit AS SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION"
                + " SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION"
                + " SELECT 9",
            "INSERT INTO gameq_dead_letter (owner, table_name, row_key, version, image, attempts,"
                + " error_code, error_text, refused_at) SELECT 'player:9', 'pet', CONCAT(a.n, b.n,"
                + " c.n, d.n, e.n), 1, '', 1, 1, '', NOW(3) FROM digit a, digit b, digit c, digit"
                + " d, digit e");
    Run replay = game.run(ONE_BY_ONE);
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), replay::toString);
    assertTrue(replay.says("1 row of player:2: Duplicate entry"), replay::toString);
    assertTrue(replay.says("gameq_dead_letter has no room"), replay::toString);
    assertEquals(
        "1 Rex,3 Max,4 Ida",
        game.query("SELECT GROUP_CONCAT(CONCAT(id, ' ', name) ORDER BY id) FROM pet"));
  }

  @Test
  void rowsFromBeforeATableWasAlteredTouchOnlyTheColumnsThatTheyName() throws Exception {
    play(
        "n1",
        queue -> {
          OwnerSession one = queue.open("player:1");
          one.put(new Item(1, 2, 3, 4));
          one.put(new Pet(7, 1, "Rex"));
          one.put(new Pet(8, 1, "Max"));
          commit(one);
        });
    game.database
        .server()
        .execute(
            "ALTER TABLE pet ADD COLUMN horns INT NOT NULL",
            "INSERT INTO pet (id, player_id, name, horns) VALUES (7, 1, 'Old', 9)",
            "INSERT INTO gameq_dropped_column VALUES ('item', 'item_id', UTC_TIMESTAMP(3))",
            "ALTER TABLE item DROP COLUMN item_id, MODIFY count BIGINT NOT NULL");
    Run plan = game.run("plan --no-redis");
    assertTrue(plan.says("replay --execute"), plan::toString);
    assertEquals(ExitCodes.OK, game.run("replay --execute --into mysql --no-redis").exitCode());
    assertEquals(
        "7 Rex 9,8 Max 0",
        game.query("SELECT GROUP_CONCAT(CONCAT(id, ' ', name, ' ', horns) ORDER BY id) FROM pet"));
    assertEquals("2,4", game.query("SELECT CONCAT(slot, ',', count) FROM item"));
    assertEquals(ExitCodes.OK, game.run("verify --no-redis").exitCode());
  }

  @Test
  void rowsOfAColumnThatIsGoneAreWrittenOnceThatIsAnnouncedAndPutBackIntoRedisAnyway()
      throws Exception {
    putItemsAndPets();
    game.database.server().execute("ALTER TABLE pet DROP COLUMN name");
    Run refused = game.run("replay --execute --into mysql --no-redis");
    assertEquals(ExitCodes.FOUND_SOMETHING, refused.exitCode(), refused::toString);
    assertTrue(refused.says("schema drop-column pet name"), refused::toString);
    assertEquals(
        "3,0", game.query("SELECT CONCAT((SELECT COUNT(*) FROM item), ',', COUNT(*)) FROM pet"));
    Run back = game.run("replay --execute");
    assertEquals(ExitCodes.OK, back.exitCode(), back::toString);
    assertEquals(3, game.dirtyRows(), "the pets, whole");
    game.loseRedis();
    game.database
        .server()
        .execute("INSERT INTO gameq_dropped_column VALUES ('pet', 'name', UTC_TIMESTAMP(3))");
    assertEquals(ExitCodes.OK, game.run("replay --execute --into mysql --no-redis").exitCode());
    assertEquals("3", game.query("SELECT COUNT(*) FROM pet"));
  }

  @Test
  void valuesOfAColumnThatWasDroppedByMistakeArePutBack() throws Exception {
    putItemsAndPets();
    assertEquals(ExitCodes.OK, game.run("replay --execute --into mysql --no-redis").exitCode());
    game.database
        .server()
        .execute(
            "ALTER TABLE pet DROP COLUMN name",
            "ALTER TABLE pet ADD COLUMN name VARCHAR(20) NOT NULL DEFAULT 'lost'",
            "UPDATE pet SET gq_version = gq_version + 1 WHERE id = 3"); // written since
    assertEquals(ExitCodes.FOUND_SOMETHING, game.run("verify --no-redis").exitCode());
    Run dry = game.run("replay --column pet.name --no-redis");
    assertEquals(ExitCodes.FOUND_SOMETHING, dry.exitCode());
    assertTrue(dry.says("2 values of pet.name differ"), dry::toString);
    assertEquals("lost", game.query("SELECT GROUP_CONCAT(DISTINCT name) FROM pet"));
    Run done = game.run("replay --execute --column pet.name --no-redis");
    assertEquals(ExitCodes.OK, done.exitCode(), done::toString);
    assertTrue(done.says("2 values written"), done::toString);
    assertEquals("Rex,Rex,lost", game.query("SELECT GROUP_CONCAT(name ORDER BY id) FROM pet"));
    assertEquals(ExitCodes.OK, game.run("verify --no-redis").exitCode());
    assertTrue(
        game.run("replay --column pet.player_id --no-redis").says("names the row or its owner"));
    assertEquals(
        "1", game.query("SELECT COUNT(*) FROM gameq_audit WHERE detail LIKE 'columns pet.name%'"));
  }

  private void putItemsAndPets() {
    play(
        "n1",
        queue -> {
          for (int p = 1; p <= 3; p++) {
            OwnerSession player = queue.open("player:" + p);
            player.put(new Item(p, 1, 1, 1));
            player.put(new Pet(p, p, "Rex"));
            commit(player);
          }
        });
  }

  /** The catalogue says nothing of what a trigger needs. */
  @Test
  void oneTableThatTakesNoRowsIsLeftOutAndTheOthersAreWritten() throws Exception {
    putItemsAndPets();
    game.database
        .server()
        .execute(
            "CREATE TRIGGER bad BEFORE INSERT ON pet FOR EACH ROW INSERT INTO nowhere VALUES (1)");
    Run replay = game.run(ONE_BY_ONE);
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), replay::toString);
    assertTrue(
        replay.says("table pet takes no rows, 3 rows of it not replayed: "), replay::toString);
    assertTrue(replay.says("nowhere"), replay::toString);
    assertTrue(replay.says("3  LOST"), replay::toString);
    assertTrue(replay.says("mend the tables named above, then run it again"), replay::toString);
    assertEquals("3", game.query("SELECT COUNT(*) FROM item"));
    assertEquals("0", game.query("SELECT COUNT(*) FROM gameq_dead_letter"));
    game.database.server().execute("DROP TRIGGER bad");
    assertEquals(ExitCodes.OK, game.run(ONE_BY_ONE).exitCode());
    assertEquals("3", game.query("SELECT COUNT(*) FROM pet"));
  }

  @Test
  void rowsThatReferToATableThatTakesNoneStayLostInsteadOfBecomingDeadLetters() throws Exception {
    putItemsAndPets();
    game.database
        .server()
        .execute(
            "ALTER TABLE item ADD FOREIGN KEY (player_id) REFERENCES pet (id)",
            "CREATE TABLE audit (one INT)",
            "CREATE TRIGGER bad BEFORE INSERT ON pet FOR EACH ROW INSERT INTO audit (other) VALUES"
                + " (1)");
    Run replay = game.run(ONE_BY_ONE);
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), replay::toString);
    assertTrue(replay.says("6  LOST"), replay::toString);
    assertTrue(replay.says("for want of rows of a table that takes none now"), replay::toString);
    assertEquals("0", game.query("SELECT COUNT(*) FROM gameq_dead_letter"));
    game.database.server().execute("ALTER TABLE audit CHANGE one other INT");
    assertEquals(ExitCodes.OK, game.run(ONE_BY_ONE).exitCode());
    assertEquals("3", game.query("SELECT COUNT(*) FROM item"));
  }

  @Test
  void aMissingTableIsNamedAndTheOthersAreWritten() throws Exception {
    putItemsAndPets();
    game.database.server().execute("DROP TABLE pet");
    Run replay = game.run(ONE_BY_ONE);
    assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), replay::toString);
    assertTrue(replay.says("table pet"), replay::toString);
    assertEquals("3", game.query("SELECT COUNT(*) FROM item"));
  }
}
