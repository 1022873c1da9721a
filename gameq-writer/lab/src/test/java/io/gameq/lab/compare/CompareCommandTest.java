package io.gameq.lab.compare;

import static io.gameq.lab.LabCommand.median;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.gameq.lab.LabCommand;
import io.gameq.lab.LabRun;
import io.gameq.lab.report.ResultJson;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tiny comparisons on the test servers: that they work and find losses, not how fast. Kills take
 * longer: the check of a submission runs one.
 */
class CompareCommandTest {
  @TempDir Path directory;

  private LabCommand compare;

  @BeforeEach
  void prepare() {
    compare = compareFor(1);
  }

  private LabCommand compareFor(int seconds) {
    return new LabCommand(
        "compare",
        directory,
        "--players 40 --warm-up 0 --threads 2 --merge-window 50 --workers 2 --heap 192m --seconds "
            + seconds);
  }

  private Path result() {
    return directory.resolve("result.json");
  }

  /** The exit code tells of gameq alone. */
  private LabRun oneRound(LabCommand command, String... options) throws IOException {
    String[] common = {"--rounds", "1", "--kills", "0", "--json", result().toString()};
    LabRun run = command.run(Stream.of(common, options).flatMap(Stream::of).toArray(String[]::new));
    assertEquals(0, run.exitCode(), run::toString);
    return run;
  }

  @Test
  @Tag("long")
  void gameqAndTheLimitsAreMeasuredAlikeAndNothingIsLost() throws Exception {
    oneRound(compare, "--contenders", "gameq,raw-redis,raw-mysql");
    JsonNode json = ResultJson.read(result());
    assertTrue(json.path("flawless").asBoolean(), json::toString);
    for (String part : List.of("gameq, closed loop", "gameq, asynchronous", "raw-redis, limits")) {
      assertTrue(median(json, part, "row changes") > 0, part);
    }
    for (String part : List.of("gameq, closed loop", "raw-mysql, limits")) {
      assertTrue(median(json, part, "row changes from end to end") > 0, part);
      assertEquals(1, median(json, part, "MySQL held everything"), part);
    }
    for (String process : List.of("all processes", "game's process", "writer's process")) {
      String what = "processor for each row change, " + process;
      assertTrue(median(json, "gameq, asynchronous", what) > 0, what);
    }
    double written = median(json, "gameq, asynchronous", "rows written in all");
    assertTrue(written >= median(json, "gameq, asynchronous", "distinct rows"), "asked the writer");
    assertTrue(written <= median(json, "gameq, asynchronous", "row changes in all"));
    assertEquals("50 ms", json.at("/options/settings/gameq/merge window").asText());
    assertEquals("gameq", json.at("/options/contenders/0").asText());
    assertTrue(json.at("/options/childFlags").toString().contains("-Xmx192m"), json::toString);
    compare.assertNothingIsLeft("*compare-*");
  }

  @Test
  @Tag("campaign")
  void aLoadOfAGivenPaceIsSampledWhileItLasts() throws Exception {
    LabRun run = oneRound(compareFor(10), "--contenders", "gameq", "--rate", "200");
    JsonNode json = ResultJson.read(result());
    double actions = median(json, "gameq, paced", "row changes in all") / 3;
    assertTrue(actions > 100 && actions <= 2000, () -> "ten seconds of 200: " + actions);
    JsonNode series = json.at("/series/gameq, paced");
    for (String what : List.of("row changes", "p50", "p99", "Redis memory")) {
      JsonNode values = series.path(what).path("values");
      assertTrue(values.size() >= 2, () -> what + " of each tenth, as far as it came: " + values);
      assertTrue(values.get(values.size() - 1).asDouble() > 0, () -> what + ": " + values);
    }
    assertTrue(run.out().contains("| gameq, paced, s | row changes, 1/s | p50, us |"), run::out);
  }

  @Test
  void aContenderThatForgetsIsFoundOut() throws Exception {
    LabRun run = oneRound(compare, "--contenders", "forgetful", "--in-flight", "1");
    assertTrue(run.err().contains("LOST "), run::toString);
    JsonNode json = ResultJson.read(result());
    assertTrue(median(json, "forgetful, closed loop", "lost changes") > 0);
    assertTrue(median(json, "forgetful, closed loop", "torn actions") > 0);
    assertEquals(0, median(json, "forgetful, closed loop", "MySQL held everything"));
  }

  @ParameterizedTest
  @CsvSource({
    "--contenders,nobody,no contender 'nobody' here: there are [sync-3",
    "--rounds,101,it must be 0 to 100",
    "--kills,-1,it must be 0 to 100",
    "--seconds,0,it must be 1 to 86400",
    "--warm-up,3601,it must be 0 to 3600",
    "--rate,1000001,it must be 0 to 1000000",
    "--in-flight,10001,it must be 0 to 10000",
    "--workers,0,it must be 1 to 64",
    "--threads,65,it must be 1 to 64",
    "--json,/no/such/place/result.json,there is no directory"
  })
  void aBadValueSaysWhatThereIs(String option, String value, String expected) {
    String first = LabCommand.refusal("compare", option, value);
    assertTrue(first.contains(expected), first);
  }
}
