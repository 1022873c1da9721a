package io.gameq.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.lab.servers.EmbeddedServerException;
import io.gameq.lab.servers.WorkDirectory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What demos rely on: a kept directory keeps its rows, a stop leaves nothing. */
class EmbeddedServersTest {
  /** Skips all where no server is wanted: {@link WithoutServers}. */
  @BeforeAll
  static void asksForServers(@TempDir Path directory) {
    WorkDirectory unused = WorkDirectory.of(directory, "");
  }

  @Test
  void rowsSurviveAKillWhereTheWorkDirectoryIsKept(@TempDir Path directory) throws Exception {
    var options = new EmbeddedMariaDb.Options(directory, 0, 1, List.of());
    try (EmbeddedMariaDb first = EmbeddedMariaDb.start(options)) {
      server(first)
          .execute(
              "CREATE DATABASE game",
              "CREATE TABLE game.item (id INT PRIMARY KEY)",
              "INSERT INTO game.item VALUES (7)");
      assertTrue(ProcessHandle.of(first.pid()).orElseThrow().destroyForcibly());
    }
    try (EmbeddedMariaDb second = EmbeddedMariaDb.start(options)) {
      MySqlServer server = server(second);
      assertEquals("7", server.queryText("SELECT id FROM game.item"));
      assertEquals(second.version(), server.queryText("SELECT VERSION()"));
      assertEquals("1", server.queryText("SELECT @@innodb_flush_log_at_trx_commit"));
      assertEquals("utf8mb4", server.queryText("SELECT @@character_set_server"));
    }
  }

  @Test
  void closeEndsTheProcess() {
    EmbeddedRedis redis = EmbeddedRedis.start();
    assertTrue(redis.isAlive());
    redis.close();
    redis.close();
    assertFalse(redis.isAlive());
  }

  @Test
  void aTakenPortIsAnErrorWithTheServersOwnWords() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var options = new EmbeddedRedis.Options(null, taken.getLocalPort(), List.of());
      EmbeddedServerException error =
          assertThrows(EmbeddedServerException.class, () -> EmbeddedRedis.start(options));
      assertTrue(
          String.valueOf(error.getMessage()).contains("Address already in use"),
          error.getMessage());
    }
  }

  private static MySqlServer server(EmbeddedMariaDb mariaDb) {
    return new MySqlServer(mariaDb.jdbcUrl(), mariaDb.user(), mariaDb.password());
  }
}
