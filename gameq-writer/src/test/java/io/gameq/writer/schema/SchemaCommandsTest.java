package io.gameq.writer.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.schema.Settings.SchemaFiles;
import io.gameq.rights.MySqlRights;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.sign.Protocol;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The schema commands against a real server, from the command line to the tables. */
@Execution(ExecutionMode.CONCURRENT)
class SchemaCommandsTest {
  private static final String GOOD =
      """
      tables:
        - { name: player, owner: player, ownerColumn: id }
        - { name: player_item, owner: player, ownerColumn: player_id }
      """;

  @TempDir private Path directory = Path.of(".");
  private final MySqlServer game = TestServers.mysql().freshDatabase("schema");

  @BeforeEach
  void createGameTables() throws SQLException {
    game.execute(
        "CREATE TABLE player (id INT NOT NULL PRIMARY KEY, name VARCHAR(32) NOT NULL)",
        "CREATE TABLE player_item (id BIGINT NOT NULL PRIMARY KEY, player_id INT NOT NULL,"
            + " INDEX (player_id))",
        "CREATE TABLE no_key (player_id INT NOT NULL)",
        "INSERT INTO player VALUES (1, 'Ann')");
  }

  @Test
  void secondMigrationHasNothingToDo() throws Exception {
    assertEquals(ExitCodes.FOUND_SOMETHING, check(GOOD).exitCode());

    CommandLineRun first = migrate(GOOD);
    assertEquals(ExitCodes.OK, first.exitCode(), first.err());
    assertTrue(first.out().contains("done: version column of player_item"), first.out());
    assertFalse(first.out().contains("setting schema"), first.out());
    assertEquals("2", game.queryText("SELECT COUNT(*) FROM gameq_table"));
    assertEquals("0", game.queryText("SELECT gq_version FROM player WHERE id = 1"));
    assertEquals("mygame", setting("namespace"));
    assertEquals("256", setting("slots"));
    assertEquals(Integer.toString(SchemaFiles.latest()), setting("schema"));
    assertTrue(
        setting("protocol").startsWith("1 " + Protocol.RELEASE), "a new database is at the newest");

    CommandLineRun second = migrate(GOOD);
    assertEquals(ExitCodes.OK, second.exitCode());
    assertEquals("nothing to do\n", second.out());
    CommandLineRun check = check(GOOD);
    assertEquals(ExitCodes.OK, check.exitCode(), check.out());
    assertTrue(check.out().contains("table player_item: ok"), check.out());
  }

  @Test
  void dryRunPrintsTheExactSqlAndChangesNothing() throws Exception {
    CommandLineRun dry = migrate(GOOD, "--dry-run");
    assertEquals(ExitCodes.OK, dry.exitCode(), dry.err());
    assertEquals("3", countTables());
    assertEquals("", columnsNamed("gq_version"));

    // What it printed is all there is to do.
    for (String statement : dry.out().split(";\n", -1)) {
      if (!statement.isBlank()) {
        game.execute(statement);
      }
    }
    assertEquals("nothing to do\n", migrate(GOOD).out());
  }

  @Test
  void otherSlotsAndOtherNamespacesAreRefused() throws Exception {
    assertEquals(ExitCodes.OK, migrate(GOOD).exitCode());
    CommandLineRun slots = migrate("slots: 32\n" + GOOD);
    assertEquals(ExitCodes.COULD_NOT_RUN, slots.exitCode());
    assertTrue(slots.err().contains("slots 32, the database has 256"), slots.err());
    assertEquals("256", setting("slots"));
    game.execute("UPDATE gameq_setting SET value = 'other' WHERE name = 'namespace'");
    CommandLineRun namespace = check(GOOD);
    assertEquals(ExitCodes.COULD_NOT_RUN, namespace.exitCode());
    assertTrue(namespace.err().contains("namespace mygame, the database has other"));
  }

