package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Pet;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.terminal.ExitCodes;
import io.gameq.wal.WalAtSequence;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node is gone that carried rows forward which waited for long, and Redis lost them. */
@Execution(ExecutionMode.CONCURRENT)
class CarriedWalTest extends RecoveryFixture {
  /** Ten rewritten rows, a trade, and a commit that was refused and told so. */
  private Path play() throws Exception {
    try (GameQueue queue = game.node("n1");
        GameQueue other = game.node("n2")) {
      OwnerSession noise = queue.open("player:9");
      noise.put(new Item(9, 1, 1, 1));
      noise.commit().awaitQueued(LONG);
      OwnerSession one = queue.open("player:1");
      OwnerSession two = queue.open("player:2");
      OwnerSession old = queue.open("player:3");
      other.open("player:3");
      for (int i = 0; i < 20; i++) {
        one.put(new Item(1, i % 10, 1, i));
        one.commit().awaitQueued(LONG);
      }
      one.put(new Pet(7, 1, "Rex"));
      one.commit().awaitQueued(LONG);
      one.move(new Pet(7, 2, "Rex"), two);
      queue.commit(one, two).awaitQueued(LONG);
      old.put(new Item(3, 1, 1, 99));
      assertThrows(OwnershipLostException.class, () -> old.commit().awaitQueued(LONG));
    }
    game.loseRedis();
    try (Stream<Path> wals = Files.list(game.wal)) {
      return wals.filter(path -> path.getFileName().toString().startsWith("n1-"))
          .findFirst()
          .orElseThrow();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatWasCarriedIsReplayedOnceAndInTheVersionsThatItHad(boolean killedBeforeTheDelete)
      throws Exception {
    Path old = Files.createDirectory(directory.resolve("old"));
    List<String> wal =
        List.of(WalAtSequence.carried(play(), old, killedBeforeTheDelete).toString());
    Run inspect = game.run("inspect", wal);
    assertEquals(ExitCodes.OK, inspect.exitCode(), inspect::toString);
    assertTrue(inspect.says("24 rows carried forward"), inspect::toString);
    assertEquals(killedBeforeTheDelete, inspect.says("1 failed"), inspect::toString);
    Run plan = game.run("plan", wal);
    assertTrue(plan.says("13  LOST"), plan::toString);
    Run replay = game.run("replay --execute", wal);
    assertEquals(ExitCodes.OK, replay.exitCode(), replay::toString);
    assertTrue(replay.says("13 written, 0 were there already"), replay::toString);
    assertEquals(VerifyCommand.KEEP_THE_WALS, game.run("verify", wal).exitCode());
    try (GameQueue look = game.node("look")) {
      assertEquals(
          List.of(10, 11, 12, 13, 14, 15, 16, 17, 18, 19),
          look.read("player:1", Item.class).stream().map(Item::count).sorted().toList());
      assertEquals(List.of(), look.read("player:1", Pet.class));
      assertEquals(List.of(new Pet(7, 2, "Rex")), look.read("player:2", Pet.class));
      assertEquals(List.of(), look.read("player:3", Item.class));
    }
  }
}
