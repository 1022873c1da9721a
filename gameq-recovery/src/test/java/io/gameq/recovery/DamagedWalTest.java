package io.gameq.recovery;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.recovery.RecoveryGame.Item;
import io.gameq.recovery.RecoveryGame.Run;
import io.gameq.terminal.ExitCodes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A flipped bit in the middle of a WAL. */
class DamagedWalTest {
  @TempDir Path directory;

  @Test
  void whatIsReadableIsReplayedAndTheDamageIsReported() throws Exception {
    try (RecoveryGame game = new RecoveryGame(directory)) {
      try (GameQueue queue = game.node("n1")) {
        OwnerSession player = queue.open("player:1");
        for (int slot = 0; slot < 10; slot++) {
          player.put(new Item(1, slot, 1, 1));
          player.commit().awaitQueued(LONG);
        }
      }
      game.loseRedis();
      flip(game.wal, "item:1,5");
      Run inspect = game.run("inspect");
      assertEquals(ExitCodes.FOUND_SOMETHING, inspect.exitCode(), inspect::toString);
      assertTrue(inspect.says("DAMAGED: "), inspect::toString);
      Run replay = game.run("replay --execute");
      assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), replay::toString);
      assertTrue(replay.says("DAMAGED: "), replay::toString);
      List<Integer> slots;
      try (GameQueue queue = game.node("look")) {
        slots = queue.read("player:1", Item.class).stream().map(Item::slot).sorted().toList();
      }
      assertEquals(List.of(0, 1, 2, 3, 4, 6, 7, 8, 9), slots);
    }
  }

  @Test
  void aFolderWithoutDataHoldsUpNoOtherWal() throws Exception {
    try (RecoveryGame game = new RecoveryGame(directory)) {
      try (GameQueue queue = game.node("n1")) {
        OwnerSession player = queue.open("player:1");
        player.put(new Item(1, 1, 1, 1));
        player.commit().awaitQueued(LONG);
      }
      game.loseRedis();
      Path empty = Files.createDirectory(game.wal.resolve("n2-20261101T000000Z-deadbeef"));
      Files.copy(metadata(game.wal), empty.resolve("metadata.cq4t"));
      Run plan = game.run("plan");
      assertEquals(ExitCodes.FOUND_SOMETHING, plan.exitCode(), plan::toString);
      assertTrue(plan.says("deadbeef has no readable header"), plan::toString);
      assertTrue(plan.says("1  LOST"), plan::toString);
      Run replay = game.run("replay --execute");
      assertEquals(ExitCodes.FOUND_SOMETHING, replay.exitCode(), replay::toString);
      assertTrue(replay.says("1 written"), replay::toString);
      assertEquals(ExitCodes.COULD_NOT_RUN, game.run("plan", List.of(empty.toString())).exitCode());
    }
  }

  private static Path metadata(Path wals) throws IOException {
    try (Stream<Path> files = Files.walk(wals)) {
      return files.filter(path -> path.endsWith("metadata.cq4t")).findFirst().orElseThrow();
    }
  }

  /** Flips a bit of the row key's first record. */
  private static void flip(Path wals, String key) throws IOException {
    try (Stream<Path> files = Files.walk(wals)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".cq4")).toList()) {
        byte[] bytes = readStart(file);
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(key);
        if (at >= 0) {
          try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            channel.position(at);
            channel.write(java.nio.ByteBuffer.wrap(new byte[] {(byte) (bytes[at] ^ 4)}));
          }
          return;
        }
      }
    }
    throw new IllegalStateException("no record of " + key);
  }

  /** Files are sparse: what was written stands in their first megabyte, but for the index. */
  private static byte[] readStart(Path file) throws IOException {
    try (var in = Files.newInputStream(file)) {
      return in.readNBytes(16 << 20);
    }
  }
}
