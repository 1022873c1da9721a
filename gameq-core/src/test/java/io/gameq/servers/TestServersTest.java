package io.gameq.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.api.StatefulRedisConnection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** The servers that every other test relies on. */
class TestServersTest {
  @Test
  void redisAnswersAndNeverEvicts() {
    try (StatefulRedisConnection<String, String> redis = TestServers.redis()) {
      assertEquals("PONG", redis.sync().ping());
      assertEquals(
          "noeviction", redis.sync().configGet("maxmemory-policy").get("maxmemory-policy"));
    }
  }

  @Test
  void mysqlAnswersAndIsStrict() throws SQLException {
    assertTrue(
        TestServers.mysql().queryText("SELECT VERSION()").matches("\\d+\\..*"), "a version number");
    assertTrue(TestServers.mysql().queryText("SELECT @@sql_mode").contains("STRICT_TRANS_TABLES"));
  }

  @Test
  void freshDatabasesAreSeparate() throws SQLException {
    MySqlServer one = TestServers.mysql().freshDatabase("separate");
    MySqlServer two = TestServers.mysql().freshDatabase("separate");
    assertNotEquals(one.jdbcUrl(), two.jdbcUrl());
    one.execute("CREATE TABLE item (id INT PRIMARY KEY)", "INSERT INTO item VALUES (1)");
    two.execute("CREATE TABLE item (id INT PRIMARY KEY)");
    assertEquals("1", one.queryText("SELECT COUNT(*) FROM item"));
    assertEquals("0", two.queryText("SELECT COUNT(*) FROM item"));
  }
}
