package io.gameq.writer.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.CommandLineRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** From a schema with everything that stands against a table to one that is managed. */
@Execution(ExecutionMode.CONCURRENT)
class SchemaFixTest {
  @TempDir private Path directory = Path.of(".");
  private final MySqlServer game = TestServers.mysql().freshDatabase("fix");

  @BeforeEach
  void createTables() throws Exception {
    try (var file = SchemaFixTest.class.getResourceAsStream("every-refusal.sql")) {
      String sql = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
      game.execute(statements(sql).toArray(String[]::new));
    }
  }

  @Test
  void whatInitDraftsIsMendedByTheScriptOfCheckAndThenMigratedAndFoundGood() throws Exception {
    Path yaml = init();
    CommandLineRun before = run("check", "--config", yaml.toString());
    assertEquals(ExitCodes.FOUND_SOMETHING, before.exitCode(), before.err());
    assertTrue(before.out().contains("table hero_visit: cannot be managed"), before.out());

    CommandLineRun script = run("check", "--fix-sql", "--config", yaml.toString());
    assertEquals(ExitCodes.FOUND_SOMETHING, script.exitCode(), script.err());
    for (String statement : statements(script.out())) {
      game.execute(statement);
    }

    CommandLineRun migrate = run("migrate", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, migrate.exitCode(), migrate.out() + migrate.err());
    CommandLineRun check = run("check", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, check.exitCode(), check.out());
    CommandLineRun again = run("check", "--fix-sql", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, again.exitCode(), again.out());
    assertTrue(again.out().startsWith("-- nothing that a statement mends"), again.out());
    // What was in the tables is there, and a default and a comment stayed with their column.
    assertEquals("1", game.queryText("SELECT COUNT(*) FROM clan_log WHERE clan_tag = 'ash'"));
    assertEquals(
        "name of it / none",
        game.queryText(
            "SELECT CONCAT(COLUMN_COMMENT, ' / ', TRIM(BOTH '''' FROM COLUMN_DEFAULT)) FROM"
                + " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME ="
                + " 'hero_title' AND COLUMN_NAME = 'title'"));
  }

  @Test
  void initNamesTheReasonOfEachGuessAndWhatItLeavesOut() throws Exception {
    String draft = Files.readString(init());
    assertTrue(
        draft.contains(
            "- { name: heroes, owner: hero, ownerColumn: id }  # its rows are the owners"),
        draft);
    assertTrue(
        draft.contains(
            "- { name: hero_bag, owner: hero, ownerColumn: hero_id }  # foreign key to heroes"),
        draft);
    assertTrue(draft.contains("- { name: clan_chest, owner: clan, ownerColumn: clan_tag }"), draft);
    assertTrue(
        draft.contains("{ name: hero_visit, owner: hero, ownerColumn: hero_id }  # named after"),
        draft);
    assertTrue(draft.contains("#     ! its engine is MyISAM: use InnoDB"), draft);
    assertTrue(draft.contains("#     trigger hero_made of heroes writes it past gameq"), draft);
    assertTrue(
        draft.contains(
            "# - { name: hero_place, owner: hero, ownerColumn: hero_id }: "
                + "cannot be managed, column spot: column type point is not supported"),
        draft);
    assertTrue(draft.contains("# hero_names: it is a view"), draft);
    assertTrue(draft.contains("# weather: no column names an owner"), draft);
    assertTrue(
        draft.contains("# - { name: duel, owner: hero, ownerColumn: judged_by }: not sure"), draft);
  }

  @Test
  void initWritesNoFileThatIsThere() throws Exception {
    Path yaml = init();
    String first = Files.readString(yaml);
    CommandLineRun run = runInit(yaml);
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode());
    assertTrue(run.err().contains("there is a file " + yaml), run.err());
    assertEquals(first, Files.readString(yaml));
  }

  @Test
  void initTakesTheOwnerColumnsThatAreAskedFor() throws Exception {
    CommandLineRun run =
        run(
            "init",
            "--mysql",
            game.jdbcUrl(),
            "--mysql-user",
            game.user(),
            "--mysql-password-file",
            password().toString(),
            "--owner-column",
            "JUDGED_BY",
            "--owner-column",
            "clan_tag");
    assertEquals(ExitCodes.OK, run.exitCode(), run.err());
    assertTrue(
        run.out().contains("- { name: duel, owner: hero, ownerColumn: judged_by }  # foreign key"),
        run.out());
    assertTrue(run.out().contains("name: clan_log, owner: clan"), run.out());
    assertFalse(run.out().contains("- { name: hero_bag"), run.out());
  }

  @Test
  void checkComparesColumnsAsMySqlDoesAndNamesWhatWritesATableBesidesGameq() throws Exception {
    Path yaml = directory.resolve("some.yaml");
    Files.writeString(
        yaml,
        """
        namespace: mygame
        redis: { uri: "redis://127.0.0.1" }
        mysql: { url: "%s", user: "%s", password: "%s" }
        tables: [{ name: hero_log, owner: hero, ownerColumn: HERO_ID }]
        """
            .formatted(game.jdbcUrl(), game.user(), game.password()));
    CommandLineRun migrate = run("migrate", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, migrate.exitCode(), migrate.out() + migrate.err());
    assertEquals("hero_id", game.queryText("SELECT owner_column FROM gameq_table"));
    CommandLineRun check = run("check", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, check.exitCode(), check.out());
    assertTrue(check.out().contains("table hero_log: ok"), check.out());
    assertTrue(
        check
            .out()
            .contains("trigger hero_made of heroes inserts into this table without a list of"),
        check.out());
  }

  private Path init() throws IOException {
    Path yaml = directory.resolve("gameq.yaml");
    CommandLineRun run = runInit(yaml);
    assertEquals(ExitCodes.OK, run.exitCode(), run.err());
    return yaml;
  }

  private CommandLineRun runInit(Path out) throws IOException {
    return run(
        "init",
        "--mysql",
        game.jdbcUrl(),
        "--mysql-user",
        game.user(),
        "--mysql-password-file",
        password().toString(),
        "--namespace",
        "mygame",
        "--out",
        out.toString());
  }

  private Path password() throws IOException {
    return Files.writeString(directory.resolve("password"), game.password());
  }

  private static CommandLineRun run(String command, String... options) {
    List<String> arguments = new ArrayList<>(List.of("schema", command));
    arguments.addAll(List.of(options));
    return CommandLineRun.of(arguments.toArray(String[]::new));
  }

  /** As a client would run it: comments are left out, a semicolon ends a line. */
  private static List<String> statements(String script) {
    String sql = Pattern.compile("(?m)^\\s*--.*$").matcher(script).replaceAll("");
    List<String> statements = new ArrayList<>();
    for (String statement : sql.split(";\\R", -1)) {
      if (!statement.isBlank()) {
        statements.add(statement.strip());
      }
    }
    return statements;
  }
}
