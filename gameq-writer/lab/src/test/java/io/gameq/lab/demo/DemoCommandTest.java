package io.gameq.lab.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.lab.LabMain;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Short demos on the test servers. */
@Execution(ExecutionMode.CONCURRENT)
class DemoCommandTest {
  private static final String SCHEMA =
      """
      CREATE TABLE town (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE) \
      ENGINE=InnoDB;
      CREATE TABLE hero (
        id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30) NOT NULL UNIQUE, town_id INT NOT NULL,
        mood ENUM('good', 'it''s bad') NOT NULL DEFAULT 'good', blessing BLOB,
        FOREIGN KEY (town_id) REFERENCES town (id)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
      CREATE TABLE log (line VARCHAR(99)) ENGINE=InnoDB;
      DELIMITER //
      CREATE TRIGGER hero_made AFTER INSERT ON hero FOR EACH ROW BEGIN
        INSERT INTO log VALUES (CONCAT('made ', NEW.id)); -- of an unmanaged table
      END //
      DELIMITER ;
      CREATE TABLE bag (hero_id INT NOT NULL, slot TINYINT NOT NULL, item VARCHAR(50) NOT NULL, \
      PRIMARY KEY (hero_id, slot),
        FOREIGN KEY (hero_id) REFERENCES hero (id)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
      CREATE TABLE horse (id BIGINT AUTO_INCREMENT PRIMARY KEY, hero_id INT NOT NULL, speed \
      DOUBLE NOT NULL,
        FOREIGN KEY (hero_id) REFERENCES hero (id)) ENGINE=InnoDB;
      CREATE TABLE visit (hero_id INT NOT NULL, at_time DATETIME NOT NULL) ENGINE=InnoDB;
      """;

  @TempDir Path directory;

