package io.gameq.writer.setup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** {@code config check} against real servers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConfigCheckTest {
  private static final String PASSWORD = "check-hidden";

  @TempDir private Path directory = Path.of(".");

  private final MySqlServer server = server();
  private String user = "";
  private String database = "";

  private static MySqlServer server() {
    try {
      return GameDatabase.create("check")
          .table(
              "item",
              "player",
              "player_id",
              "id BIGINT NOT NULL PRIMARY KEY, player_id BIGINT NOT NULL, twice BIGINT AS (id * 2)")
          .server();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeAll
  void createUser() throws SQLException {
    database = server.queryText("SELECT DATABASE()");
    user = "c" + database.substring(Math.max(0, database.length() - 12));
    server.execute(
        "INSERT IGNORE INTO gameq_setting VALUES ('namespace', 'mygame'), ('slots', '16')",
        "CREATE USER %s IDENTIFIED BY '%s'".formatted(user, PASSWORD),
        "GRANT SELECT, INSERT, UPDATE, DELETE ON `%s`.* TO %s".formatted(database, user));
  }

  private CommandLineRun check(String yaml, String... options) throws IOException {
    Path file = Files.writeString(directory.resolve("gameq.yaml"), yaml);
    String[] words = new String[4 + options.length];
    words[0] = "config";
    words[1] = "check";
    words[2] = "--config";
    words[3] = file.toString();
    System.arraycopy(options, 0, words, 4, options.length);
    CommandLineRun run = CommandLineRun.of(words);
    assertFalse((run.out() + run.err()).contains("hidden"), run.out() + run.err());
    return run;
  }

  private String yaml(int slots) {
    return """
    namespace: mygame
    slots: %d
    redis: { uri: "%s" }
    mysql: { url: "%s", user: %s, password: %s }
    tables: [{ name: item, owner: player, ownerColumn: player_id }]
    """
        .formatted(slots, TestServers.redisUri(), server.jdbcUrl(), user, PASSWORD);
  }

  private static void assertHas(String text, String... patterns) {
    for (String pattern : patterns) {
      assertTrue(
          text.lines().anyMatch(line -> line.matches(pattern)),
          () -> "no '" + pattern + "' in\n" + text);
    }
  }

  @Test
  void allIsWellWithTheRightsOfAWriter() throws IOException {
    CommandLineRun run = check(yaml(16));
    assertEquals(ExitCodes.OK, run.exitCode(), run.out() + run.err());
    assertHas(
        run.out(),
        "slots +16 +file",
        "writer.workers +4 +default",
        "mysql.password +\\*\\*\\* +file",
        "redis.passwordFile +none +default",
        "tables\\[1].name +item +file",
        "redis +ok +Redis .*, noeviction",
        "mysql +ok +(MySQL|MariaDB) .*",
        "database +ok +\\S+, namespace mygame with 16 slots",
        "tables +ok +1 managed table: item",
        "rights +ok .*");
  }

  @Test
  void eachProblemIsNamedAndEndsWithOne() throws Exception {
    CommandLineRun slots = check(yaml(32));
    assertEquals(ExitCodes.FOUND_SOMETHING, slots.exitCode());
    assertHas(slots.out(), "database +problem +.*slots 32, the database has 16.*");
    server.execute("REVOKE DELETE ON `%s`.* FROM %s".formatted(database, user));
    try {
      CommandLineRun rights = check(yaml(16));
      assertEquals(ExitCodes.FOUND_SOMETHING, rights.exitCode());
      assertHas(
          rights.out(),
          "rights +problem +the user lacks DELETE ON item: .*",
          "rights +problem +the user lacks DELETE ON gameq_owner: .*",
          "rights +problem +the user lacks DELETE ON gameq_dead_letter: .*");
      assertFalse(rights.out().contains("gameq_layout"), rights.out());
    } finally {
      server.execute("GRANT DELETE ON `%s`.* TO %s".formatted(database, user));
    }
    CommandLineRun away =
        check(yaml(16).replace(TestServers.redisUri(), "redis://127.0.0.1:1"), "--json");
    assertEquals(ExitCodes.FOUND_SOMETHING, away.exitCode());
    assertHas(
        away.out(),
        "\\{\"setting\":\"slots\",\"value\":\"16\",\"from\":\"file\"}",
        "\\{\"check\":\"redis\",\"weight\":\"problem\",\"text\":\"cannot connect.*",
        "\\{\"check\":\"rights\",\"weight\":\"ok\".*");
  }

  @Test
  void offlineAsksNoServerAndAWrongSettingIsTwo() throws IOException {
    String away = yaml(16).replace(TestServers.redisUri(), "redis://127.0.0.1:1");
    CommandLineRun run = check(away, "--offline");
    assertEquals(ExitCodes.OK, run.exitCode());
    assertTrue(run.out().contains("no server was asked"), run.out());
    CommandLineRun wrong = check("namespce: mygame\n", "--offline");
    assertEquals(ExitCodes.COULD_NOT_RUN, wrong.exitCode());
    assertTrue(
        wrong.err().contains("'namespce' is not a setting (did you mean namespace?)"), wrong.err());
  }
}