  @Test
  void aColumnThatIsGoneIsAskedForAndAnnounced() throws Exception {
    assertEquals(ExitCodes.OK, migrate(GOOD).exitCode());
    game.execute(
        "ALTER TABLE player ADD COLUMN level INT NOT NULL",
        "INSERT INTO gameq_layout VALUES ('player', 7, 'id int,name varchar(32) utf8mb4,level"
            + " int')");
    assertFalse(check(GOOD).out().contains("warning: rows were once written"));
    CommandLineRun unknown = run("drop-column", config(GOOD), "player", "levle");
    assertEquals(ExitCodes.COULD_NOT_RUN, unknown.exitCode());
    assertTrue(unknown.err().contains("has no column levle"), unknown.err());
    CommandLineRun key = run("drop-column", config(GOOD), "player", "ID");
    assertTrue(key.err().contains("names the row or its owner"), key.err());

    game.execute("ALTER TABLE player DROP COLUMN level");
    CommandLineRun gone = check(GOOD);
    assertEquals(ExitCodes.OK, gone.exitCode(), gone.out());
    assertTrue(gone.out().contains("run 'schema drop-column player level'"), gone.out());
    CommandLineRun announced = run("drop-column", config(GOOD), "player", "level");
    assertEquals(
        "player.level: rows are written without it from now on\n", announced.out(), announced::err);
    assertFalse(check(GOOD).out().contains("level"));

    game.execute("ALTER TABLE player ADD COLUMN level INT NOT NULL");
    assertTrue(check(GOOD).out().contains("'schema drop-column --undo player level'"));
    CommandLineRun undone = run("drop-column", config(GOOD), "--undo", "player", "level");
    assertEquals("player.level: rows with a value for it wait when it is gone\n", undone.out());
    assertFalse(check(GOOD).out().contains("level"));
    assertEquals("2", game.queryText("SELECT COUNT(*) FROM gameq_audit"));
  }

  @Test
  void aCloneGetsAnIdentityOfItsOwn() throws Exception {
    assertEquals(ExitCodes.OK, migrate(GOOD).exitCode());
    String before = setting("database");
    assertEquals(32, before.length());
    CommandLineRun unasked = run("new-identity", config(GOOD));
    assertEquals(ExitCodes.COULD_NOT_RUN, unasked.exitCode());
    assertEquals(before, setting("database"));

    CommandLineRun asked = run("new-identity", config(GOOD), "--yes");
    assertEquals(ExitCodes.OK, asked.exitCode(), asked.err());
    assertNotEquals(before, setting("database"));
    assertTrue(asked.out().contains(setting("database")), asked.out());

    CommandLineRun back = run("new-identity", config(GOOD), "--as", before, "--yes");
    assertEquals(ExitCodes.OK, back.exitCode(), back.err());
    assertEquals(before, setting("database"));
    assertEquals(
        ExitCodes.COULD_NOT_RUN, run("new-identity", config(GOOD), "--as", "x").exitCode());
    assertEquals("nothing to do\n", migrate(GOOD).out());
  }

  @Test
  void unmanageableTablesAreListedAndTheOthersMigrated() throws Exception {
    String tables =
        GOOD
            + "  - { name: no_key, owner: player, ownerColumn: player_id }\n"
            + "  - { name: absent, owner: player, ownerColumn: player_id }\n";
    CommandLineRun run = migrate(tables);
    assertEquals(ExitCodes.FOUND_SOMETHING, run.exitCode(), run.err());
    assertTrue(run.out().contains("table no_key: cannot be managed\n    reason: "), run.out());
    assertTrue(run.out().contains("table absent: cannot be managed\n    reason: "), run.out());
    assertEquals("2", game.queryText("SELECT COUNT(*) FROM gameq_table"));
    assertEquals("player,player_item", columnsNamed("gq_version"));
    assertEquals(ExitCodes.FOUND_SOMETHING, check(tables).exitCode());
  }

  @Test
  void aTableIsRebuiltOnlyWhenToldTo() throws Exception {
    game.execute(
        "CREATE TABLE packed (id INT NOT NULL PRIMARY KEY, FULLTEXT INDEX (note),"
            + " note TEXT NOT NULL) ROW_FORMAT=COMPRESSED");
    String tables = "tables: [{ name: packed, owner: player, ownerColumn: id }]";
    CommandLineRun dry = migrate(tables, "--dry-run");
    assertTrue(dry.out().contains("-- if the server cannot: ALTER TABLE `packed`"), dry.out());
    CommandLineRun refused = migrate(tables);
    assertEquals(ExitCodes.COULD_NOT_RUN, refused.exitCode(), refused.out());
    assertTrue(refused.err().contains("--allow-rebuild"), refused.err());
    assertEquals("", columnsNamed("gq_version"));
    CommandLineRun run = migrate(tables, "--allow-rebuild");
    assertEquals(ExitCodes.OK, run.exitCode(), run.out() + run.err());
    assertTrue(run.out().contains("packed (not instantly: rebuilt the table)"), run.out());
    assertEquals("packed", columnsNamed("gq_version"));
  }

