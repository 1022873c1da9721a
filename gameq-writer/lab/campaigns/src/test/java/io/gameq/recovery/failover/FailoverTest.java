package io.gameq.recovery.failover;

import io.gameq.writer.campaign.CampaignFiles;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One failover, quick: before a campaign, or alone; {@code -Dgameq.seed=N} to repeat one. The files
 * of one that failed stay in {@code target/failover-test}.
 */
@Tag("campaign")
class FailoverTest {
  private static final Path DIRECTORY = Path.of("target", "failover-test");

  @Test
  void nodesPutBackWhatAFailoverLost() throws Exception {
    CampaignFiles.delete(DIRECTORY);
    long seed = Long.getLong("gameq.seed", new Random().nextInt(100_000));
    System.out.println("failover seed " + seed);
    try (FailoverRun run = new FailoverRun(DIRECTORY)) {
      run.one(Failovers.QUICK, seed);
    }
  }
}
