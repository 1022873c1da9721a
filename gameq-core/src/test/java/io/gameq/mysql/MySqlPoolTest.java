package io.gameq.mysql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.gameq.GameQueueException;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

class MySqlPoolTest {
  private final MySqlServer server = TestServers.mysql().freshDatabase("pool");

  @Test
  void sessionsRunInUtcAndReadCommittedWhateverTheUrlSays() throws SQLException {
    String url =
        server.jdbcUrl()
            + "?useAffectedRows=true&allowMultiQueries=false"
            + "&sessionVariables=time_zone='%2B05:00'";
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
  void aZeroIsAKeyInEverySessionAndTheServersModeStays() throws SQLException {
    var config = server.config(1);
    List<String> own;
    try (Connection plain = server.connect();
        Statement statement = plain.createStatement()) {
      own = List.of(text(statement, "SELECT @@GLOBAL.sql_mode").split(","));
    }
    try (MySql pool = MySqlPool.open(config, "test");
        MySql schema = MySqlPool.openForSchema(config)) {
      for (MySql each : List.of(pool, schema)) {
        try (Connection connection = each.connection();
            Statement statement = connection.createStatement()) {
          List<String> mode = List.of(text(statement, "SELECT @@SESSION.sql_mode").split(","));
          assertTrue(mode.contains("NO_AUTO_VALUE_ON_ZERO"), mode::toString);
          assertTrue(mode.containsAll(own), () -> mode + " lacks some of " + own);
        }
      }
    }
  }

  @Test
  void anEmptyModeOfTheUrlTakesNothingAway() throws SQLException {
    String url = server.jdbcUrl() + "?sessionVariables=sql_mode=''";
    try (MySql pool =
            MySqlPool.open(new MySqlConfig(url, server.user(), server.password(), 1), "test");
        Connection connection = pool.connection();
        Statement statement = connection.createStatement()) {
      String mode = text(statement, "SELECT @@SESSION.sql_mode");
      assertTrue(mode.contains("NO_AUTO_VALUE_ON_ZERO"), mode);
    }
  }

  @Test
  void wrongPasswordIsNamedWithoutThePassword() {
    var config = new MySqlConfig(server.jdbcUrl(), server.user(), "not-the-password", 1);
    String message = refusal(config);
    assertTrue(message.contains("refuses the login of user '" + server.user() + "'"), message);
    assertTrue(message.contains(config.address()), message);
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
  void absentServerIsNamedWithinTheConnectTimeout() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    String message = refusal(new MySqlConfig("jdbc:mysql://127.0.0.1:" + port + "/g", "u", "", 1));
    assertTrue(message.contains("127.0.0.1:" + port + " does not answer"), message);
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
