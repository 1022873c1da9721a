package io.gameq.recovery.failover;

import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One failover of the campaign in every build; {@code -Dgameq.seed=N} to repeat one. */
class FailoverTest {
  @TempDir Path directory;

  @Test
  void nodesPutBackWhatAFailoverLost() throws Exception {
    long seed = Long.getLong("gameq.seed", new Random().nextInt(100_000));
    System.out.println("failover seed " + seed);
    try (FailoverRun run = new FailoverRun(directory)) {
      run.one(Failovers.QUICK, seed);
    }
  }
}
