package io.gameq.writer.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
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
  void theScriptOfCheckMendsEveryRefusalThatHasARemedyAndTheTablesAreManagedThen()
      throws Exception {
    Path yaml = init();
    CommandLineRun before = run("check", "--config", yaml.toString());
    assertEquals(ExitCodes.FOUND_SOMETHING, before.exitCode(), before.err());
    assertTrue(before.out().contains("table hero_visit: cannot be managed"), before.out());

    // What only a person can decide.
    game.execute(
        "UPDATE hero_stray SET hero_id = 1 WHERE hero_id IS NULL",
        "ALTER TABLE hero_scroll DROP PRIMARY KEY, MODIFY line VARCHAR(80) CHARACTER SET utf8mb4"
            + " COLLATE utf8mb4_bin NOT NULL, ADD PRIMARY KEY (hero_id, line)",
        "ALTER TABLE hero_note MODIFY note VARCHAR(50) CHARACTER SET utf8mb4",
        "ALTER TABLE hero_speed MODIFY walk DOUBLE, MODIFY run DOUBLE",
        "ALTER TABLE hero_old DROP COLUMN gq_version",
        "ALTER TABLE hero_older DROP COLUMN gq_version",
        "ALTER TABLE hero_book DROP COLUMN GQ_Version",
        "ALTER TABLE hero_sum DROP COLUMN gq_version");
    Files.delete(yaml);
    runScript(init());

    CommandLineRun again = run("check", "--fix-sql", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, again.exitCode(), again.out());
    assertTrue(again.out().startsWith("-- nothing that a statement mends"), again.out());
    assertEquals(List.of(), statements(again.out()));
    CommandLineRun migrate = run("migrate", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, migrate.exitCode(), migrate.out() + migrate.err());
    CommandLineRun check = run("check", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, check.exitCode(), check.out());
    try (MySql database = MySqlPool.open(game.config(2), "test")) {
      assertEquals(20, CatalogReader.read(database).requireManaged().tables().size());
    }
  }

  @Test
  void theScriptLeavesRowsDefaultsCommentsAndForeignKeysAsTheyWere() throws Exception {
    String keys =
        "SELECT GROUP_CONCAT(CONCAT(TABLE_NAME, ' ', CONSTRAINT_NAME) ORDER BY 1) FROM"
            + " information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()";
    String keysBefore = game.queryText(keys);
    runScript(init());
    assertEquals(keysBefore, game.queryText(keys));
    assertEquals("1", game.queryText("SELECT COUNT(*) FROM clan_log WHERE clan_tag = 'ash'"));
    assertEquals(
        "1:1,1:2,2:1",
        game.queryText(
            "SELECT GROUP_CONCAT(CONCAT(hero_id, ':', number) ORDER BY hero_id, number) FROM"
                + " hero_deed"));
    assertEquals("2", game.queryText("SELECT COUNT(DISTINCT id) FROM hero_visit"));
    assertEquals(
        "name of it / none",
        game.queryText(
            "SELECT CONCAT(COLUMN_COMMENT, ' / ', TRIM(BOTH '''' FROM COLUMN_DEFAULT)) FROM"
                + " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME ="
                + " 'hero_title' AND COLUMN_NAME = 'title'"));
  }

  @Test
  void checkRunsTheScriptItselfOnlyWhenTheOperatorAgrees() throws Exception {
    Path yaml = init();
    String engine =
        "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND"
            + " TABLE_NAME = 'hero_deed'";
    CommandLineRun asked = run("check", "--fix", "--config", yaml.toString());
    assertEquals(ExitCodes.COULD_NOT_RUN, asked.exitCode(), asked.out());
    assertTrue(asked.out().contains("ALTER TABLE `hero_deed`"), asked.out());
    assertEquals("MyISAM", game.queryText(engine));
    CommandLineRun fixed = run("check", "--fix", "--yes", "--config", yaml.toString());
    assertEquals(ExitCodes.OK, fixed.exitCode(), fixed.out());
    assertTrue(fixed.out().contains("table hero_deed: ok"), fixed.out());
    assertEquals("InnoDB", game.queryText(engine));
    CommandLineRun again = run("check", "--fix-sql", "--config", yaml.toString());
    assertEquals(List.of(), statements(again.out()));
  }

  @Test
  void theScriptSaysWhatItChangesAndWhatIsLeftToAPerson() throws Exception {
    Path yaml =
        config(
            """
            - { name: hero_stray, owner: hero, ownerColumn: hero_id }
            - { name: hero_pet, owner: hero, ownerColumn: hero_id }
            - { name: hero_note, owner: hero, ownerColumn: hero_id }
            - { name: hero_speed, owner: hero, ownerColumn: hero_id }
            - { name: hero_scroll, owner: hero, ownerColumn: hero_id }
            - { name: hero_book, owner: hero, ownerColumn: hero_id }
            - { name: hero_visit, owner: hero, ownerColumn: hero_id }
            - { name: clan_chest, owner: clan, ownerColumn: clan_tag }
            """);
    String script = run("check", "--fix-sql", "--config", yaml.toString()).out();
    for (String text :
        List.of(
            "delete them; SELECT * FROM `hero_stray` WHERE `hero_id` IS NULL finds them",
            "a foreign key would set the owner to NULL: it restricts from then on",
            "column note: character set sjis is not supported: use utf8mb4",
            "float(7,2) rounds what it stores: use DECIMAL",
            "covers only a prefix of column line",
            "column GQ_Version is not BIGINT UNSIGNED NOT NULL DEFAULT 0",
            "table clan_log changes too: foreign keys tie their columns",
            "a proposal: a new column id numbers the rows")) {
      assertTrue(script.contains(text), text + "\n" + script);
    }
    for (String statement : statements(script)) {
      assertFalse(
          statement.matches("(?is).*\\b(delete from|truncate|drop (table|column))\\b.*"),
          statement);
    }
  }

  @Test
  void whatNoStatementMendsIsSaidWithAWayOut() throws Exception {
    Path yaml =
        config(
            """
            - { name: hero_place, owner: hero, ownerColumn: hero_id }
            - { name: hero_rumour, owner: hero, ownerColumn: hero_id }
            - { name: hero_spot, owner: hero, ownerColumn: hero_id }
            - { name: hero_flag, owner: hero, ownerColumn: hero_id }
            - { name: hero_hash, owner: hero, ownerColumn: hero_id }
            - { name: hero_track, owner: hero, ownerColumn: hero_id }
            - { name: birthday, owner: hero, ownerColumn: mine }
            - { name: weather, owner: hero, ownerColumn: day }
            - { name: duel, owner: Hero, ownerColumn: judge_by }
            - { name: hero_names, owner: hero, ownerColumn: name }
            - { name: hero_bags, owner: hero, ownerColumn: hero_id }
            """);
    CommandLineRun run = run("check", "--fix-sql", "--config", yaml.toString());
    assertEquals(ExitCodes.FOUND_SOMETHING, run.exitCode());
    assertEquals(List.of(), statements(run.out()));
    for (String reason :
        List.of(
            "column spot: column type point is not supported",
            "covers only a prefix of column line: make it cover all of it",
            "SELECT MAX(CHAR_LENGTH(`line`)) FROM `hero_rumour`",
            "key column x: a floating-point key column",
            "key column flag: a BIT key column: use an unsigned integer",
            "its primary key takes at least 528 bytes encoded, the limit is 512",
            "it has no primary key: it is partitioned, so the key must have the columns",
            "owner column mine is generated",
            "owner column day is date: use an integer, CHAR, VARCHAR or BINARY(16)",
            "it has no owner column judge_by (did you mean judged_by?): correct the configuration",
            "owner kind 'Hero' is not a-z, then up to 31 of a-z 0-9 _: correct the configuration",
            "it is a view, not a table",
            "?): correct the configuration",
            "no such table in database '",
            "' (did you mean hero_bag")) {
      assertTrue(run.out().contains(reason), reason + "\n" + run.out());
    }
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
    Path yaml = config("- { name: hero_log, owner: hero, ownerColumn: HERO_ID }\n");
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

  private Path config(String tables) throws IOException {
    return Files.writeString(
        directory.resolve("some.yaml"),
        """
        namespace: mygame
        redis: { uri: "redis://127.0.0.1" }
        mysql: { url: "%s", user: "%s", password: "%s" }
        tables:
        """
                .formatted(game.jdbcUrl(), game.user(), game.password())
            + tables);
  }

  /** Runs what {@code check --fix-sql} prints, in one session as a client does. */
  private void runScript(Path yaml) throws Exception {
    CommandLineRun script = run("check", "--fix-sql", "--config", yaml.toString());
    assertEquals(ExitCodes.FOUND_SOMETHING, script.exitCode(), script.err());
    game.execute(statements(script.out()).toArray(String[]::new));
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
