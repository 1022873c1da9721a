package io.gameq.recovery.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.writer.campaign.CampaignFiles;
import io.gameq.writer.campaign.CampaignMySql;
import io.gameq.writer.campaign.ReportTable;
import java.io.IOException;
import java.nio.file.Files;
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

  private static final List<FailoverResult> RESULTS = new ArrayList<>();

  private static CampaignMySql mysql;

  @BeforeAll
  static void start() throws IOException {
    CampaignFiles.delete(DIRECTORY);
    mysql = new CampaignMySql(Files.createDirectories(DIRECTORY).resolve("mariadb"));
  }

  @AfterAll
  static void report() throws IOException {
    mysql.close();
    ReportTable table = FailoverReport.of(RESULTS);
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
                "%s, seed %d".formatted(failover.name(), seed), () -> run(failover, seed)));
      }
    }
    return tests.stream();
  }

  private static void run(Failover failover, long seed) throws Exception {
    long start = System.nanoTime();
    FailoverCampaign campaign = new FailoverCampaign(mysql, DIRECTORY);
    FailoverResult result = campaign.run(failover, seed);
    RESULTS.add(result);
    System.out.printf(
        "%s, seed %d: %d acknowledged changes, Redis forgot %d, %d of them in WALs only, first commit after %.1f s, healed after %.1f s, %d violations, %.1f s in all%n",
        failover.name(),
        seed,
        result.acknowledged(),
        result.losses().forgotten(),
        result.losses().endangered(),
        result.firstCommitSeconds(),
        result.healedSeconds(),
        result.violations().size(),
        (System.nanoTime() - start) / 1e9);
    assertEquals(List.of(), result.violations());
    if (failover.loses()) {
      assertTrue(
          result.losses().endangered() > 0, "Redis lost nothing: this case has tested nothing");
    }
    CampaignFiles.delete(campaign.filesOf(failover, seed));
  }

  private static List<Long> seeds() {
    Long given = Long.getLong("gameq.seed");
    if (given != null) {
      return List.of(given);
    }
    List<Long> seeds =
        new Random()
            .ints(Failovers.isShort() ? 1 : SEEDS, 1, 100_000)
            .mapToObj(Long::valueOf)
            .toList();
    System.out.println("failover campaign seeds " + seeds + ": rerun one with -Dgameq.seed=N");
    return seeds;
  }
}
