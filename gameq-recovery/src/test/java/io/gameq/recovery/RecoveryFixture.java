package io.gameq.recovery;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A game of its own for each test; what a test opens of it, it closes. */
abstract class RecoveryFixture {
  @TempDir Path directory;

  RecoveryGame game;

  @BeforeEach
  final void startGame() throws Exception {
    game = new RecoveryGame(directory);
  }

  @AfterEach
  final void stopGame() {
    game.close();
  }
}
