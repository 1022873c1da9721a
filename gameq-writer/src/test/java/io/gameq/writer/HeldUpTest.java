package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.MySqlException;
import io.gameq.OwnerSession;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.owner.OwnerId;
import io.gameq.servers.GameDatabase;
import io.gameq.writer.service.WriterService;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What holds up one owner or table holds up no other. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class HeldUpTest {

  /** Far above what a commit takes that nobody holds up, far below what it took behind a lock. */
  private static final Duration PROMPT = Duration.ofSeconds(8);

  private static final int ROUNDS = 6;

  record Pet(long id, long playerId, String name) {}

  record Toy(long id, long playerId, String name) {}

  @TempDir Path walDirectory;

  private Game game;

  @BeforeEach
  void start() throws Exception {
    String columns =
        "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, name VARCHAR(20) NOT NULL, KEY"
            + " (player_id)";
    // PROCESS names who locks a row; a statement that waits in a trigger is its definer's to end.
    game =
        Game.withAllRightsInMySql(
            GameDatabase.create("held")
                .table("pet", "player", "player_id", columns)
                .table("toy", "player", "player_id", columns),
            walDirectory);
  }

  @AfterEach
  void stop() {
    game.close();
  }

  /** Sessions of players of one slot: one writer's worker has them all. */
  private static List<OwnerSession> ofOneSlot(GameQueue queue, int players) {
    List<OwnerSession> sessions = new ArrayList<>();
    int slot = OwnerId.of("player:1").slot(Game.SLOTS);
    for (int id = 1; sessions.size() < players; id++) {
      if (OwnerId.of("player:" + id).slot(Game.SLOTS) == slot) {
        sessions.add(queue.open("player:" + id));
      }
    }
    return sessions;
  }

  private static long id(OwnerSession session) {
    return Long.parseLong(OwnerId.of(session.owner()).key());
  }

  private static CommitReceipt putPet(OwnerSession session, String name) {
    session.put(new Pet(id(session), id(session), name));
    return session.commit();
  }

  /**
   * All commit; the others' changes are durable soon, every time. Returns the first and the last
   * commit of the one who is held up.
   */
  private static List<CommitReceipt> rounds(OwnerSession heldUp, List<OwnerSession> others) {
    CommitReceipt first = putPet(heldUp, "held");
    CommitReceipt last = first;
    for (int round = 0; round < ROUNDS; round++) {
      last = putPet(heldUp, "held" + round);
      String name = "r" + round;
      List<CommitReceipt> receipts = others.stream().map(of -> putPet(of, name)).toList();
      receipts.forEach(receipt -> receipt.awaitDurable(PROMPT));
    }
    return List.of(first, last);
  }

  @Test
  void aLockedRowHoldsUpItsOwnerAlone() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1");
        Connection locking = game.database.server().connect()) {
      List<OwnerSession> sessions = ofOneSlot(queue, 6);
      OwnerSession locked = sessions.get(0);
      putPet(locked, "x").awaitDurable(LONG);
      locking.setAutoCommit(false);
      try (Statement statement = locking.createStatement()) {
        statement
            .executeQuery("SELECT * FROM pet WHERE id = " + id(locked) + " FOR UPDATE")
            .close();
      }
      CommitReceipt last = rounds(locked, sessions.subList(1, 6)).get(1);
      assertFalse(last.durable().isDone());
      assertEquals("x", nameOf(locked));
      locking.rollback();
      last.awaitDurable(LONG);
      assertEquals("held" + (ROUNDS - 1), nameOf(locked));
      assertEquals("0", game.queryText("SELECT COUNT(*) FROM gameq_dead_letter"));
    }
  }

  /** A trigger takes 40 s over rows of a table. */
  private void slowInserts(String table, String which) throws SQLException {
    game.database
        .server()
        .execute(
            "CREATE TRIGGER slow BEFORE INSERT ON %s FOR EACH ROW IF %s THEN DO SLEEP(40); END IF"
                .formatted(table, which));
  }

  private String nameOf(OwnerSession session) throws SQLException {
    return game.queryText("SELECT name FROM pet WHERE id = " + id(session));
  }

  @Test
  void aStatementThatTakesLongHoldsUpItsOwnerAloneAndItsRowIsSetAside() throws Exception {
    game.patience = new FlushPlan.Patience(3, 3_000, 0, 3, 100);
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      List<OwnerSession> sessions = ofOneSlot(queue, 6);
      OwnerSession slow = sessions.get(0);
      slowInserts("pet", "NEW.id = " + id(slow));
      slow.put(new Toy(1, id(slow), "beside"));
      rounds(slow, sessions.subList(1, 6));
      await()
          .atMost(LONG)
          .until(
              () -> {
                putPet(sessions.get(1), "on"); // others are written meanwhile
                return game.queryText("SELECT COUNT(*) FROM gameq_dead_letter").equals("1");
              });
      assertEquals(
          "pet " + id(slow),
          game.queryText("SELECT CONCAT(table_name, ' ', row_key) FROM gameq_dead_letter"));
      assertEquals("beside", game.queryText("SELECT name FROM toy"));
    }
  }

  @Test
  void manySlowRowsOfOneOwnerAreSetAsideSomeAtATime() throws Exception {
    game.patience = new FlushPlan.Patience(2, 0, 0, 3, 100);
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1")) {
      List<OwnerSession> sessions = ofOneSlot(queue, 2);
      OwnerSession slow = sessions.get(0);
      slowInserts("toy", "NEW.name = 'slow'");
      for (int id = 1; id <= 4; id++) {
        slow.put(new Toy(id, id(slow), id == 2 ? "quick" : "slow"));
      }
      putPet(slow, "beside");
      await()
          .atMost(LONG)
          .until(
              () -> {
                putPet(sessions.get(1), "on"); // others are written meanwhile
                String setAside = game.queryText("SELECT COUNT(*) FROM gameq_dead_letter");
                if (!setAside.equals("0")) { // a table of its own does not wait for them all
                  assertEquals("beside", nameOf(slow));
                }
                return setAside.equals("3");
              });
      assertEquals("2 quick", game.queryText("SELECT CONCAT(id, ' ', name) FROM toy"));
    }
  }

  @Test
  void anOwnerThatIsLockedHoldsUpNoOther() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1");
        Connection locking = game.database.server().connect()) {
      List<OwnerSession> sessions = ofOneSlot(queue, 6);
      OwnerSession locked = sessions.get(0);
      locking.setAutoCommit(false);
      try (Statement statement = locking.createStatement()) {
        statement
            .executeQuery(
                "SELECT * FROM gameq_owner WHERE owner = '%s' FOR UPDATE"
                    .formatted(OwnerId.of(locked.owner()).encoded()))
            .close();
      }
      CommitReceipt last = rounds(locked, sessions.subList(1, 6)).get(1);
      assertFalse(last.durable().isDone());
      MySqlException isLocked =
          assertThrows(MySqlException.class, () -> queue.open(locked.owner()));
      assertTrue(
          String.valueOf(isLocked.getMessage()).contains("is locked in MySQL, by one of the"),
          isLocked::getMessage);
      locking.rollback();
      last.awaitDurable(LONG);
      assertEquals("held" + (ROUNDS - 1), nameOf(locked));
    }
  }

  @Test
  void aTableThatIsLockedHoldsUpItsOwnRowsAlone() throws Exception {
    try (GameQueue queue = game.node("n1");
        WriterService writer = game.writer("w1");
        Connection locking = game.database.server().connect()) {
      List<OwnerSession> sessions = ofOneSlot(queue, 6);
      try (Statement statement = locking.createStatement()) {
        statement.execute("LOCK TABLES toy WRITE"); // as an ALTER TABLE that copies it
        OwnerSession held = sessions.get(0);
        held.put(new Toy(1, id(held), "waits"));
        CommitReceipt first = rounds(held, sessions.subList(1, 6)).get(0);
        await().atMost(PROMPT).until(() -> nameOf(held).equals("held" + (ROUNDS - 1)));
        assertFalse(first.durable().isDone());
        statement.execute("UNLOCK TABLES");
        first.awaitDurable(LONG);
        assertEquals("waits", game.queryText("SELECT name FROM toy"));
      }
    }
  }
}
