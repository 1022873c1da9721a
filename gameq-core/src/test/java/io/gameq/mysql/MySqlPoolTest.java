package io.gameq.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.gameq.GameQueueException;
import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedMariaDb.Options;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MySqlPoolTest {
  @TempDir Path directory;

  private final MySqlServer server = TestServers.mysql().freshDatabase("pool");

  @Test
  void sessionsRunInUtcAndReadCommittedWhateverTheUrlSays() throws SQLException {
    String url =
        server.jdbcUrl()
            + "?useAffectedRows=true&allowMultiQueries=false&serverTimezone=Asia/Tokyo"
            + "&characterEncoding=latin1&zeroDateTimeBehavior=ROUND";
    try (MySql pool =
            MySqlPool.open(new MySqlConfig(url, server.user(), server.password(), 2), "test");
        Connection connection = pool.connection();
        Statement statement = connection.createStatement()) {
      assertEquals(Connection.TRANSACTION_READ_COMMITTED, connection.getTransactionIsolation());
      assertEquals("+00:00", text(statement, "SELECT @@time_zone"));
      assertEquals("utf8mb4", text(statement, "SELECT @@character_set_client"));
      statement.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)");
      statement.execute("INSERT INTO t VALUES (1, 1)");
      assertEquals(
          1, statement.executeUpdate("UPDATE t SET v = 1"), "counts found rows, not changed ones");
      assertTrue(statement.execute("SELECT 1; SELECT 2"), "an open needs few round trips");
      assertEquals("gameq-test", hikari(pool).getPoolName());
    }
  }

  /** That the server then ends the session is its own matter. */
  @Test
  void theServerIsToldToEndATransactionWhoseClientVanished() throws SQLException {
    var config = server.config(1);
    for (MySql each : List.of(MySqlPool.open(config, "test"), MySqlPool.openForFlushes(config))) {
      try (each;
          Connection connection = each.connection();
          Statement statement = connection.createStatement()) {
        assertEquals("35", text(statement, "SELECT @@SESSION.wait_timeout"));
        assertTrue(hikari(each).getKeepaliveTime() < 35_000);
        if (text(statement, "SELECT VERSION()").contains("MariaDB")) {
          assertEquals("20", text(statement, "SELECT @@SESSION.idle_transaction_timeout"));
        }
      }
    }
  }

  @Test
  void ofTheServersModeOnlyWhatSaysWhichDatesThereAreStays() throws SQLException {
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE padded (name CHAR(5))");
      statement.execute("INSERT INTO padded VALUES ('a')");
      statement.execute(
          "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,"
              + "NO_UNSIGNED_SUBTRACTION,HIGH_NOT_PRECEDENCE,REAL_AS_FLOAT,NO_ZERO_DATE,"
              + "ALLOW_INVALID_DATES,NO_BACKSLASH_ESCAPES'");
      assertEquals("a    ", text(statement, "SELECT name FROM padded"));
      statement.execute(MySqlPool.EVERY_SESSION + "wait_timeout = 35");
      assertEquals(
          Set.of(
              "STRICT_TRANS_TABLES",
              "STRICT_ALL_TABLES",
              "NO_ENGINE_SUBSTITUTION",
              "ERROR_FOR_DIVISION_BY_ZERO",
              "NO_AUTO_VALUE_ON_ZERO",
              "NO_ZERO_DATE",
              "ALLOW_INVALID_DATES",
              "NO_BACKSLASH_ESCAPES"),
          Set.of(text(statement, "SELECT @@SESSION.sql_mode").split(",")));
      assertEquals("a", text(statement, "SELECT name FROM padded"));
      statement.execute("SET sql_mode = ''");
      statement.execute(MySqlPool.EVERY_SESSION + "wait_timeout = 35");
      assertTrue(
          text(statement, "SELECT @@SESSION.sql_mode").contains("STRICT_TRANS_TABLES"),
          "a server that is not strict");
    }
  }

  /** A demoted primary: what has been connected to it goes where the primary is by then. */
  @Test
  void noConnectionToAServerThatIsReadOnlyStays() throws SQLException {
    try (EmbeddedMariaDb own = EmbeddedMariaDb.start(new Options(directory, 0, 2, List.of()))) {
      MySqlServer admin = new MySqlServer(own.jdbcUrl(), own.user(), own.password());
      admin.execute(
          "CREATE DATABASE game",
          "CREATE USER writer IDENTIFIED BY 'w'",
          "GRANT ALL ON game.* TO writer",
          "CREATE TABLE game.t (id INT PRIMARY KEY)");
      MySqlConfig config = new MySqlConfig(own.jdbcUrl("game"), "writer", "w", 1);
      String before;
      try (MySql pool = MySqlPool.open(config, "test")) {
        try (Connection busy = pool.connection();
            Statement statement = busy.createStatement()) {
          before = text(statement, "SELECT CONNECTION_ID()");
          admin.execute("SET GLOBAL read_only = 1");
          SQLException refused =
              assertThrows(SQLException.class, () -> statement.execute("INSERT INTO t VALUES (1)"));
          assertEquals(1290, refused.getErrorCode());
        }
        assertTrue(refusal(config).contains("is read_only"), refusal(config));
        assertTrue(mayPass(config), "a start waits for it");
        admin.execute("SET GLOBAL read_only = 0");
        String second = connectionId(pool);
        assertNotEquals(before, second);
        admin.execute("SET GLOBAL read_only = 1");
        hikari(pool).setConnectionTimeout(1_000);
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1)); // the pool tries who was idle for 0.5 s
        assertThrows(SQLException.class, pool::connection);
        admin.execute("SET GLOBAL read_only = 0");
        hikari(pool).setConnectionTimeout(20_000);
        assertNotEquals(second, connectionId(pool));
      }
    }
  }

  private static String connectionId(MySql pool) throws SQLException {
    try (Connection connection = pool.connection();
        Statement statement = connection.createStatement()) {
      return text(statement, "SELECT CONNECTION_ID()");
    }
  }

  @Test
  void wrongPasswordIsNamedWithoutThePassword() {
    var config = new MySqlConfig(server.jdbcUrl(), server.user(), "not-the-password", 1);
    String message = refusal(config);
    assertTrue(message.contains("refuses the login of user '" + server.user() + "'"), message);
    assertTrue(message.contains(config.address()), message);
    assertFalse(mayPass(config), "nobody waits for it");
    assertFalse(message.contains("not-the-password"), message);
    assertFalse(config.toString().contains("not-the-password"));
  }

  @Test
  void absentDatabaseIsNamed() {
    String url = TestServers.mysql().jdbcUrl() + "no_such_database";
    String message = refusal(new MySqlConfig(url, server.user(), server.password(), 1));
    assertTrue(message.contains("has no database 'no_such_database'"), message);
  }

  @Test
  void aDatabaseThatMaySimplyBeMisspeltIsNamed() throws SQLException {
    String user = "no_rights_" + System.nanoTime();
    server.execute("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'p'");
    try {
      String url = TestServers.mysql().jdbcUrl() + "gaem";
      String message = refusal(new MySqlConfig(url, user, "p", 1));
      assertTrue(
          message.contains("has no database 'gaem' that user '" + user + "' may use"), message);
      assertTrue(message.contains("if it is misspelt"), message);
    } finally {
      server.execute("DROP USER '" + user + "'@'%'");
    }
  }

  @Test
  void absentServerIsNamedWithinTheConnectTimeout() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    MySqlConfig absent = new MySqlConfig("jdbc:mysql://127.0.0.1:" + port + "/g", "u", "", 1);
    String message = refusal(absent);
    assertTrue(message.contains("127.0.0.1:" + port + " does not answer"), message);
    assertTrue(mayPass(absent), "a start waits for it");
  }

  private static boolean mayPass(MySqlConfig config) {
    return assertThrows(GameQueueException.class, () -> MySqlPool.open(config, "test").close())
        .isOutage();
  }

  private static String refusal(MySqlConfig config) {
    return String.valueOf(
        assertThrows(GameQueueException.class, () -> MySqlPool.open(config, "test").close())
            .getMessage());
  }

  private static HikariDataSource hikari(MySql mysql) {
    return (HikariDataSource) mysql.connections();
  }

  private static String text(Statement statement, String sql) throws SQLException {
    try (ResultSet rows = statement.executeQuery(sql)) {
      assertTrue(rows.next());
      return rows.getString(1);
    }
  }
}
