package io.gameq.writer.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableInspectionTest {
  private static final MySqlServer DATABASE = TestServers.mysql().freshDatabase("inspect");

  @BeforeAll
  static void createTables() throws SQLException {
    DATABASE.execute(
        "CREATE TABLE guild (id INT AUTO_INCREMENT PRIMARY KEY, tag VARCHAR(9) NOT NULL UNIQUE)",
        "CREATE TABLE member (guild_id INT, slot INT, KEY (slot), PRIMARY KEY (slot, guild_id),"
            + " FOREIGN KEY (guild_id) REFERENCES guild (id) ON DELETE CASCADE)",
        "CREATE TABLE long_key (id INT, t VARCHAR(100) COLLATE utf8mb4_bin, PRIMARY KEY (id, t))",
        "CREATE TABLE null_owner (id INT PRIMARY KEY, o INT NULL, d DATE NOT NULL)",
        "CREATE TABLE unmanaged (id INT PRIMARY KEY, code INT NOT NULL UNIQUE)",
        "CREATE TABLE child_of (id INT PRIMARY KEY, o INT NOT NULL, p INT NULL, c INT NULL,"
            + " CONSTRAINT to_id FOREIGN KEY (p) REFERENCES unmanaged (id) ON DELETE SET NULL,"
            + " CONSTRAINT to_code FOREIGN KEY (c) REFERENCES unmanaged (code) ON UPDATE CASCADE)",
        "CREATE TABLE daily (id INT PRIMARY KEY, o INT NOT NULL, day DATE NOT NULL, UNIQUE KEY"
            + " once_a_day (o, day))",
        "CREATE TABLE tree (id INT PRIMARY KEY, up INT NOT NULL, FOREIGN KEY (up) REFERENCES tree"
            + " (id))",
        "CREATE TABLE clan (id INT PRIMARY KEY, leader INT)",
        "CREATE TABLE clansman (id INT PRIMARY KEY, clan INT NOT NULL, FOREIGN KEY (clan)"
            + " REFERENCES clan (id))",
        "ALTER TABLE clan ADD FOREIGN KEY (leader) REFERENCES clansman (id)",
        "CREATE TRIGGER trig BEFORE UPDATE ON null_owner FOR EACH ROW SET NEW.d = OLD.d");
  }

  @ParameterizedTest
  @CsvSource({
    "guild, id, other UNIQUE keys (tag)",
    "guild, id, column id is AUTO_INCREMENT",
    "member, guild_id, to guild is ON DELETE CASCADE",
    "child_of, o, foreign key to_id to unmanaged is ON DELETE SET NULL",
    "child_of, o, foreign key to_code to unmanaged is ON UPDATE CASCADE",
    "null_owner, d, triggers (trig)",
    "null_owner, o, no index begins with owner column o",
    "long_key, id, can take up to",
    "daily, o, exchange values of the UNIQUE key once_a_day",
    "tree, id, NOT NULL columns lead from this table back to it",
    "clan, id, by way of others back to it",
    "clansman, id, by way of others back to it"
  })
  void warnsOfWhatSurprises(String table, String ownerColumn, String warning) {
    TableInspection inspection = inspect(table, ownerColumn);
    assertTrue(String.join("; ", inspection.warnings()).contains(warning), inspection::toString);
  }

  @ParameterizedTest
  @CsvSource({"guild, id, exchange values", "clan, id, NOT NULL columns", "tree, id, by way of"})
  void saysNothingOfWhatCanBeTakenApart(String table, String ownerColumn, String warning) {
    TableInspection inspection = inspect(table, ownerColumn);
    assertFalse(String.join("; ", inspection.warnings()).contains(warning), inspection::toString);
  }

  @Test
  void warnsOfACascadeFromAnotherDatabaseAndNotOfOneThatRestricts() throws SQLException {
    MySqlServer child = TestServers.mysql().freshDatabase("child");
    child.execute(
        "CREATE TABLE guild (id INT PRIMARY KEY, o INT NOT NULL, KEY (o), FOREIGN KEY (o)"
            + " REFERENCES "
            + name()
            + ".guild (id) ON DELETE CASCADE)",
        "CREATE TABLE safe (id INT PRIMARY KEY, o INT NOT NULL, KEY (o), FOREIGN KEY (o) REFERENCES"
            + " guild (id))");
    List<TableInspection> found =
        inspect(child, new TableSpec("guild", "player", "o"), new TableSpec("safe", "player", "o"));
    assertEquals(1, found.get(0).warnings().size(), found::toString);
    assertTrue(
        found.get(0).warnings().get(0).contains("to " + name() + ".guild is ON DELETE"),
        found::toString);
    assertEquals(List.of(), found.get(1).warnings());
  }

  private static String name() {
    return DATABASE.config(1).database();
  }

  private static TableInspection inspect(String table, String ownerColumn) {
    return inspect(DATABASE, new TableSpec(table, "player", ownerColumn)).get(0);
  }

  private static List<TableInspection> inspect(MySqlServer server, TableSpec... tables) {
    try (SchemaDatabase database = SchemaDatabase.open(server.config(2))) {
      return database.inspect(List.of(tables));
    }
  }
}
