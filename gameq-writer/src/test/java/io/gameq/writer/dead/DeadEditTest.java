package io.gameq.writer.dead;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.CommandLineRun;
import io.gameq.writer.ConfigFile;
import io.gameq.writer.admin.ActionResult.Resolution;
import io.gameq.writer.admin.DeadRows;
import io.gameq.writer.admin.DeadRows.Detail;
import io.gameq.writer.mysql.DeadLetters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Dead letters chosen, edited, exported and retried, from the command line to the rows. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeadEditTest {
  private static final String HOSTILE = "a\u001b[2J\n<script>x()</script>\u202e";

  private final Letters letters = letters();
  private ConfigFile config = new ConfigFile(Path.of("."));
  private Path folder = Path.of(".");

  private static Letters letters() {
    try {
      return new Letters();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeAll
  void configure(@TempDir Path directory) throws IOException {
    folder = directory;
    config = ConfigFile.write(directory, letters.server, "mygame", 4);
  }

  @BeforeEach
  void empty() throws SQLException {
    for (String table :
        new String[] {
          "item", "gameq_dead_letter", "gameq_audit", "gameq_tombstone", "gameq_discard"
        }) {
      letters.server.execute("DELETE FROM " + table);
    }
  }

  @AfterAll
  void close() {
    letters.close();
  }

  private CommandLineRun run(int exitCode, String command) {
    CommandLineRun run = config.run(command);
    assertEquals(exitCode, run.exitCode(), () -> run.out() + run.err());
    return run;
  }

  private static void assertHas(String text, String... parts) {
    for (String part : parts) {
      assertTrue(text.contains(part), () -> "no '" + part + "' in\n" + text);
    }
  }

  private String audit() throws SQLException {
    return letters.query(
        "SELECT GROUP_CONCAT(CONCAT_WS('|', action, target, detail) ORDER BY id SEPARATOR ';')"
            + " FROM gameq_audit");
  }

  private String image(String id) throws SQLException {
    return letters.query("SELECT HEX(image) FROM gameq_dead_letter WHERE id = " + id);
  }

  @Test
  void aLetterIsEditedAndRetriedUntilItsRowIsInMySql() throws Exception {
    String id = letters.set(letters.item(20, 1, 6_000));
    assertHas(run(ExitCodes.FOUND_SOMETHING, "dead retry " + id).out(), "refused again");
    Path file =
        Files.writeString(folder.resolve("columns.json"), "{\"count\": 77, \"name\": null}");
    assertEquals(
        id + " item:1 of player:1, version 20: edited\n1 dead letter, 1 edited\n",
        run(ExitCodes.OK, "dead edit " + id + " --from " + file).out());
    assertHas(
        run(ExitCodes.OK, "dead show --values " + id).out(),
        "count      = 77",
        "name       = NULL");
    assertHas(run(ExitCodes.OK, "dead retry " + id).out(), "1 written");
    assertEquals(
        "20 77 NULL",
        letters.query("SELECT CONCAT_WS(' ', gq_version, count, IFNULL(name, 'NULL')) FROM item"));
    assertEquals(
        ("dead retry|id %1$s|1 dead letter;dead edit|%1$s item:1 of player:1|columns count, name;"
                + "dead show|%1$s item:1 of player:1|with values;dead retry|id %1$s|1 dead letter")
            .formatted(id),
        audit());
    assertEquals(
        "command line", letters.query("SELECT GROUP_CONCAT(DISTINCT via) FROM gameq_audit"));
  }

  @Test
  void manyLettersAreEditedByTheirFilterAfterAQuestion() throws SQLException {
    for (int i = 1; i <= 70; i++) {
      letters.set(letters.item(20, i, 6_000));
    }
    letters.write(letters.item(30, 70, 9));
    String edit = "dead edit --table item --code 3819 --set count=4";
    assertHas(run(ExitCodes.COULD_NOT_RUN, edit).err(), "pass --yes");
    assertEquals("0", letters.query("SELECT COUNT(*) FROM gameq_audit"));
    String out = run(ExitCodes.FOUND_SOMETHING, edit + " --yes").out();
    assertHas(
        out, "70 dead letters, 69 edited, 1 not edited", "not edited (MySQL holds this version");
    assertEquals("dead edit|table item, error code 3819|70 dead letters, columns count", audit());
    assertHas(run(ExitCodes.OK, "dead retry --state waiting").out(), "69 dead letters, 69 written");
    assertEquals("69", letters.query("SELECT COUNT(*) FROM item WHERE count = 4"));
    assertEquals("9", letters.query("SELECT count FROM item WHERE id = 70"));
  }

  @Test
  void whatAPutWouldRefuseIsRefusedAndNothingIsChanged() throws SQLException {
    String id = letters.set(letters.item(20, 1, 6_000));
    String delete = letters.set(letters.delete(20, "item", 2));
    String before = image(id);
    Map<String, String> refusals =
        Map.of(
            "--set id=2",
            "item.id names the row",
            "--set player_id=2",
            "item.player_id names the row or its owner",
            "--set gq_version=2",
            "written by gameq alone",
            "--set cuont=2",
            "did you mean count",
            "--set count=much",
            "takes a whole number",
            "--set count=3000000000",
            "lies outside",
            "--null count",
            "NULL in a NOT NULL column",
            "--set name=" + "x".repeat(31),
            "the limit is 30");
    refusals.forEach(
        (options, reason) -> {
          String out = run(ExitCodes.FOUND_SOMETHING, "dead edit " + id + " " + options).out();
          assertHas(out, "not edited", reason);
        });
    assertHas(
        run(ExitCodes.FOUND_SOMETHING, "dead edit " + delete + " --null name").out(),
        "it deletes the row");
    assertHas(
        run(ExitCodes.COULD_NOT_RUN, "dead edit " + id + " --set count=1 --null count").err(),
        "given twice");
    assertHas(run(ExitCodes.COULD_NOT_RUN, "dead edit " + id).err(), "nothing to change");
    assertHas(run(ExitCodes.COULD_NOT_RUN, "dead edit " + id + " --set name").err(), "no console");
    assertEquals(before, image(id));
    assertEquals("0", letters.query("SELECT COUNT(*) FROM gameq_audit"));
  }

  @Test
  void anEditOfALetterThatChangedMeanwhileIsRefused() throws SQLException {
    long id = Long.parseLong(letters.set(letters.item(20, 1, 6_000)));
    DeadRows audited = new DeadRows(new DeadLetters(letters.mysql), new Actor("tester", "test"));
    Detail looked = Objects.requireNonNull(audited.show(id, false));
    letters.set(letters.item(30, 1, 7_000)); // a newer refusal of the row
    assertEquals(
        Resolution.GONE, audited.edit(id, looked.revision(), Map.of("count", "4")).result());
    Detail again = Objects.requireNonNull(audited.show(id, false));
    assertEquals(
        Resolution.DONE, audited.edit(id, again.revision(), Map.of("count", "4")).result());
    assertEquals(
        Resolution.GONE, // by the edit before it
        audited.edit(id, again.revision(), Map.of("count", "5")).result());
    assertEquals(Resolution.GONE, audited.edit(id + 1, "", Map.of("count", "5")).result());
    letters.set(letters.item(30, 1, 7_000)); // a late replay of what was edited
    assertHas(run(ExitCodes.OK, "dead retry " + id).out(), "1 written");
    assertEquals("30 4", letters.query("SELECT CONCAT(gq_version, ' ', count) FROM item"));
  }

  @Test
  void aRowOfAnOldLayoutIsEditedInTheCurrentOne() throws SQLException {
    String id = letters.set(letters.item(20, 1, 6_000));
    letters.server.execute("ALTER TABLE item ADD COLUMN horns INT NOT NULL DEFAULT 7 AFTER name");
    try {
      letters.server.execute(
          "INSERT INTO item (id, player_id, count, horns, gq_version) VALUES (1, 1, 2, 9, 10)");
      assertHas(run(ExitCodes.OK, "dead show " + id).out(), "horns      (left as it is)");
      run(ExitCodes.OK, "dead edit " + id + " --set count=5");
      run(ExitCodes.OK, "dead retry " + id);
      assertEquals(
          "20 5 9 sword",
          letters.query("SELECT CONCAT_WS(' ', gq_version, count, horns, name) FROM item"));
      letters.server.execute("DELETE FROM item");
      id = letters.set(letters.item(20, 1, 6_000));
      run(ExitCodes.OK, "dead edit " + id + " --set count=5 --set horns=3");
      run(ExitCodes.OK, "dead retry " + id);
      assertEquals("3", letters.query("SELECT horns FROM item"));
    } finally {
      letters.server.execute("ALTER TABLE item DROP COLUMN horns");
    }
  }

  @Test
  void lettersAreChosenByWhatTheyAre() throws SQLException {
    String one = letters.set(letters.item(20, 1, 6_000));
    String two =
        letters.set(new Refused(letters.player, "item", "2", 7, new byte[1], 1, 0, "odd 5%_"));
    letters.server.execute(
        "UPDATE gameq_dead_letter SET refused_at = '2026-11-21 10:53:00' WHERE id = " + two);
    Map<String, String> chosen =
        Map.of(
            "--code 3819", one,
            "--code 0", two,
            "--error CHECK", one,
            "--error 5%_", two,
            "--error %", two,
            "--since 1h", one,
            "--before 2026-11-21T10:53:01", two,
            "--since 2026-11-21 --before 2026-11-22", two,
            "--state waiting", one + "\n" + two,
            "--owner player:1 --table item --code 0", two);
    chosen.forEach(
        (options, ids) -> {
          String out = run(ExitCodes.FOUND_SOMETHING, "dead list --json " + options).out();
          assertEquals(
              ids.lines().toList(),
              out.lines().map(line -> line.replaceAll("\\{\"id\":(\\d+),.*", "$1")).toList(),
              options);
        });
    run(ExitCodes.OK, "dead list --state superseded");
    assertHas(run(ExitCodes.COULD_NOT_RUN, "dead list --since soon").err(), "is no time: use 30m");
    assertHas(
        run(ExitCodes.COULD_NOT_RUN, "dead retry --all --code 0").err(), "give ids, or --all");
    run(ExitCodes.OK, "dead discard --yes --code 0");
    assertEquals(one, letters.query("SELECT GROUP_CONCAT(id) FROM gameq_dead_letter"));
  }

  @Test
  void anExportHasValuesOnlyWhereAskedFor() throws SQLException {
    letters.set(letters.item(20, 1, 6_000));
    letters.set(new Refused(letters.player, "item", "2", 7, new byte[1], 1, 0, "damaged"));
    String names = run(ExitCodes.OK, "dead export --all").out();
    assertHas(names, "\"columns\":[\"id\",\"player_id\",\"name\",\"count\"]", "\"undecodable\":");
    assertFalse(names.contains("sword"), names);
    String values = run(ExitCodes.OK, "dead export --table item --values").out();
    assertHas(
        values, "\"row\":{\"id\":\"1\",\"player_id\":\"1\",\"name\":\"sword\",\"count\":\"6000\"}");
    assertEquals(
        "dead export|all|2 dead letters, without values;"
            + "dead export|table item|2 dead letters, with values",
        audit());
  }

  @Test
  void whatAPlayerStoredIsTextOnTheTerminal() throws SQLException {
    String id =
        letters.set(
            letters.put(
                letters.player,
                20,
                "item",
                Map.of("id", 1, "player_id", 1, "name", HOSTILE, "count", 6_000)));
    letters.server.execute(
        "UPDATE gameq_dead_letter SET error_text = 'x\\n\u001b[31m<script>' WHERE id = " + id);
    String out =
        run(ExitCodes.FOUND_SOMETHING, "dead list").out()
            + run(ExitCodes.OK, "dead show --values " + id).out()
            + run(ExitCodes.OK, "dead export --values --all").out()
            + run(ExitCodes.FOUND_SOMETHING, "dead retry --all").out();
    assertHas(out, "x\\u000a\\u001b[31m<script>", "a\\u001b[2J\\u000a<script>x()</script>\\u202e");
    assertTrue(out.chars().allMatch(c -> c == '\n' || !Character.isISOControl(c)), out);
  }
}
