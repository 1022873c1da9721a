package io.gameq.lab.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The splitter against what schema files hold. */
class SqlScriptTest {
  private static List<String> statements(String sql) {
    return SqlScript.statements(sql).stream().map(SqlScript.Statement::sql).toList();
  }

  @Test
  void saysOnWhichLineEachBegins() {
    assertEquals(
        List.of(1, 4, 7),
        SqlScript.statements("SELECT 1;\n-- note\n\nSELECT\n2;\nDELIMITER //\nSELECT 3//\n")
            .stream()
            .map(SqlScript.Statement::line)
            .toList());
  }

  @Test
  void splitsAtSemicolonsAndTakesALastStatementWithoutOne() {
    assertEquals(
        List.of("CREATE TABLE a (x INT)", "SELECT 1"),
        statements("CREATE TABLE a (x INT);\n\n ; SELECT 1"));
  }

  @Test
  void dropsCommentsOfEveryKind() {
    assertEquals(
        List.of("SELECT 1", "SELECT   2", "SELECT 5--3"),
        statements(
            """
            -- a; b
            SELECT 1; # c; d
            SELECT /* e; f */ 2;
            --
            SELECT 5--3;
            """));
  }

  @Test
  void keepsCommentsThatTheServerRuns() {
    assertEquals(
        List.of("/*!40101 SET NAMES utf8 */", "/*M! SELECT 1 */"),
        statements(
            "/*M!999999\\- enable the sandbox mode */\n/*!40101 SET NAMES utf8 */;\n"
                + "/*M! SELECT 1 */;"));
  }

  @Test
  void leavesQuotedTextAlone() {
    List<String> quoted =
        List.of(
            "INSERT INTO t VALUES ('a;b', 'it''s; -- no comment', 'back\\'slash;')",
            "INSERT INTO t VALUES (\"/* ; */\", \"#\")",
            "CREATE TABLE `odd;#name` (x INT)");
    assertEquals(quoted, statements(String.join(";\n", quoted) + ";"));
  }

  @Test
  void changesTheDelimiterForTriggers() {
    assertEquals(
        List.of("CREATE TRIGGER t BEGIN\n  DELETE FROM a;\n  DELETE FROM b;\nEND", "SELECT 1"),
        statements(
            """
            DELIMITER //
            CREATE TRIGGER t BEGIN
              DELETE FROM a;
              DELETE FROM b;
            END
            //
            delimiter ;
            SELECT 1;
            """));
  }

  @Test
  void takesLinesOfWindows() {
    assertEquals(
        List.of("SELECT 1", "SELECT 2"),
        statements("DELIMITER $$\r\nSELECT 1$$\r\nDELIMITER ;\r\nSELECT 2;\r\n"));
  }

  @Test
  void givesTextThatIsNotUtf8AsHex() {
    String dump = "INSERT INTO t VALUES (1,_binary '\u00ff\\0\\'\\\\\\Z''x','\u00c3\u00a9');";
    assertEquals(
        List.of("INSERT INTO t VALUES (1,_binary 0xff00275c1a2778,'\u00e9')"),
        SqlScript.statements(dump.getBytes(StandardCharsets.ISO_8859_1)).stream()
            .map(SqlScript.Statement::sql)
            .toList());
  }

  /** As mysqldump writes a table: it took minutes while each character looked at all before it. */
  @Test
  @Timeout(20)
  void splitsAStatementOfAMegabyteInNoTime() {
    String insert = "INSERT INTO t VALUES " + "(1234567,8901234),".repeat(100_000) + "(1,2)";
    assertEquals(List.of(insert), statements(insert + ";"));
  }
}
