package io.gameq.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A measuring command of the laboratory, tiny, on the test servers and a fresh database. */
public final class LabCommand {
  private final String name;
  private final Path directory;
  private final List<String> options;
  private final MySqlServer database;

  /** With the options of every run, apart by blanks, and a directory for its files. */
  public LabCommand(String name, Path directory, String options) {
    this.name = name;
    this.directory = directory;
    this.options = List.of(options.split(" "));
    this.database = TestServers.mysql().freshDatabase(name);
  }

  public LabRun run(String... more) throws IOException {
    Path password = Files.writeString(directory.resolve("password"), database.password() + "\n");
    List<String> arguments = new ArrayList<>();
    arguments.add(name);
    arguments.addAll(options);
    arguments.addAll(
        List.of("--redis", TestServers.adminRedisUri(), "--mysql", database.jdbcUrl()));
    arguments.addAll(List.of("--mysql-user", database.user()));
    arguments.addAll(List.of("--mysql-password-file", password.toString()));
    arguments.addAll(List.of(more));
    return LabRun.of(arguments.toArray(String[]::new));
  }

  /** A figure of a result, which must be there. */
  public static double median(JsonNode json, String part, String what) {
    JsonNode figure = json.path("figures").path(part).path(what);
    assertTrue(figure.has("median"), () -> part + "/" + what + " of " + json.path("figures"));
    return figure.path("median").asDouble();
  }

  /** Of tables none, and no keys of these patterns. */
  public void assertNothingIsLeft(String... keys) throws SQLException {
    assertEquals(
        "0",
        database.queryText(
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"));
    try (StatefulRedisConnection<String, String> redis = TestServers.redis()) {
      for (String pattern : keys) {
        assertEquals(List.of(), redis.sync().keys(pattern), pattern);
      }
    }
  }

  /** A value that the command refuses: usage, exit code 2. Returns the first line of the error. */
  public static String refusal(String name, String option, String value) {
    LabRun run = LabRun.of(name, option, value);
    assertEquals(2, run.exitCode(), run::toString);
    return run.err().lines().findFirst().orElse("");
  }
}
