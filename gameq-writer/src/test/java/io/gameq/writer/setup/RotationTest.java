package io.gameq.writer.setup;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.Password;
import io.gameq.rights.MySqlRights;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rights.RedisRights;
import io.gameq.servers.ChildJvm;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.servers.RedisProcess;
import io.gameq.servers.TestServers;
import io.gameq.servers.Waits;
import io.gameq.writer.CampaignWriter;
import io.gameq.writer.CommandLineRun;
import io.gameq.writer.config.ConfigReader;
import io.lettuce.core.KillArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Passwords are changed on the servers and in files while a node and a writer run. */
class RotationTest {
  /** In every password of these tests. */
  private static final String SECRET = "s3cr3t";

  private static final List<Role> ROLES = List.of(Role.NODE, Role.WRITER);

  record Pet(long id, long playerId) {}

  @TempDir Path directory;

  private final String namespace = "r" + UUID.randomUUID().toString().substring(0, 8);
  private final int port = RedisProcess.freePort();
  private final StatefulRedisConnection<String, String> redis = TestServers.redis();
  private GameDatabase database;

  @BeforeEach
  void start() throws Exception {
    database =
        GameDatabase.create("rotation")
            .table(
                "pet", "player", "player_id", "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL");
    String unused = TestServers.redisUri(Role.NODE, namespace); // makes the users
    for (String sql :
        MySqlRights.statements(MySqlRights.script(namespace, name(), List.of("pet")))) {
      database.server().execute(sql.replaceAll("\\$\\{[A-Z]+_PASSWORD}", "to be changed"));
    }
    change("first");
    write("first");
  }

  @AfterEach
  void stop() throws SQLException {
    for (Role role : Role.values()) {
      database.server().execute("DROP USER " + mysqlUser(role));
    }
    redis.close();
  }

  private String name() throws SQLException {
    return database.server().queryText("SELECT DATABASE()");
  }

  private String mysqlUser(Role role) {
    return "'" + MySqlRights.user(namespace, role) + "'@'%'";
  }

  /** What the writer logged, which is a process of its own. */
  private String log() throws IOException {
    Path log = directory.resolve("log");
    return Files.exists(log) ? Files.readString(log) : "";
  }

  private static String secret(String of, Role role, String which) {
    return SECRET + "-" + of + role.lowerCase() + which;
  }

  private Path file(String of, Role role) {
    return directory.resolve(of + "-" + role.lowerCase());
  }

  /** New passwords on the servers, and an end to all who are logged in with the old ones. */
  private void change(String which) throws SQLException {
    for (Role role : ROLES) {
      String user = RedisRights.user(namespace, role);
      LeastRedisUsers.changePassword(redis.sync(), user, secret("redis", role, which));
      redis.sync().clientKill(KillArgs.Builder.user(user));
      database
          .server()
          .execute(
              "ALTER USER %s IDENTIFIED BY '%s'"
                  .formatted(mysqlUser(role), secret("mysql", role, which)));
      killSessions(MySqlRights.user(namespace, role));
    }
  }

  private void killSessions(String user) throws SQLException {
    String sessions =
        "SELECT GROUP_CONCAT(id) FROM information_schema.processlist WHERE user = '" + user + "'";
    for (String id : database.server().queryText(sessions).split(",", -1)) {
      if (id.matches("\\d+")) {
        try {
          database.server().execute("KILL " + id);
        } catch (SQLException e) {
          // it has ended meanwhile
        }
      }
    }
  }

  /** As whoever rotates them does: in one step. */
  private void write(String which) throws IOException {
    for (Role role : ROLES) {
      for (String of : List.of("redis", "mysql")) {
        Path fresh = Files.writeString(directory.resolve("fresh"), secret(of, role, which) + "\n");
        Files.move(fresh, file(of, role), StandardCopyOption.ATOMIC_MOVE);
      }
    }
  }

  private GameQueueConfigBuilder node() {
    return GameQueueConfig.builder()
        .callTimeout(Waits.CALL)
        .redis(LeastRedisUsers.withoutLogin(TestServers.redisUri()))
        .redisUser(RedisRights.user(namespace, Role.NODE))
        .redisPassword(Password.ofFile(file("redis", Role.NODE)))
        .mysql(
            database.server().jdbcUrl(),
            MySqlRights.user(namespace, Role.NODE),
            Password.ofFile(file("mysql", Role.NODE)))
        .namespace(namespace)
        .slots(4)
        .node("n1")
        .walDirectory(directory.resolve("wal"));
  }