  @Test
  void valuesOfATimeWithoutStrictModeAreWarnedOf() throws Exception {
    game.execute(
        "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'",
        "CREATE TABLE born (id INT NOT NULL PRIMARY KEY, never DATE NOT NULL DEFAULT '0000-00-00',"
            + " bad DATETIME NOT NULL, good TIMESTAMP NULL, leap DATE, sex ENUM('f', 'm'),"
            + " color ENUM('', 'red'))",
        "INSERT INTO born VALUES (1, '2020-01-01', '2020-01-00 00:00:00', '2020-01-01 00:00:00',"
            + " '2004-02-31', 'x', '')");
    CommandLineRun check = check("tables: [{ name: born, owner: player, ownerColumn: id }]");
    assertTrue(check.out().contains("warning: column never has a date with a zero"), check.out());
    assertTrue(check.out().contains("column bad holds dates that do not exist"), check.out());
    assertTrue(check.out().contains("column leap holds dates that do not exist"), check.out());
    assertTrue(check.out().contains("column sex holds the empty text"), check.out());
    assertFalse(check.out().contains("column color"), check.out());
    assertFalse(check.out().contains("column never holds"), check.out());
    assertFalse(check.out().contains("column good"), check.out());
  }

  @Test
  void theRightsOfAMigrationAreEnoughToMigrate() throws Exception {
    for (String sql : MySqlRights.statements(MySqlRights.script("m", database(), List.of()))) {
      if (sql.contains("_migration")) {
        game.execute(sql.replace("${MIGRATION_PASSWORD}", "right-one"));
      }
    }
    String yaml =
        config(GOOD)
            .replace(
                "user: \"" + game.user() + "\"",
                "user: \"" + MySqlRights.user("m", Role.MIGRATION) + "\"")
            .replace(game.password(), "right-one");
    CommandLineRun check = run("check", yaml);
    assertTrue(check.out().contains("security mysql"), check.out());
    CommandLineRun run = run("migrate", yaml, "--allow-rebuild");
    assertEquals(ExitCodes.OK, run.exitCode(), run.err());
    assertEquals(ExitCodes.OK, run("check", yaml).exitCode());
  }

  private String database() throws SQLException {
    return game.queryText("SELECT DATABASE()");
  }

  @Test
  void aTableThatLeftTheConfigurationStaysRegisteredWithANotice() throws Exception {
    assertEquals(ExitCodes.OK, migrate(GOOD).exitCode());
    CommandLineRun run = migrate("tables: [{ name: player, owner: player, ownerColumn: id }]");
    assertEquals(ExitCodes.OK, run.exitCode());
    assertTrue(
        run.out().contains("notice: table player_item is registered but not in the configuration"));
    assertEquals("2", game.queryText("SELECT COUNT(*) FROM gameq_table"));
  }

  @Test
  void aMigrationThatStoppedHalfWayGoesOn() throws Exception {
    List<String> statements = SchemaFiles.all().get(0).statements();
    game.execute(statements.subList(0, 4).toArray(String[]::new));
    game.execute(
        "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) VALUES"
            + " ('player%3A1', 7, 'aaaaaaaa00000001', 'n1', 'opening', '2020-01-01')");
    assertEquals(ExitCodes.OK, migrate(GOOD).exitCode());
    assertEquals(ExitCodes.OK, check(GOOD).exitCode());
    assertEquals("7", game.queryText("SELECT epoch FROM gameq_owner"));
  }