  private final MySqlServer database = TestServers.mysql().freshDatabase("demo");
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int demo(String... more) throws IOException {
    Path password = Files.writeString(directory.resolve("password"), database.password() + "\n");
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("demo", "--seconds", "3", "--players", "40", "--rate", "1000"));
    arguments.addAll(
        List.of("--redis", TestServers.adminRedisUri(), "--mysql", database.jdbcUrl()));
    arguments.addAll(List.of("--mysql-user", database.user()));
    arguments.addAll(List.of("--mysql-password-file", password.toString()));
    arguments.addAll(List.of(more));
    return LabMain.run(
        new PrintWriter(out, true), new PrintWriter(err, true), arguments.toArray(String[]::new));
  }

  private String output() {
    return out + "\n" + err;
  }

  @Test
  void endsWithZeroWhenNothingWasLost() throws IOException {
    assertEquals(0, demo("--seed", "7"), this::output);
    assertTrue(out.toString().contains("seed 7"), this::output);
    assertTrue(
        out.toString().matches("(?s).*verified: \\d+ rows, 0 lost, 0 stale, 0 resurrected\\R"),
        this::output);
  }

  @Test
  @Tag("long")
  void endsWithOneAndNamesTheRowThatIsNotInMySql() throws IOException {
    assertEquals(1, demo("--break-verification"), this::output);
    String text = out.toString();
    int at = text.indexOf("dropped ") + "dropped ".length();
    String key = text.substring(at, text.indexOf(' ', at));
    assertTrue(text.contains("lost in MySQL: " + key + System.lineSeparator()), this::output);
    assertTrue(text.contains(" 1 lost, 0 stale, 0 resurrected"), this::output);
  }

  @Test
  @Tag("long")
  void playsOverAnySchemaAndSaysWhatItCannotManage() throws IOException {
    Path schema = Files.writeString(directory.resolve("schema.sql"), SCHEMA);
    assertEquals(0, demo("--schema", schema.toString()), this::output);
    String text = out.toString();
    assertTrue(text.contains("managed (3): bag, hero, horse"), this::output);
    assertTrue(text.contains("visit: it has no primary key"), this::output);
    assertTrue(text.contains("without an owner column (2): log, town"), this::output);
  }

  @Test
  void playsOverOwnersOfSeveralKindsAndLeavesOutWhatTriggersWrite() throws IOException {
    Path schema =
        Files.writeString(
            directory.resolve("schema.sql"),
            SCHEMA
                + """
                CREATE TABLE clan (id INT PRIMARY KEY, name VARCHAR(30) NOT NULL) ENGINE=InnoDB;
                CREATE TABLE chest (clan_id INT NOT NULL, slot INT NOT NULL, \
                PRIMARY KEY (clan_id, slot), FOREIGN KEY (clan_id) REFERENCES clan (id)) \
                ENGINE=InnoDB;
                CREATE TABLE deed (id INT PRIMARY KEY, clan_id INT NOT NULL, \
                FOREIGN KEY (clan_id) REFERENCES clan (id)) ENGINE=InnoDB;
                CREATE TRIGGER clan_made AFTER INSERT ON clan FOR EACH ROW \
                INSERT INTO deed (id, clan_id) VALUES (NEW.id, NEW.id);
                """);
    assertEquals(
        0,
        demo(
            "--schema",
            schema.toString(),
            "--owner-column",
            "hero_id",
            "--owner-column",
            "clan_id"),
        this::output);
    String text = out.toString();
    assertTrue(text.contains("owners: hero, named by hero_id, the rows of hero"), this::output);
    assertTrue(text.contains("owners: clan, named by clan_id, the rows of clan"), this::output);
    assertTrue(text.contains("managed (5): bag, chest, clan, hero, horse"), this::output);
    assertTrue(text.contains("deed: trigger clan_made of clan: writes it past"), this::output);
  }

  /** With the head, comments and statements of a default mysqldump. */
  @Test
  void fixesTheTablesOfADumpAndPlaysOverThem() throws IOException {
    Path dump =
        Files.writeString(
            directory.resolve("dump.sql"),
            """
            /*M!999999\\- enable the sandbox mode */
            -- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
            /*!50503 SET NAMES utf8mb4 */;
            /*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
            SET @@SESSION.SQL_LOG_BIN= 0;
            SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5';
            DROP TABLE IF EXISTS `bag`;
            CREATE TABLE `bag` (`hero_id` int NOT NULL, `item` varbinary(50) DEFAULT NULL,
              KEY `hero_id` (`hero_id`)) ENGINE=MyISAM DEFAULT CHARSET=utf8mb4;
            LOCK TABLES `bag` WRITE;
            /*!40000 ALTER TABLE `bag` DISABLE KEYS */;
            INSERT INTO `bag` VALUES %s;
            /*!40000 ALTER TABLE `bag` ENABLE KEYS */;
            UNLOCK TABLES;
            CREATE TABLE `hero` (`id` int NOT NULL AUTO_INCREMENT, `name` varchar(30) NOT NULL,
              PRIMARY KEY (`id`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
            INSERT INTO `hero` VALUES (1,'Ann');
            CREATE TABLE `horse` (`hero_id` int DEFAULT NULL, `name` varchar(30) NOT NULL,
              UNIQUE KEY `name` (`hero_id`,`name`), CONSTRAINT `horse_hero` FOREIGN KEY (`hero_id`)
              REFERENCES `hero` (`id`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
            DELIMITER ;;
            /*!50003 CREATE*/ /*!50017 DEFINER=`nobody`@`%%`*/ /*!50003 TRIGGER `hero_made` AFTER
              INSERT ON `hero` FOR EACH ROW BEGIN INSERT INTO bag VALUES (NEW.id, 'x'); END */;;
            DELIMITER ;
            """
                .formatted("(1,'x'),".repeat(2_000) + "(1,_binary 'y')"));
    assertEquals(0, demo("--schema", dump.toString(), "--fix"), this::output);
    String text = out.toString();
    assertTrue(text.contains("bag: its engine is MyISAM: use InnoDB; it has no"), this::output);
    assertTrue(text.contains("horse: it has no primary key; owner column"), this::output);
    assertTrue(text.contains("ALTER TABLE `bag` ENGINE=InnoDB, ADD COLUMN `id`"), this::output);
    assertTrue(text.contains("managed (3): bag, hero, horse"), this::output);
    assertTrue(text.contains("left out, since gameq does not see what it writes"), this::output);
  }

  @Test
  void refusesADatabaseThatHoldsTables() throws IOException, SQLException {
    database.execute("CREATE TABLE precious (id INT PRIMARY KEY)");
    assertEquals(ExitCodes.COULD_NOT_RUN, demo(), this::output);
    assertTrue(err.toString().contains("wants an empty one"), this::output);
    assertEquals("0", database.queryText("SELECT COUNT(*) FROM precious"));
  }

  /** Persian digits: what is formatted by the JVM's locale is no number to a server. */
  @Test
  @Tag("long")
  void playsWhereDigitsAreOthers() throws Exception {
    Path password = Files.writeString(directory.resolve("password"), database.password() + "\n");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Duser.language=fa", "-Duser.country=IR"));
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("--add-"))
        .forEach(command::add);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), LabMain.class.getName()));
    command.addAll(List.of("demo", "--seconds", "3", "--players", "40", "--rate", "300"));
    command.addAll(List.of("--redis", TestServers.adminRedisUri(), "--mysql", database.jdbcUrl()));
    command.addAll(List.of("--mysql-user", database.user()));
    command.addAll(List.of("--mysql-password-file", password.toString()));
    Path said = directory.resolve("said");
    Process demo =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    assertTrue(demo.waitFor(3, TimeUnit.MINUTES));
    String text = Files.readString(said);
    assertEquals(0, demo.exitValue(), text);
    assertTrue(text.matches("(?s).*verified: \\d+ rows, 0 lost, 0 stale, 0 resurrected\\R"), text);
  }

  @Test
  void aSchemaFileStaysWithinTheDatabaseOfTheDemo() throws IOException, SQLException {
    MySqlServer other = TestServers.mysql().freshDatabase("prod");
    other.execute("CREATE TABLE precious (id INT PRIMARY KEY)");
    String name = other.queryText("SELECT DATABASE()");
    Path schema =
        Files.writeString(
            directory.resolve("schema.sql"),
            "USE `%1$s`;\nDROP TABLE IF EXISTS precious;\n%2$s\nDROP TABLE %1$s.precious;"
                .formatted(name, SCHEMA));
    assertEquals(ExitCodes.COULD_NOT_RUN, demo("--schema", schema.toString()), this::output);
    assertTrue(err.toString().contains("names the database '" + name + "'"), this::output);
    Files.writeString(
        schema, "USE `%s`;\nDROP TABLE IF EXISTS precious;\n%s".formatted(name, SCHEMA));
    assertEquals(0, demo("--schema", schema.toString()), this::output);
    assertTrue(out.toString().contains("left out, since the demo has a database"), this::output);
    assertEquals("0", other.queryText("SELECT COUNT(*) FROM precious"));
  }

  @Test
  void refusesAbsurdNumbers() throws IOException {
    assertEquals(ExitCodes.COULD_NOT_RUN, demo("--players", "1"), this::output);
  }
}
