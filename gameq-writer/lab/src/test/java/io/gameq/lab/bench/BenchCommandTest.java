package io.gameq.lab.bench;

import static io.gameq.lab.LabCommand.median;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.gameq.lab.LabCommand;
import io.gameq.lab.LabRun;
import io.gameq.lab.report.ResultJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tiny benchmarks on the test servers: that they work, not how fast. */
class BenchCommandTest {
  @TempDir Path directory;

  private LabCommand bench;

  @BeforeEach
  void prepare() {
    bench =
        new LabCommand(
            "bench",
            directory,
            "--players 20 --rows-per-player 6 --actions 200 --rounds 1 --warm-up 0"
                + " --seconds 3 --merge-window 50");
  }

  @Test
  @Tag("long")
  void measuresEveryPartAndFindsMySqlAsItMustBe() throws IOException, SQLException {
    Path file = directory.resolve("result.json");
    LabRun run = bench.run("--rewrites", "2", "--json", file.toString());
    assertEquals(0, run.exitCode(), run::toString);
    JsonNode json = ResultJson.read(file);
    assertTrue(json.path("flawless").asBoolean(), json::toString);
    List<String> checks = new ArrayList<>();
    json.path("checks").fieldNames().forEachRemaining(checks::add);
    assertEquals(
        List.of("warm-up 1", "warm-up 2", "round 1 of 1", "both", "backlog", "recovery"), checks);
    for (String part : List.of("closed", "paced", "pressure", "both")) {
      assertTrue(median(json, part, "commits") > 0, part);
      assertTrue(median(json, part, "allocated for each row change") > 0, part);
      assertTrue(median(json, part, "queued p50") > 0, part);
    }
    assertEquals(1, median(json, "drain", "rows written for each distinct row"));
    assertTrue(
        json.at("/figures/pressure/commits/shareOfLimit").asDouble() > 0, "share of raw Redis");
    assertTrue(json.at("/figures/drain/rows/shareOfLimit").asDouble() > 0, "share of raw MySQL");
    assertTrue(median(json, "limits", "plain client's commits") > 0);
    assertEquals(120, median(json, "backlog", "rows that wait"));
    assertTrue(median(json, "backlog", "Redis bytes for each encoded byte") > 1);
    assertTrue(median(json, "backlog", "rows of a batch") > 0);
    assertTrue(median(json, "recovery", "rows lost by Redis") > 0);
    assertFalse(json.at("/series/both/backlog/values").isEmpty(), json::toString);
    assertEquals(1, json.at("/options/seed").asInt());
    assertTrue(json.at("/machine/cores").asInt() > 0);
    assertEquals("noeviction", json.at("/servers/redis/maxmemory-policy").asText());
    assertTrue(json.at("/servers/mysql").has("innodb_flush_log_at_trx_commit"), json::toString);
    assertTrue(run.out().contains("check after recovery: "), run::toString);
    bench.assertNothingIsLeft("{bench-*", "{raw-bench-*");
  }

  @Test
  @Tag("long")
  void deletesAndHandOversAreMeasuredAndNothingIsLost() throws IOException, SQLException {
    Path file = directory.resolve("result.json");
    LabRun run =
        bench.run(
            "--deletes",
            "0.2",
            "--hand-overs",
            "0.05",
            "--parts",
            "closed,both",
            "--json",
            file.toString());
    assertEquals(0, run.exitCode(), run::toString);
    assertTrue(median(ResultJson.read(file), "closed", "hand-over p50") > 0);
    bench.assertNothingIsLeft("{bench-*", "{raw-bench-*");
  }

  @Test
  @Tag("long")
  void growthIsMeasuredAtEachPointAndCanBeDrawn() throws IOException, SQLException {
    Path file = directory.resolve("result.json");
    LabRun run = bench.run("--growth", "backlog", "--growth-max", "60", "--json", file.toString());
    assertEquals(0, run.exitCode(), run::toString);
    JsonNode points = ResultJson.read(file).at("/growth/backlog/points");
    assertEquals(1, points.size(), points::toString);
    assertEquals(60, points.at("/0/x").asInt());
    for (String what :
        List.of("commits", "drained rows", "login p50", "claim of an idle slot p99")) {
      assertTrue(
          points.at("/0/figures").path(what).path("value").asDouble() > 0,
          () -> what + " of " + points);
    }
    bench.assertNothingIsLeft("{bench-*", "{raw-bench-*");

    LabRun drawn = LabRun.of("bench", "--plot", file.toString(), "--out", directory.toString());
    assertEquals(0, drawn.exitCode(), drawn::toString);
    assertTrue(Files.exists(directory.resolve("growth-backlog.svg")), drawn::toString);
  }

  @ParameterizedTest
  @CsvSource({
    "--players,0,it must be 1 to 1000000",
    "--rows-per-commit,21,it must be 1 to 20",
    "--row-bytes,19,it must be 20 to 60000",
    "--deletes,1.5,it must be 0 to 1",
    "--hand-overs,-1,it must be 0 to 1",
    "--skew,11,it must be 0 to 10",
    "--threads,65,it must be 1 to 64",
    "--slots,3,it must be a power of two",
    "--rounds,0,it must be 1 to 100",
    "--warm-up,3601,it must be 0 to 3600",
    "--backlog-rows,400001,it must be 1 to 400000",
    "--growth-max,-1,it must be 0 to",
    "--parts,dran,expected one of",
    "--json,/no/such/place/result.json,there is no directory"
  })
  void aBadValueNamesTheOptionAndItsRange(String option, String value, String range) {
    String first = LabCommand.refusal("bench", option, value);
    assertTrue(first.contains(option), first);
    assertTrue(first.contains(range), first);
  }

  @Test
  void aFileThatIsNoResultIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("other.json"), "{}");
    LabRun run = LabRun.of("bench", "--plot", file.toString());
    assertEquals(2, run.exitCode(), run::toString);
    assertTrue(run.err().contains("is not the result of a benchmark"), run::toString);
    assertFalse(Files.exists(Path.of("growth-backlog.svg")));
  }
}
