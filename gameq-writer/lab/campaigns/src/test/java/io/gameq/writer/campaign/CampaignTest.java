package io.gameq.writer.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.servers.ProcessClock;
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
 * The fault campaign: see the package's page. {@code -Dgameq.seed=N} for one seed, {@code
 * -Dgameq.campaign.faults=regex} for some faults, {@code -Dgameq.campaign=short} for a few quick
 * ones with one seed.
 */
@Tag("campaign")
class CampaignTest {
  private static final int SEEDS = 3;
  private static final Path TARGET = Path.of("target");
  private static final Path DIRECTORY = TARGET.resolve("campaign");

  private static final List<CaseResult> RESULTS = new ArrayList<>();

  private static CampaignServers servers;

  @BeforeAll
  static void start() throws IOException {
    CampaignFiles.delete(DIRECTORY);
    servers = new CampaignServers(Files.createDirectories(DIRECTORY));
  }

  @AfterAll
  static void report() throws IOException {
    servers.close();
    ReportTable table = CampaignReport.of(RESULTS);
    System.out.println(table.markdown());
    table.write(TARGET, "campaign");
  }

  @TestFactory
  Stream<DynamicTest> nothingIsLostStaleOrResurrected() {
    List<Fault> faults = Faults.chosen();
    List<DynamicTest> tests = new ArrayList<>();
    for (long seed : seeds()) {
      for (Fault fault : faults) {
        tests.add(
            DynamicTest.dynamicTest(
                "%s, seed %d".formatted(fault.name(), seed), () -> run(fault, seed)));
      }
    }
    return tests.stream();
  }

  private static void run(Fault fault, long seed) throws Exception {
    if (fault.setsClocks()) {
      ProcessClock.assumeInstalled(fault.name());
    }
    long start = System.nanoTime();
    Campaign campaign = new Campaign(servers, DIRECTORY);
    CaseResult result = campaign.run(fault, seed);
    RESULTS.add(result);
    System.out.printf(
        "%s, seed %d: %d acknowledged changes, %d reads, drained in %.1f s, %d violations, %.1f s"
            + " in all%n",
        fault.name(),
        seed,
        result.acknowledged(),
        result.reads(),
        result.drainSeconds(),
        result.violations().size(),
        (System.nanoTime() - start) / 1e9);
    System.out.printf("  %s%n", result.sent());
    System.out.printf("  messages: %s%n", result.messages());
    assertEquals(List.of(), result.violations());
    assertEquals(List.of(), result.messages().violations());
    CampaignFiles.delete(campaign.filesOf(fault, seed));
  }

  private static List<Long> seeds() {
    Long given = Long.getLong("gameq.seed");
    if (given != null) {
      return List.of(given);
    }
    int count = CampaignLength.isShort() ? 1 : SEEDS;
    List<Long> seeds = new Random().ints(count, 1, 100_000).mapToObj(Long::valueOf).toList();
    System.out.println("campaign seeds " + seeds + ": rerun one with -Dgameq.seed=N");
    return seeds;
  }
}
