package io.gameq.lab.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaScriptTest {
  private final List<String> said = new ArrayList<>();

  private List<String> within(String sql) {
    return within(sql, new SchemaScript.Choice(false, false));
  }

  private List<String> within(String sql, SchemaScript.Choice leftOut) {
    return SchemaScript.within(
        Path.of("game.sql"),
        SqlScript.statements(sql),
        List.of("prod", "Other-1", "mysql"),
        said::add,
        leftOut);
  }

  @Test
  void leavesOutTheHeadOfADumpAndSaysSo() {
    assertEquals(
        List.of("SET NAMES utf8mb4", "CREATE TABLE a (x INT)"),
        within(
            "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `prod` /*!40100 DEFAULT CHARACTER SET x */;\n"
                + "USE `prod`;\nSET NAMES utf8mb4;\nCREATE TABLE a (x INT);"));
    assertEquals(2, said.size(), said::toString);
    assertTrue(said.get(1).endsWith("game.sql, line 2, 'USE `prod`'"), said.get(1));
  }

  @Test
  void takesWhatADumpSetsForReplicationAndItsDefinersAway() {
    assertEquals(
        List.of("/*!50003 CREATE*/ /*!50017 */ /*!50003 TRIGGER t AFTER INSERT ON a */"),
        within(
            """
            SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN;
            SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5';
            ALTER DATABASE `prod` CHARACTER SET latin1 COLLATE latin1_swedish_ci ;
            /*!50003 CREATE*/ /*!50017 DEFINER=`me`@`%`*/ /*!50003 TRIGGER t AFTER INSERT ON a */;
            """));
    assertEquals(3, said.size(), said::toString);
    assertTrue(said.get(0).startsWith("left out, since it is for replication"), said.get(0));
  }

  @Test
  void saysHowManyInsertsItRunsOrLeavesOut() {
    String text = "x".repeat(100_000); // too long to match by recursion
    String insert = "INSERT INTO a VALUES ('GLOBAL; DROP DATABASE prod', \"it's prod.x\", '%s')";
    String sql = insert.formatted(text);
    assertEquals(List.of(sql), within(sql + ";"));
    assertEquals(List.of(), within(sql + ";", new SchemaScript.Choice(true, false)));
    assertEquals(
        List.of(
            "with the rows of 1 INSERT statements; --no-data leaves them out",
            "left out: 1 statements that insert rows"),
        said);
  }

  @Test
  void leavesOutProgramsWhenAsked() {
    assertEquals(
        List.of("CREATE TABLE `event` (x INT)"),
        within(
            "CREATE TABLE `event` (x INT);\nCREATE DEFINER=`a`@`b` PROCEDURE p() DELETE FROM a;",
            new SchemaScript.Choice(false, true)));
    assertTrue(said.get(0).contains("line 2, 'CREATE DEFINER=`a`@`b` PROCEDURE p()"), said.get(0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SET @old = @@SQL_MODE, SQL_MODE = 'NO_AUTO_VALUE_ON_ZERO'",
        "/*!40014 SET FOREIGN_KEY_CHECKS=0 */",
        "CREATE TABLE a (prod INT, note VARCHAR(9) DEFAULT 'prod.x', `mysql` INT)",
        "CREATE TRIGGER t AFTER INSERT ON a FOR EACH ROW INSERT INTO b VALUES (NEW.id)",
        "CREATE VIEW v AS SELECT p.x FROM a p JOIN b ON p.x = b.x",
        "CREATE UNIQUE INDEX i ON a (x)",
        "CREATE TABLE `user` (id INT)",
        "DROP TABLE IF EXISTS a, b",
        "LOCK TABLES a WRITE",
        "TRUNCATE a"
      })
  void keepsWhatStays(String statement) {
    assertEquals(List.of(statement), within(statement + ";"));
    assertEquals(List.of(), said);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "DROP TABLE prod.player | names the database 'prod'",
        "DROP TABLE IF EXISTS a, `PROD` . `player` | names the database 'PROD'",
        "CREATE TABLE `Other-1`.player (id INT) | names the database 'Other-1'",
        "CREATE TABLE a LIKE prod.a | names the database 'prod'",
        "INSERT INTO a SELECT * FROM \"prod\".a | names the database 'prod'",
        "/*!50003 DELETE FROM prod.player */ | names the database 'prod'",
        "/*!50003 DROP TABLE a, prod*/.player | names the database 'prod'",
        "CREATE TABLE a (x INT REFERENCES prod.b (x)) | names the database 'prod'",
        "CREATE TRIGGER t AFTER INSERT ON a FOR EACH ROW DELETE FROM prod.b | 'prod'",
        "INSERT INTO mysql.user VALUES (1) | names the database 'mysql'",
        "DROP DATABASE prod | changes more than a database's tables",
        "CREATE USER u | changes more",
        "CREATE OR REPLACE ROLE r | changes more",
        "DROP SCHEMA prod | changes more",
        "GRANT ALL ON *.* TO u | no statement that makes or fills tables",
        "CALL p() | no statement",
        "PREPARE s FROM @sql | no statement",
        "SOURCE other.sql | no statement",
        "LOAD DATA INFILE 'x' INTO TABLE a | no statement",
        "SET GLOBAL sql_mode = '' | for the whole server",
        "SET @@GLOBAL.sql_mode = '' | for the whole server",
        "SET x = 1, PERSIST y = 2 | for the whole server",
        "SET PASSWORD = 'x' | for the whole server"
      })
  void refusesWhatLeavesByFileAndLine(String statement, String why) {
    String message = refusal("SELECT 1;\n" + statement + ";");
    assertTrue(message.startsWith("game.sql, line 2, '"), message);
    assertTrue(message.contains(why), message);
  }

  @Test
  void refusesASecondDatabase() {
    assertTrue(refusal("USE a;\nUSE a;\nUSE b;").startsWith("game.sql, line 3, 'USE b' uses a"));
  }

  private String refusal(String sql) {
    return String.valueOf(assertThrows(GameQueueException.class, () -> within(sql)).getMessage());
  }
}
