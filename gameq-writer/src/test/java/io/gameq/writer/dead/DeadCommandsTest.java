package io.gameq.writer.dead;

import static io.gameq.servers.Waits.LONG;
import static java.util.stream.Collectors.joining;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.CommandLineRun;
import io.gameq.writer.ConfigFile;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.DeadLetterFilter;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The dead commands against a real server, from the command line to the rows. */
@Execution(ExecutionMode.CONCURRENT)
class DeadCommandsTest {
  private final Letters letters = letters();
  private ConfigFile config = new ConfigFile(Path.of("."));

  private static Letters letters() {
    try {
      return new Letters();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void configure(@TempDir Path directory) throws IOException {
    config = ConfigFile.write(directory, letters.server, "mygame", 4);
  }

  @AfterEach
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

  private String count() throws SQLException {
    return letters.query("SELECT COUNT(*) FROM gameq_dead_letter");
  }

  private Refused unreadable(String table, String key) {
    return new Refused(letters.player, table, key, 7, new byte[] {1, 2}, 1, 0, "damaged");
  }

  // --- list

  @Test
  void listsLettersWithWhatTheyAreWorthNow() throws SQLException {
    letters.set(letters.item(20, 1, 6_000));
    letters.set(letters.item(20, 2, 6_000));
    letters.write(letters.item(10, 2, 1));
    letters.set(letters.item(20, 3, 6_000));
    letters.write(letters.item(30, 3, 1));
    letters.set(letters.item(20, 4, 6_000));
    letters.write(letters.delete(30, "item", 4));
    letters.set(unreadable("gone", "5"));
    letters.set(unreadable("item", "not-a-number"));
    String[] lines = run(ExitCodes.FOUND_SOMETHING, "dead list").out().split("\n", -1);
    List<String> states =
        List.of("waiting", "waiting", "superseded", "superseded", "unknown", "unknown");
    for (int i = 0; i < states.size(); i++) {
      assertHas(lines[i + 1], states.get(i), "player:1");
    }
    assertHas(lines[1], "item   1 ", " 20 ", " 3819  Check constraint 'few' is violated.");
    assertEquals("6 dead letters", lines[7]);
  }

  @Test
  void listsManyLettersByOwnerAndTableUpToALimit() throws SQLException {
    for (int i = 1; i <= 70; i++) {
      letters.set(letters.item(20, i, 6_000));
    }
    OwnerId guild = OwnerId.of("guild:é x");
    letters.set(letters.put(guild, 20, "guild", Map.of("id", 9)));
    String all = run(ExitCodes.FOUND_SOMETHING, "dead list").out();
    assertEquals(73, all.lines().count(), all);
    assertHas(all, "71 dead letters", "guild:é x");
    assertHas(
        run(ExitCodes.FOUND_SOMETHING, "dead list --limit 40").out(),
        "40 of 71 dead letters: --limit shows more, --after 40 the next ones");
    assertHas(
        run(ExitCodes.FOUND_SOMETHING, "dead list --limit 40 --after 40").out(), "31 dead letters");
    assertHas(run(ExitCodes.FOUND_SOMETHING, "dead list --table guild").out(), "1 dead letter");
    assertHas(
        run(ExitCodes.FOUND_SOMETHING, "dead list --owner player:1").out(), "70 dead letters");
    assertHas(
        run(ExitCodes.OK, "dead list --owner player:1 --table guild").out(), "0 dead letters");
  }

  /** Letters of an error that no test looks for, in one statement. */
  private void fill(int thousands) throws SQLException {
    String digit =
        "(SELECT 0 AS i"
            + IntStream.range(1, 10).mapToObj(i -> " UNION ALL SELECT " + i).collect(joining())
            + ")";
    letters.server.execute(
        "INSERT INTO gameq_dead_letter (owner, table_name, row_key, version, image, error_code,"
            + " error_text, attempts, refused_at) SELECT 'player:0', 'item', k, 7, 'x', 1, 'other',"
            + " 1, UTC_TIMESTAMP(3) FROM (SELECT 10000 + a.i + 10 * b.i + 100 * c.i + 1000 * d.i +"
            + " 10000 * e.i AS k FROM "
            + digit
            + " a, "
            + digit
            + " b, "
            + digit
            + " c, "
            + digit
            + " d, "
            + digit
            + " e) keyed WHERE k < "
            + (10 + thousands) * 1000);
  }

  private static long reads(Handle handle) {
    return handle
        .createQuery("SHOW SESSION STATUS LIKE 'Handler\\_read\\_%'")
        .map((rs, context) -> rs.getLong(2))
        .stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  @Test
  void whereNoIndexServesAListLooksAtSoManyLettersAtOnceAndSaysSo() throws SQLException {
    letters.set(letters.item(20, 1, 6_000));
    letters.set(letters.item(20, 2, 6_000));
    fill(40);
    letters.server.execute("UPDATE gameq_dead_letter SET id = 1000000 WHERE row_key = '2'");
    DeadLetterFilter few = new DeadLetterFilter(List.of(), null, null, null, "few", null, null);
    letters
        .mysql
        .jdbi()
        .useHandle(
            handle -> {
              long before = reads(handle);
              DeadLetters all = new DeadLetters(letters.mysql); // over this handle, too
              DeadLetters.LetterBatch looked = all.list(few, 1, Long.MAX_VALUE, false, 50);
              assertEquals(DeadLetters.MOST_LOOKED, looked.looked());
              assertTrue(reads(handle) - before < 35_000, "reads: " + (reads(handle) - before));
              before = reads(handle);
              assertEquals(
                  50,
                  all.list(DeadLetterFilter.ALL, 1, Long.MAX_VALUE, false, 50).letters().size());
              assertTrue(reads(handle) - before < 200, "reads: " + (reads(handle) - before));
            });
    assertHas(run(ExitCodes.FOUND_SOMETHING, "dead list --error few").out(), "\n2 dead letters");
    assertHas(
        run(ExitCodes.FOUND_SOMETHING, "dead list --error few --limit 1 --rate 0").out(),
        "1 of 40,002 dead letters looked at: --limit shows more, --after 1 the next ones");
    assertHas(
        run(ExitCodes.FOUND_SOMETHING, "dead list --limit 1").out(),
        "1 of more than 10,000 dead letters: --limit shows more, --after 1 the next ones");
    assertHas(run(ExitCodes.COULD_NOT_RUN, "dead list --rate -1").err(), "--rate is -1");
  }

  @Test
  void jsonHasOneObjectALineAndVersionsAsText() throws SQLException {
    letters.set(letters.item(Long.MAX_VALUE, 1, 6_000));
    letters.set(letters.item(20, 2, 6_000));
    List<String> lines = run(ExitCodes.FOUND_SOMETHING, "dead list --json").out().lines().toList();
    assertEquals(2, lines.size());
    assertHas(
        lines.get(0),
        "{\"id\":1,\"table\":\"item\",\"key\":\"1\",\"owner\":\"player:1\","
            + "\"version\":\"9223372036854775807\",\"state\":\"waiting\"");
  }

  // --- show

  @Test
  void showsTheRowBesideTheOneInMySql() throws SQLException {
    letters.write(letters.item(10, 1, 5));
    String id = letters.set(letters.item(20, 1, 6_000));
    String hidden = run(ExitCodes.OK, "dead show " + id).out();
    assertHas(hidden, "* count      differs", "values are hidden");
    assertFalse(hidden.contains("sword") || hidden.contains("6000"), hidden);
    String out = run(ExitCodes.OK, "dead show --values " + id).out();
    assertEquals(
        "dead show|" + id + " item:1 of player:1|with values",
        letters.query("SELECT CONCAT_WS('|', action, target, detail) FROM gameq_audit"));
    assertHas(
        out,
        "owner     player:1",
        "error     3819 Check constraint 'few' is violated.",
        "version 10 (1970-01-01 00:00:00.000 UTC)",
        "  name       = sword");
    assertTrue(out.lines().anyMatch(line -> line.matches("\\* count +=  ?6000 +=  ?5")), out);
  }

  @Test
  void showsADeletedRowAndAnAbsentOne() throws SQLException {
    letters.write(letters.delete(30, "item", 1));
    assertHas(
        run(ExitCodes.OK, "dead show " + letters.set(letters.item(20, 1, 6_000))).out(),
        "deleted in version 30",
        "superseded");
    assertHas(
        run(ExitCodes.OK, "dead show " + letters.set(letters.delete(20, "item", 2))).out(),
        "(delete)",
        "no such row");
  }

  @Test
  void saysWhyARowCannotBeDecoded() throws SQLException {
    assertHas(
        run(ExitCodes.OK, "dead show " + letters.set(unreadable("gone", "5"))).out(),
        "its row of 2 bytes cannot be decoded: table gone is not managed by gameq");
    assertHas(
        run(ExitCodes.OK, "dead show " + letters.set(unreadable("item", "5"))).out(),
        "its row of 2 bytes cannot be decoded: ");
  }

  @Test
  void anUnknownLetterIsNamed() throws SQLException {
    assertHas(run(ExitCodes.FOUND_SOMETHING, "dead show 77").err(), "there is no dead letter 77");
    String id = letters.set(letters.item(20, 1, 1));
    for (String command :
        List.of("dead retry 77 " + id + " 78", "dead discard --yes 77 78 " + id)) {
      assertHas(
          run(ExitCodes.FOUND_SOMETHING, command).err(), "no dead letter 77, 78: nothing was done");
    }
    assertEquals("1", count());
  }

  // --- retry

  @Test
  void retryKeepsAKeyOfZero() throws SQLException {
    letters.server.execute("ALTER TABLE item MODIFY id BIGINT NOT NULL AUTO_INCREMENT");
    letters.set(letters.item(10, 0, 5));
    assertHas(run(ExitCodes.OK, "dead retry --all").out(), "1 written");
    assertEquals("0", letters.query("SELECT GROUP_CONCAT(id) FROM item"));
  }

  @Test
  void retryWritesTheRowAndRemovesTheLetter() throws SQLException {
    String id = letters.set(letters.item(20, 1, 4));
    String dry = run(ExitCodes.OK, "dead retry --dry-run " + id).out();
    assertHas(dry, id + " item:1 of player:1, version 20: would be written", "nothing was changed");
    assertEquals("1", count());
    assertEquals("0", letters.query("SELECT COUNT(*) FROM item"));
    String out = run(ExitCodes.OK, "dead retry " + id).out();
    assertHas(out, id + " item:1 of player:1, version 20: written\n", "1 dead letter, 1 written\n");
    assertEquals("20 4", letters.query("SELECT CONCAT(gq_version, ' ', count) FROM item"));
    assertEquals("0", count());
  }

  @Test
  void aLetterThatIsRefusedAgainStaysWithTheNewError() throws SQLException {
    String refused = letters.set(letters.item(20, 1, 6_000));
    letters.set(letters.item(20, 2, 4));
    letters.set(unreadable("item", "3"));
    letters.server.execute("UPDATE gameq_dead_letter SET error_text = 'old'");
    String dry = run(ExitCodes.FOUND_SOMETHING, "dead retry --all --dry-run").out();
    assertHas(dry, "version 20: would be refused again (", "few");
    assertEquals("1,1,1", letters.query("SELECT GROUP_CONCAT(attempts) FROM gameq_dead_letter"));
    String out = run(ExitCodes.FOUND_SOMETHING, "dead retry --all").out();
    assertHas(out, "3 dead letters, 2 refused again, 1 written");
    assertEquals("2,2", letters.query("SELECT GROUP_CONCAT(attempts) FROM gameq_dead_letter"));
    assertHas(
        letters.query("SELECT error_text FROM gameq_dead_letter WHERE id = " + refused), "few");
  }

  @Test
  void aRetryNeverReplacesANewerRowAndBringsNoDeletedRowBack() throws SQLException {
    letters.set(letters.item(20, 1, 4));
    letters.write(letters.item(30, 1, 9));
    letters.set(letters.item(20, 2, 4));
    letters.write(letters.delete(30, "item", 2));
    String out = run(ExitCodes.OK, "dead retry --all").out();
    assertHas(out, "2 dead letters, 2 removed as superseded");
    assertEquals("30 9", letters.query("SELECT CONCAT(gq_version, ' ', count) FROM item"));
    assertEquals("1", letters.query("SELECT COUNT(*) FROM item"));
    assertEquals("0", count());
  }

  @Test
  void aRetriedDeleteLeavesATombstone() throws SQLException {
    letters.write(letters.item(10, 1, 9));
    letters.set(letters.delete(20, "item", 1));
    assertHas(run(ExitCodes.OK, "dead retry --table item").out(), "1 written");
    assertEquals("0", letters.query("SELECT COUNT(*) FROM item"));
    assertEquals("20", letters.query("SELECT version FROM gameq_tombstone"));
  }

  @Test
  void aMemberWhoseGuildComesLaterGetsThroughInTheSameRun() throws SQLException {
    letters.set(letters.put(letters.player, 20, "member", Map.of("player_id", 1, "guild_id", 7)));
    letters.set(letters.put(letters.player, 20, "member", Map.of("player_id", 2, "guild_id", 8)));
    letters.set(letters.put(OwnerId.of("guild:7"), 20, "guild", Map.of("id", 7)));
    String out = run(ExitCodes.FOUND_SOMETHING, "dead retry --all").out();
    assertHas(out, "3 dead letters, 2 written, 1 refused again");
    assertEquals("1", letters.query("SELECT GROUP_CONCAT(player_id) FROM member"));
    assertEquals("2", letters.query("SELECT row_key FROM gameq_dead_letter"));
  }

  @Test
  void anErrorOfTheTableLeavesTheLetter() throws SQLException {
    letters.set(letters.item(20, 1, 4));
    letters.server.execute(
        "CREATE TRIGGER wrong BEFORE INSERT ON item FOR EACH ROW INSERT INTO absent VALUES (1)");
    assertHas(run(ExitCodes.FOUND_SOMETHING, "dead retry --all").out(), "refused again (1146 ");
    assertEquals("1146", letters.query("SELECT error_code FROM gameq_dead_letter"));
  }

  @Test
  void aVersionThatAFlushSetsAsideMeanwhileIsTheOneThatIsWritten() throws Exception {
    String id = letters.set(letters.item(20, 1, 4));
    CompletableFuture<CommandLineRun> retry;
    try (Connection flush = letters.server.connect();
        Statement statement = flush.createStatement()) {
      flush.setAutoCommit(false);
      statement.executeQuery("SELECT * FROM gameq_owner FOR UPDATE").close();
      retry = CompletableFuture.supplyAsync(() -> config.run("dead retry " + id));
      awaitLockWait();
      letters.set(letters.item(30, 1, 5));
      flush.commit();
    }
    assertHas(retry.join().out(), "1 written");
    assertEquals("30 5", letters.query("SELECT CONCAT(gq_version, ' ', count) FROM item"));
    assertEquals("0", count());
  }

  private void awaitLockWait() {
    await()
        .atMost(LONG)
        .until(
            () ->
                letters
                    .query(
                        "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK"
                            + " WAIT'")
                    .equals("1"));
  }

  @Test
  void twoRetriesAtOnceWriteEachLetterOnce() throws SQLException {
    for (int i = 1; i <= 60; i++) {
      letters.set(letters.item(20, i, 4));
    }
    CompletableFuture<CommandLineRun> other =
        CompletableFuture.supplyAsync(() -> config.run("dead retry --all"));
    CommandLineRun one = config.run("dead retry --all");
    String out = one.out() + other.join().out();
    assertEquals(60, out.lines().filter(line -> line.endsWith(": written")).count(), out);
    assertEquals("60", letters.query("SELECT COUNT(*) FROM item"));
    assertEquals("0", count());
  }

  // --- discard

  @Test
  void aDiscardedVersionIsNeverWrittenNorSetAsideAgainAndANewerOneIs() throws SQLException {
    letters.write(letters.item(10, 1, 4));
    letters.set(letters.item(20, 1, 5));
    run(ExitCodes.OK, "dead discard --yes --all");
    letters.write(letters.item(20, 1, 5));
    letters.write(letters.item(15, 1, 6));
    letters.write(letters.delete(18, "item", 1));
    letters.set(letters.item(20, 1, 5));
    assertEquals("0", count());
    assertEquals("10 4", letters.query("SELECT CONCAT(gq_version, ' ', count) FROM item"));
    letters.write(letters.item(21, 1, 7));
    assertEquals("21 7", letters.query("SELECT CONCAT(gq_version, ' ', count) FROM item"));
  }

  @Test
  void aDamagedVersionFarAheadKeepsNoLaterChangeOut() throws SQLException {
    letters.set(new Refused(letters.player, "item", "1", -2, new byte[] {1, 2}, 1, 0, "damaged"));
    run(ExitCodes.OK, "dead discard --yes --all");
    letters.write(letters.item(21, 1, 7));
    assertEquals("21", letters.query("SELECT gq_version FROM item"));
  }

  @Test
  void discardAsksFirstAndNamesWhatItRemoves() throws SQLException {
    String id = letters.set(letters.item(20, 1, 6_000));
    letters.set(letters.item(20, 2, 6_000));
    letters.set(letters.put(OwnerId.of("guild:7"), 20, "guild", Map.of("id", 7)));
    CommandLineRun unasked = run(ExitCodes.COULD_NOT_RUN, "dead discard --all");
    assertHas(unasked.err(), "pass --yes");
    assertEquals("3", count());
    assertEquals(
        id + " item:1 of player:1, version 20: discarded\n1 dead letter, 1 discarded\n",
        run(ExitCodes.OK, "dead discard --yes " + id).out());
    assertHas(
        run(ExitCodes.OK, "dead discard --yes --owner player:1").out(),
        "2 item:2 of player:1, version 20: discarded");
    assertHas(run(ExitCodes.OK, "dead discard --yes --all").out(), "guild:7 of guild:7");
    assertEquals("0 dead letters\n", run(ExitCodes.OK, "dead discard --all").out());
    assertEquals("0", letters.query("SELECT COUNT(*) FROM item"));
  }

  @Test
  void aDatabaseWithoutGameqsTablesIsAnErrorWithTheRemedy() throws SQLException {
    letters.server.execute("UPDATE gameq_setting SET value = '0' WHERE name = 'schema'");
    CommandLineRun run = run(ExitCodes.COULD_NOT_RUN, "dead list");
    assertHas(run.err(), "schema migrate");
    assertFalse(run.err().contains("\tat "), run.err());
  }

  @Test
  void aLetterOfARowThatChangedHandsIsWrittenForItsNewOwner() throws SQLException {
    RowChange moved =
        letters.put(
            OwnerId.of("player:2"),
            30,
            "item",
            Map.of("id", 1, "player_id", 2, "name", "x", "count", 4));
    letters.set(letters.item(20, 1, 6_000));
    letters.set(moved);
    assertHas(
        run(ExitCodes.OK, "dead retry --owner player:2").out(), "of player:2, version 30: written");
    assertEquals("2", letters.query("SELECT player_id FROM item"));
  }
}
