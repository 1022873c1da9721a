package io.gameq.recovery;

import io.gameq.GameQueue;
import io.gameq.owner.OwnerId;
import io.gameq.servers.FaultProxy;
import io.gameq.wal.WalDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** A node behind a proxy that leaves its WAL as if it had been killed: as a copy. */
abstract class LeftWalFixture extends RecoveryFixture {
  final FaultProxy proxy = FaultProxy.ofRedis();
  private @Nullable GameQueue one;

  @AfterEach
  final void stop() throws IOException {
    proxy.heal();
    proxy.refuse(false);
    Objects.requireNonNull(one).close();
    proxy.close();
  }

  final GameQueue openBehindProxy() {
    GameQueue queue =
        GameQueue.open(
            game.config("n1").redis(proxy.uri()).walDirectory(directory.resolve("own")).build());
    one = queue;
    return queue;
  }

  /** What the node's next start finds when it is killed now. */
  final void leaveWal() throws IOException {
    Path own = WalDirectory.find(List.of(directory.resolve("own"))).get(0);
    Path copy = Files.createDirectories(game.wal.resolve(own.getFileName()));
    try (Stream<Path> files = Files.list(own)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(file.getFileName()));
      }
    }
  }

  final void cutOff() {
    proxy.refuse(true);
    proxy.cut();
  }

  /** Another player of the slot of player 1. */
  static int neighbour() {
    int other = 2;
    while (OwnerId.slotOf("player%3A" + other, RecoveryGame.SLOTS)
        != OwnerId.slotOf("player%3A1", RecoveryGame.SLOTS)) {
      other++;
    }
    return other;
  }
}