  @Test
  void aDatabaseOfANewerProgramIsRefused() throws Exception {
    assertEquals(ExitCodes.OK, migrate(GOOD).exitCode());
    game.execute("UPDATE gameq_setting SET value = '999' WHERE name = 'schema'");
    CommandLineRun run = migrate(GOOD);
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode());
    assertTrue(run.err().contains("schema 999"), run.err());
  }

  @Test
  void aTableHeldByATransactionIsAnErrorWithTheRemedy() throws Exception {
    assertEquals(
        ExitCodes.OK,
        migrate("tables: [{ name: player, owner: player, ownerColumn: id }]").exitCode());
    try (Connection holder = game.connect();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("SELECT * FROM player_item");
      CommandLineRun run = migrate(GOOD);
      assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode());
      assertTrue(run.err().contains("some transaction holds the table"), run.err());
      assertEquals(1, run.err().lines().count(), run.err());
    }
    assertEquals(ExitCodes.OK, migrate(GOOD).exitCode());
  }

  @Test
  void wrongPasswordIsOneLineWithoutThePassword() throws Exception {
    String yaml = config(GOOD).replace(game.password(), "wrong-one");
    CommandLineRun run = run("check", yaml);
    assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode());
    assertEquals(1, run.err().lines().count(), run.err());
    assertTrue(run.err().contains("refuses the login of user '" + game.user() + "'"), run.err());
    assertFalse(run.err().contains("wrong-one"), run.err());
  }

  @Test
  void migrateAndCheckTakeAnotherLoginThanTheConfigurations() throws Exception {
    String yaml = config(GOOD).replace(game.password(), "wrong-one");
    String secret =
        Files.writeString(directory.resolve("secret"), game.password() + "\n").toString();
    String[] login = {"--mysql-user", game.user(), "--mysql-password-file", secret};
    CommandLineRun migrated = run("migrate", yaml, login);
    assertEquals(ExitCodes.OK, migrated.exitCode(), migrated.err());
    CommandLineRun checked = run("check", yaml, login);
    assertEquals(ExitCodes.OK, checked.exitCode(), checked.err());
    assertEquals(ExitCodes.COULD_NOT_RUN, run("check", yaml).exitCode());
  }

  @Test
  void initNamesTheOwnerThatMayBeNullAndSaysThatItMayNot() throws Exception {
    game.execute(
        "CREATE TABLE users (identifier VARCHAR(60) COLLATE utf8mb4_bin PRIMARY KEY)",
        "CREATE TABLE bill (id INT PRIMARY KEY, identifier VARCHAR(60) COLLATE utf8mb4_bin)",
        "CREATE TABLE car (plate INT PRIMARY KEY, owner VARCHAR(60) COLLATE utf8mb4_bin)",
        "CREATE TABLE job (name VARCHAR(9) COLLATE utf8mb4_bin PRIMARY KEY)",
        "CREATE TABLE job_grade (id INT PRIMARY KEY, job_id VARCHAR(9) COLLATE utf8mb4_bin)");
    Path password = Files.writeString(directory.resolve("password"), game.password());
    CommandLineRun init =
        CommandLineRun.of(
            "schema",
            "init",
            "--mysql",
            game.jdbcUrl(),
            "--mysql-user",
            game.user(),
            "--mysql-password-file",
            password.toString());
    assertEquals(ExitCodes.OK, init.exitCode(), init.err());
    String draft = init.out();
    for (String line :
        List.of(
            "  - { name: users, owner: user, ownerColumn: identifier }  #",
            "  - { name: bill, owner: user, ownerColumn: identifier }  # named as the key of users",
            "  #     ! owner column identifier may be NULL: make it NOT NULL",
            "  - { name: car, owner: user, ownerColumn: owner }  # its name, and the type of the",
            "  #     ! owner column owner may be NULL: make it NOT NULL",
            "  # - { name: job, owner: job, ownerColumn: name }: static, as it looks")) {
      assertTrue(draft.contains(line), () -> line + "\n" + draft);
    }
  }

  private CommandLineRun check(String tables) throws IOException {
    return run("check", config(tables));
  }

  private CommandLineRun migrate(String tables, String... options) throws IOException {
    return run("migrate", config(tables), options);
  }

  private String config(String tables) {
    return """
    namespace: mygame
    redis: { uri: "redis://127.0.0.1" }
    mysql: { url: "%s", user: "%s", password: "%s" }
    """
            .formatted(game.jdbcUrl(), game.user(), game.password())
        + tables;
  }

  private CommandLineRun run(String command, String yaml, String... options) throws IOException {
    Path file = Files.writeString(directory.resolve("gameq.yaml"), yaml);
    String[] args = new String[4 + options.length];
    args[0] = "schema";
    args[1] = command;
    args[2] = "--config";
    args[3] = file.toString();
    System.arraycopy(options, 0, args, 4, options.length);
    return CommandLineRun.of(args);
  }

  private String setting(String name) throws SQLException {
    return game.queryText("SELECT value FROM gameq_setting WHERE name = '" + name + "'");
  }

  private String countTables() throws SQLException {
    return game.queryText(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()");
  }

  private String columnsNamed(String column) throws SQLException {
    String tables =
        game.queryText(
            "SELECT GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME) FROM information_schema.COLUMNS"
                + " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE 'gameq%' AND"
                + " COLUMN_NAME = '"
                + column
                + "'");
    return tables.equals("null") ? "" : tables;
  }
}
