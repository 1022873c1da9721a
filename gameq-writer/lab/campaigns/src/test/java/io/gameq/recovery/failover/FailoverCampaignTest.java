package io.gameq.recovery.failover;

import io.gameq.writer.campaign.CampaignFiles;
import io.gameq.writer.campaign.CampaignLength;
import io.gameq.writer.campaign.ReportTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * The failover campaign: see the package's page. {@code -Dgameq.seed=N} for one seed, {@code
 * -Dgameq.campaign.failovers=regex} for some failovers, {@code -Dgameq.campaign=short} for a few
 * with one seed.
 */
@Tag("campaign")
class FailoverCampaignTest {
  private static final int SEEDS = 3;
  private static final Path TARGET = Path.of("target");
  private static final Path DIRECTORY = TARGET.resolve("failover");

  private static FailoverRun run;

  @BeforeAll
  static void start() throws IOException {
    CampaignFiles.delete(DIRECTORY);
    run = new FailoverRun(DIRECTORY);
  }

  @AfterAll
  static void report() throws IOException {
    run.close();
    ReportTable table = run.table();
    System.out.println(table.markdown());
    table.write(TARGET, "failover");
  }

  @TestFactory
  Stream<DynamicTest> nothingThatRedisForgotIsLost() {
    List<DynamicTest> tests = new ArrayList<>();
    for (long seed : seeds()) {
      for (Failover failover : Failovers.chosen()) {
        tests.add(
            DynamicTest.dynamicTest(
                "%s, seed %d".formatted(failover.name(), seed), () -> run.one(failover, seed)));
      }
    }
    return tests.stream();
  }

  private static List<Long> seeds() {
    Long given = Long.getLong("gameq.seed");
    if (given != null) {
      return List.of(given);
    }
    List<Long> seeds =
        new Random()
            .ints(CampaignLength.isShort() ? 1 : SEEDS, 1, 100_000)
            .mapToObj(Long::valueOf)
            .toList();
    System.out.println("failover campaign seeds " + seeds + ": rerun one with -Dgameq.seed=N");
    return seeds;
  }
}
