package io.gameq.recovery.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.servers.ProcessClock;
import io.gameq.writer.campaign.CampaignFiles;
import io.gameq.writer.campaign.CampaignMySql;
import io.gameq.writer.campaign.ReportTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs cases on one MariaDB and keeps their results. Used by one thread. */
final class FailoverRun implements AutoCloseable {
  private final Path directory;
  private final CampaignMySql mysql;
  private final List<FailoverResult> results = new ArrayList<>();

  FailoverRun(Path directory) throws IOException {
    this.directory = directory;
    mysql = new CampaignMySql(Files.createDirectories(directory).resolve("mariadb"));
  }

  /** One case; fails when a promise was broken, or when there was nothing to keep it against. */
  void one(Failover failover, long seed) throws Exception {
    if (failover.setsClocks()) {
      ProcessClock.assumeInstalled(failover.name());
    }
    long start = System.nanoTime();
    FailoverCampaign campaign = new FailoverCampaign(mysql, directory);
    FailoverResult result = campaign.run(failover, seed);
    results.add(result);
    System.out.printf(
        "%s, seed %d: %d acknowledged changes, Redis forgot %d, %d of them in WALs only, first"
            + " commit after %.1f s, healed after %.1f s, %d violations, %.1f s in all%n",
        failover.name(),
        seed,
        result.acknowledged(),
        result.losses().forgotten(),
        result.losses().endangered(),
        result.firstCommitSeconds(),
        result.healedSeconds(),
        result.violations().size(),
        (System.nanoTime() - start) / 1e9);
    System.out.printf("  %s%n", result.sent());
    System.out.printf("  messages: %s%n", result.messages());
    assertEquals(List.of(), result.violations());
    assertEquals(List.of(), result.messages().violations());
    if (failover.loses()) {
      assertTrue(
          result.losses().endangered() > 0, "Redis lost nothing: this case has tested nothing");
    }
    CampaignFiles.delete(campaign.filesOf(failover, seed));
  }

  ReportTable table() {
    return FailoverReport.of(results);
  }

  @Override
  public void close() {
    mysql.close();
  }
}