  private Path yaml() throws IOException {
    return Files.writeString(
        directory.resolve("gameq.yaml"),
        """
        namespace: %s
        slots: 4
        redis: { uri: "%s", user: %s, passwordFile: %s }
        mysql: { url: "%s", user: %s, passwordFile: %s }
        http: { port: %d }
        """
            .formatted(
                namespace,
                LeastRedisUsers.withoutLogin(TestServers.redisUri()),
                RedisRights.user(namespace, Role.WRITER),
                file("redis", Role.WRITER),
                database.server().jdbcUrl(),
                MySqlRights.user(namespace, Role.WRITER),
                file("mysql", Role.WRITER),
                port));
  }

  private String pets() throws SQLException {
    return database.server().queryText("SELECT GROUP_CONCAT(id ORDER BY id) FROM pet");
  }

  private static CommitReceipt commit(OwnerSession player, long id) {
    player.put(new Pet(id, 1));
    return player.commit();
  }

  private String get(String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @Test
  void nodeAndWriterGoOnOnceTheFilesHoldTheNewPasswords() throws Exception {
    List<Throwable> failures = new ArrayList<>();
    String shown;
    ChildJvm writer =
        ChildJvm.start(
            directory.resolve("log"),
            CampaignWriter.class,
            List.of("run", "--config", yaml().toString()));
    try (GameQueue node = GameQueue.open(node().build())) {
      OwnerSession player = node.open("player:1");
      commit(player, 1).awaitDurable(LONG);
      change("second");
      CommitReceipt meanwhile = commit(player, 2);
      failures.add(assertThrows(GameQueueException.class, () -> node.open("player:2").close()));
      await().atMost(LONG).until(() -> isTold("redis") && isTold("mysql"));
      assertFalse(meanwhile.durable().isDone());
      shown = get("/ready");
      write("second");
      meanwhile.awaitDurable(LONG);
      commit(player, 3).awaitDurable(LONG);
      await().atMost(LONG).untilAsserted(() -> node.open("player:2").close());
      assertEquals("1,2,3", pets());
      shown += get("/metrics") + get("/ready");
    } finally {
      System.err.print(log());
      writer.kill();
    }
    assertTrue(shown.matches("(?s).*gameq_writer_rows_total\\{[^}]*} 3\\.0\\n.*"), shown);
    assertNoSecret(shown, failures);
  }

  /** Whether the writer's log names its user there and the file of the password. */
  private boolean isTold(String of) throws IOException {
    String user =
        of.equals("redis")
            ? RedisRights.user(namespace, Role.WRITER)
            : MySqlRights.user(namespace, Role.WRITER);
    return log().contains("user '" + user + "' with the password of file " + file(of, Role.WRITER));
  }

  @Test
  void wrongPasswordsEndAStartWithAnErrorThatNamesUserAndFile() throws Exception {
    List<Throwable> failures = new ArrayList<>();
    StringBuilder shown = new StringBuilder();
    for (String of : List.of("redis", "mysql")) {
      write("first");
      for (Role role : ROLES) {
        Files.writeString(file(of, role), SECRET + "-wrong");
      }
      GameQueueException refused =
          assertThrows(GameQueueException.class, () -> GameQueue.open(node().build()).close());
      assertTrue(
          String.valueOf(refused.getMessage())
              .contains("with the password of file " + file(of, Role.NODE)),
          refused.getMessage());
      failures.add(refused);
      CommandLineRun run = CommandLineRun.of("run", "--verbose", "--config", yaml().toString());
      assertEquals(2, run.exitCode());
      assertTrue(
          run.err().contains("with the password of file " + file(of, Role.WRITER)), run.err());
      shown.append(run);
    }
    write("first");
    Files.delete(file("redis", Role.NODE));
    failures.add(
        assertThrows(GameQueueException.class, () -> GameQueue.open(node().build()).close()));
    assertTrue(
        String.valueOf(failures.get(2).getMessage())
            .contains("password file " + file("redis", Role.NODE) + " cannot be read"),
        failures.get(2).getMessage());
    Files.writeString(file("redis", Role.WRITER), "\n");
    shown.append(CommandLineRun.of("stale", "list", "--config", yaml().toString()));
    assertTrue(shown.toString().contains("is empty: write the password into it"), shown::toString);
    write("first");
    shown
        .append(node().build())
        .append(node().build().redisPassword())
        .append(node().build().mysqlPassword())
        .append(ConfigReader.read(yaml()));
    assertNoSecret(shown.toString(), failures);
  }

  private void assertNoSecret(String shown, List<Throwable> failures) throws IOException {
    StringWriter all = new StringWriter().append(shown).append(log());
    failures.forEach(failure -> failure.printStackTrace(new PrintWriter(all, true)));
    assertFalse(all.toString().contains(SECRET), all::toString);
  }
}
