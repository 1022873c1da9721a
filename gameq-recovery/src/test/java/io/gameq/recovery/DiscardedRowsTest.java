package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.node.NodeAccess;
import io.gameq.recovery.RecoveryGame.Pet;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.terminal.ExitCodes;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What an operator discarded is a decision: no tool, node or writer brings it back. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class DiscardedRowsTest extends RecoveryFixture {
  @BeforeEach
  void start() throws Exception {
    game.database.server().execute("ALTER TABLE pet ADD CONSTRAINT no_x CHECK (name <> 'x')");
  }

  /** A pet that MySQL refused in its second change, and a dead letter of it. */
  private void playAndRefuse() throws Exception {
    change("n1", "Rex");
    change("n2", "x");
    assertEquals("x", game.query("SELECT 'x' FROM gameq_dead_letter"));
  }

  private void change(String node, String name) {
    try (GameQueue queue = game.node(node)) {
      OwnerSession player = queue.open("player:1");
      player.put(new Pet(7, 1, name));
      player.commit().awaitQueued(LONG);
    }
    game.run("replay --execute --into mysql --no-redis");
  }

  /** As 'dead discard' does. */
  private void discardLetter() throws Exception {
    game.database
        .server()
        .execute(
            "INSERT INTO gameq_discard SELECT table_name, row_key, '', owner, version,"
                + " UTC_TIMESTAMP(3) FROM gameq_dead_letter",
            "DELETE FROM gameq_dead_letter",
            "ALTER TABLE pet DROP CONSTRAINT no_x");
  }

  private String pets() throws Exception {
    return game.query("SELECT GROUP_CONCAT(id, name) FROM pet");
  }

  private List<Pet> seen() {
    try (GameQueue queue = game.node("look")) {
      return queue.read("player:1", Pet.class);
    }
  }

  @Test
  void recoveryKnowsADiscardedDeadLetterAndNeverWritesItAgain() throws Exception {
    playAndRefuse();
    discardLetter();
    game.loseRedis();
    Run plan = game.run("plan");
    assertEquals(ExitCodes.OK, plan.exitCode(), plan::toString);
    assertTrue(plan.says("1  discarded by"), plan::toString);
    for (String target : List.of("", " --into mysql --no-redis")) {
      assertEquals(ExitCodes.OK, game.run("replay --execute" + target).exitCode());
      assertEquals("7Rex", pets());
      assertEquals(List.of(new Pet(7, 1, "Rex")), seen());
    }
    assertEquals(ExitCodes.OK, game.run("verify").exitCode());
    assertEquals("0", game.query("SELECT COUNT(*) FROM gameq_dead_letter"));
  }

  @Test
  void whatRedisStillHoldsOfADiscardedRowIsSeenByNobodyAndANewerVersionIs() throws Exception {
    playAndRefuse();
    discardLetter(); // Redis still holds the row, as a healing might have put it back
    assertEquals(List.of(new Pet(7, 1, "Rex")), seen());
    try (GameQueue queue = game.node("n3")) {
      OwnerSession player = queue.open("player:1");
      assertEquals(List.of(new Pet(7, 1, "Rex")), player.rows(Pet.class));
      player.put(new Pet(7, 1, "Ada"));
      player.commit().awaitQueued(LONG);
      assertEquals(List.of(new Pet(7, 1, "Ada")), queue.read("player:1", Pet.class));
    }
    game.loseRedis();
    assertEquals(ExitCodes.OK, game.run("replay --execute --into mysql").exitCode());
    assertEquals("7Ada", pets());
  }

  @Test
  void onlyTheChangesOfTheDiscardedSessionAreGivenUp() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      OwnerSession player = queue.open("player:1");
      player.put(new Pet(8, 1, "lost"));
      player.commit().awaitQueued(LONG);
      game.loseRedis();
      try (GameQueue other = game.node("n2")) {
        other.open("player:1").close();
      }
      Run before = game.run("plan");
      assertTrue(before.says("1  CONFLICTS"), before::toString);
      game.database
          .server()
          .execute(
              "INSERT INTO gameq_discard VALUES ('pet', '8', 'another-session', 'player%3A1',"
                  + " 9000000000000000000, UTC_TIMESTAMP(3))");
      assertTrue(game.run("plan").says("1  CONFLICTS"));
      game.database
          .server()
          .execute("UPDATE gameq_discard SET session = '" + NodeAccess.session(player) + "'");
      Run after = game.run("plan");
      assertEquals(ExitCodes.OK, after.exitCode(), after::toString);
      assertTrue(after.says("1  discarded by"), after::toString);
    }
  }
}
