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
    return SchemaScript.within(
        Path.of("game.sql"),
        SqlScript.statements(sql),
        List.of("prod", "Other-1", "mysql"),
        said::add);
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SET @old = @@SQL_MODE, SQL_MODE = 'NO_AUTO_VALUE_ON_ZERO'",
        "/*!40014 SET FOREIGN_KEY_CHECKS=0 */",
        "CREATE TABLE a (prod INT, note VARCHAR(9) DEFAULT 'prod.x', `mysql` INT)",
        "INSERT INTO a VALUES ('GLOBAL; DROP DATABASE prod', \"it's prod.x\")",
        "CREATE TRIGGER t AFTER INSERT ON a FOR EACH ROW INSERT INTO b VALUES (NEW.id)",
        "CREATE DEFINER=`root`@`localhost` VIEW v AS SELECT p.x FROM a p JOIN b ON p.x = b.x",
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
        "ALTER DATABASE prod CHARACTER SET latin1 | changes more",
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
