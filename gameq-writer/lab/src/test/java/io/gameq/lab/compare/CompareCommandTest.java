package io.gameq.lab.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.gameq.lab.LabRun;
import io.gameq.lab.report.ResultJson;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
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

  private final MySqlServer database = TestServers.mysql().freshDatabase("compare");

  private LabRun compare(String... more) throws IOException {
    Path password = Files.writeString(directory.resolve("password"), database.password() + "\n");
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("compare", "--players", "40", "--actions", "800", "--threads", "2"));
    arguments.addAll(List.of("--merge-window", "50", "--heap", "192m"));
    arguments.addAll(List.of("--redis", TestServers.redisUri(), "--mysql", database.jdbcUrl()));
    arguments.addAll(List.of("--mysql-user", database.user()));
    arguments.addAll(List.of("--mysql-password-file", password.toString()));
    arguments.addAll(List.of(more));
    return LabRun.of(arguments.toArray(String[]::new));
  }

  private static double median(JsonNode json, String part, String what) {
    JsonNode figure = json.path("figures").path(part).path(what);
    assertTrue(figure.has("median"), () -> part + "/" + what + " of " + json.path("figures"));
    return figure.path("median").asDouble();
  }

  @Test
  void gameqAndTheLimitsAreMeasuredAlikeAndNothingIsLost() throws Exception {
    Path file = directory.resolve("result.json");
    LabRun run =
        compare(
            "--contenders",
            "gameq,raw-redis,raw-mysql",
            "--rounds",
            "1",
            "--kills",
            "0",
            "--json",
            file.toString());
    assertEquals(0, run.exitCode(), run::toString);
    JsonNode json = ResultJson.read(file);
    assertTrue(json.path("flawless").asBoolean(), json::toString);
    for (String part :
        List.of("gameq, closed loop", "gameq, pressure 64", "raw-redis, pressure 1024")) {
      assertTrue(median(json, part, "row changes") > 0, part);
    }
    for (String part : List.of("gameq, closed loop", "raw-mysql, pressure 1024")) {
      assertTrue(median(json, part, "row changes from end to end") > 0, part);
      assertEquals(1, median(json, part, "MySQL held everything"), part);
    }
    assertTrue(median(json, "gameq, pressure 64", "rows written in all") <= 800 * 3);
    assertEquals("gameq", json.at("/options/contenders/0").asText());
    assertTrue(json.at("/options/childFlags").toString().contains("-Xmx192m"), json::toString);
    assertNothingIsLeft();
  }

  @Test
  void aContenderThatForgetsIsFoundOut() throws Exception {
    Path file = directory.resolve("result.json");
    LabRun run =
        compare(
            "--contenders",
            "forgetful",
            "--rounds",
            "1",
            "--kills",
            "0",
            "--json",
            file.toString());
    assertEquals(0, run.exitCode(), "the exit code tells of gameq alone");
    assertTrue(run.err().contains("LOST "), run::toString);
    JsonNode json = ResultJson.read(file);
    assertTrue(median(json, "forgetful, closed loop", "lost changes") > 0);
    assertTrue(median(json, "forgetful, closed loop", "torn actions") > 0);
    assertEquals(0, median(json, "forgetful, closed loop", "MySQL held everything"));
  }

  private void assertNothingIsLeft() throws SQLException {
    assertEquals(
        "0",
        database.queryText(
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"));
    try (StatefulRedisConnection<String, String> redis = TestServers.redis()) {
      assertEquals(List.of(), redis.sync().keys("*compare-*"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--contenders,nobody,no contender 'nobody' here: there are [sync-3",
    "--rounds,101,it must be 0 to 100",
    "--kills,-1,it must be 0 to 100",
    "--actions,3,it must be 4 to",
    "--in-flight,10001,it must be 0 to 10000",
    "--workers,0,it must be 1 to 64",
    "--threads,65,it must be 1 to 64",
    "--json,/no/such/place/result.json,there is no directory"
  })
  void aBadValueSaysWhatThereIs(String option, String value, String expected) {
    LabRun run = LabRun.of("compare", option, value);
    assertEquals(2, run.exitCode(), run::toString);
    String first = run.err().lines().findFirst().orElse("");
    assertTrue(first.contains(expected), first);
  }
}
