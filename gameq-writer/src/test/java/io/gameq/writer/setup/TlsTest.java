package io.gameq.writer.setup;

import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.RedisUnavailableException;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.Password;
import io.gameq.config.Tls;
import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.RedisProcess;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Redis, its Sentinels and MySQL over TLS, with real certificates that fit or do not. */
class TlsTest {
  private static final Duration VALID = Duration.ofDays(1);

  /** The certificates have this name, and not the address 127.0.0.1 which is the same host. */
  private static final String HOST = "localhost";

  @TempDir static Path files;
  @TempDir Path directory;

  private static TestCa.Certified server;
  private static TestCa.Certified expired;
  private static TestCa.Certified client;
  private static Path ca;
  private static Path otherCa;
  private static EmbeddedMariaDb mariaDb;

  record Pet(long id, long playerId) {}

  @BeforeAll
  static void start() throws IOException {
    TestCa authority = new TestCa(files, "ca");
    ca = authority.certificate();
    otherCa = new TestCa(files, "other-ca").certificate();
    server = authority.sign("server", HOST, VALID);
    expired = authority.sign("expired", HOST, Duration.ofHours(-1));
    client = authority.sign("client", "client", VALID);
    mariaDb =
        EmbeddedMariaDb.start(
            new EmbeddedMariaDb.Options(
                null,
                0,
                2,
                List.of(
                    "--ssl=ON",
                    "--ssl-ca=" + ca,
                    "--ssl-cert=" + server.certificate(),
                    "--ssl-key=" + server.key())));
  }

  @AfterAll
  static void stop() {
    mariaDb.close();
  }

  /** A Redis with a port for TLS. */
  private record TlsRedis(EmbeddedRedis redis, int port) implements AutoCloseable {
    static TlsRedis start(TestCa.Certified shown, boolean asksClients) {
      int port = RedisProcess.freePort();
      return new TlsRedis(
          EmbeddedRedis.start(
              new EmbeddedRedis.Options(
                  null,
                  0,
                  List.of(
                      "tls-port", Integer.toString(port),
                      "tls-cert-file", shown.certificate().toString(),
                      "tls-key-file", shown.key().toString(),
                      "tls-ca-cert-file", ca.toString(),
                      "tls-auth-clients", asksClients ? "yes" : "no"))),
          port);
    }

    RedisConfig config(String host, Tls tls) {
      return new RedisConfig(
          "rediss://" + host + ":" + port, RedisLogin.NONE, RedisLogin.NONE, tls, 5_000);
    }

    @Override
    public void close() {
      redis.close();
    }
  }

  private static void connect(RedisConfig config) {
    try (RedisConnector connector = new RedisConnector(config);
        RedisConnection connection = connector.open()) {
      assertEquals("PONG", connection.sync().ping());
    }
  }

  private static MySqlConfig mysql(String host, String user, String password, Tls tls) {
    return new MySqlConfig(
        "jdbc:mysql://%s:%d/".formatted(host, mariaDb.port()), user, Password.of(password), 1, tls);
  }

  private static void connect(MySqlConfig config) {
    try (MySql mysql = MySqlPool.open(config, "tls")) {
      String version =
          mysql
              .jdbi()
              .withHandle(
                  handle ->
                      handle
                          .select("SHOW SESSION STATUS LIKE 'Ssl_version'")
                          .map((rs, context) -> rs.getString(2))
                          .one());
      assertTrue(version.startsWith("TLSv1."), version);
    }
  }

  /** Whose certificate is looked at. */
  enum Server {
    REDIS {
      @Override
      void reach(String host, Tls tls, boolean hasExpired) {
        try (TlsRedis redis = TlsRedis.start(hasExpired ? expired : server, false)) {
          connect(redis.config(host, tls));
        }
      }
    },
    MYSQL {
      @Override
      void reach(String host, Tls tls, boolean hasExpired) throws Exception {
        MySqlConfig config = mysql(host, mariaDb.user(), mariaDb.password(), tls);
        if (!hasExpired) {
          connect(config);
          return;
        }
        Path kept = Files.copy(server.certificate(), files.resolve("kept"));
        Path keptKey = Files.copy(server.key(), files.resolve("kept-key"));
        try {
          show(expired.certificate(), expired.key());
          connect(config);
        } finally {
          show(kept, keptKey);
        }
      }
    };

    abstract void reach(String host, Tls tls, boolean hasExpired) throws Exception;
  }

  private static void show(Path certificate, Path key) throws IOException, SQLException {
    Files.copy(certificate, server.certificate(), StandardCopyOption.REPLACE_EXISTING);
    Files.copy(key, server.key(), StandardCopyOption.REPLACE_EXISTING);
    admin().execute("FLUSH SSL");
  }

  private static MySqlServer admin() {
    return new MySqlServer(
        mariaDb.jdbcUrl() + "?sslMode=DISABLED", mariaDb.user(), mariaDb.password());
  }

  /** Not as an outage, which a writer would wait for. */
  private static void assertRefused(String reason, Executable call) {
    GameQueueException refused = assertThrows(GameQueueException.class, call::run);
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains(reason), message);
    for (Throwable e = refused; e != null; e = e.getCause()) {
      assertFalse(e instanceof RedisUnavailableException || e instanceof SQLException, message);
    }
  }

  private interface Executable {
    void run() throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void aCertificateThatFitsIsTrustedAndOthersAreRefused(Server of) throws Exception {
    Tls trusting = Tls.verifiedBy(ca);
    of.reach(HOST, trusting, false);
    assertRefused("made out for another host", () -> of.reach("127.0.0.1", trusting, false));
    assertRefused("set tls.caFile", () -> of.reach(HOST, Tls.verifiedBy(otherCa), false));
    assertRefused("set tls.caFile", () -> of.reach(HOST, Tls.verified(), false));
    assertRefused("has expired", () -> of.reach(HOST, trusting, true));
    Path broken = Files.writeString(directory.resolve("broken.pem"), "no certificate");
    assertRefused(broken.toString(), () -> of.reach(HOST, Tls.verifiedBy(broken), false));
  }

  @Test
  void aClientCertificateIsShownToServersThatAskForOne() throws Exception {
    Tls without = Tls.verifiedBy(ca);
    Tls with = without.withClient(client.both());
    try (TlsRedis asking = TlsRedis.start(server, true)) {
      connect(asking.config(HOST, with));
      assertRefused("tls.clientFile", () -> connect(asking.config(HOST, without)));
    }
    admin().execute("CREATE USER certified@'%' IDENTIFIED BY 'pw' REQUIRE X509");
    connect(mysql(HOST, "certified", "pw", with));
    GameQueueException refused =
        assertThrows(
            GameQueueException.class, () -> connect(mysql(HOST, "certified", "pw", without)));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("refuses the login of user 'certified'"),
        refused.getMessage());
  }

  @Test
  void aServerWithoutTlsIsNotTalkedTo() {
    Tls tls = Tls.verifiedBy(ca);
    try (EmbeddedRedis plain = EmbeddedRedis.start()) {
      String uri = plain.uri().replace("redis://127.0.0.1", "rediss://" + HOST);
      GameQueueException silent =
          assertThrows(
              GameQueueException.class,
              () -> connect(new RedisConfig(uri, RedisLogin.NONE, RedisLogin.NONE, tls, 1_000)));
      assertTrue(
          String.valueOf(silent.getMessage()).contains("that it speaks TLS on this port"),
          silent.getMessage());
      assertRefused(
          "begin the URI with rediss",
          () ->
              connect(new RedisConfig(plain.uri(), RedisLogin.NONE, RedisLogin.NONE, tls, 1_000)));
    }
    MySqlConfig without = TestServers.mysql().config(1);
    String why =
        String.valueOf(
            assertThrows(
                    GameQueueException.class,
                    () ->
                        connect(
                            new MySqlConfig(
                                without.url(), without.user(), without.password(), 1, tls)))
                .getMessage());
    // MySQL, other than the embedded server, made a certificate for itself when it started.
    assertTrue(
        why.contains("does not speak TLS") || why.contains("not signed by a CA that is trusted"),
        why);
  }

  @Test
  void aSentinelIsAskedOverTlsAndWithALoginOfItsOwn() throws IOException {
    int port = RedisProcess.freePort();
    List<String> settings =
        new ArrayList<>(
            List.of(
                "port 0",
                "tls-port " + port,
                "tls-cert-file " + server.certificate(),
                "tls-key-file " + server.key(),
                "tls-ca-cert-file " + ca,
                "tls-auth-clients no",
                "tls-replication yes",
                "sentinel resolve-hostnames yes",
                "sentinel announce-hostnames yes",
                "user default off",
                "user asker on >ask-secret +ping +sentinel|master"
                    + " +sentinel|get-master-addr-by-name"));
    try (TlsRedis redis = TlsRedis.start(server, false)) {
      settings.add("sentinel monitor primary %s %d 1".formatted(HOST, redis.port()));
      String uri = "rediss-sentinel://%s:%d#primary".formatted(HOST, port);
      try (RedisProcess unused =
          RedisProcess.sentinel(RedisProcess.executable(directory), directory, settings)) {
        RedisLogin asker = new RedisLogin("asker", Password.of("ask-secret"));
        Tls trusting = Tls.verifiedBy(ca);
        connectByTerm(new RedisConfig(uri, RedisLogin.NONE, asker, trusting, 5_000));
        assertRefused(
            "set tls.caFile",
            () ->
                connectByTerm(
                    new RedisConfig(uri, RedisLogin.NONE, asker, Tls.verifiedBy(otherCa), 5_000)));
        RedisLogin wrong = new RedisLogin("asker", Password.of("wrong-secret"));
        assertRefused(
            "refuses the login of user 'asker' with the password of the configuration",
            () -> connectByTerm(new RedisConfig(uri, RedisLogin.NONE, wrong, trusting, 5_000)));
      }
    }
  }

  /** As nodes and writers connect. */
  private static void connectByTerm(RedisConfig config) {
    try (RedisConnector connector = new RedisConnector(config);
        RedisConnection redis = AnyPrimary.open(connector)) {
      assertEquals("PONG", redis.sync().ping());
    }
  }

  @Test
  void aWriterEndsWhereTheCertificateDoesNotFitAndAGameRunsWhereItDoes() throws Exception {
    GameDatabase database =
        GameDatabase.create(admin(), "tls")
            .table(
                "pet", "player", "player_id", "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL");
    try (TlsRedis redis = TlsRedis.start(server, false)) {
      String yaml =
          """
          namespace: tls
          slots: 4
          redis: { uri: "rediss://localhost:%d", tls: { caFile: %s } }
          mysql: { url: "%s", user: root, password: %s, tls: { caFile: %s } }
          http: { port: 0 }
          """;
      String url = database.server().jdbcUrl().replace("127.0.0.1", HOST);
      String good = yaml.formatted(redis.port(), ca, url, mariaDb.password(), ca);
      for (String bad :
          List.of(
              good.replace(
                  redis.port() + "\", tls: { caFile: " + ca,
                  redis.port() + "\", tls: { caFile: " + otherCa),
              good.replace(
                  mariaDb.password() + ", tls: { caFile: " + ca,
                  mariaDb.password() + ", tls: { caFile: " + otherCa))) {
        CommandLineRun run = run(bad);
        assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode());
        assertTrue(run.err().contains("set tls.caFile to the PEM file of its CA"), run.err());
        assertFalse(run.err().contains(mariaDb.password()), run.err());
      }
      try (GameQueue node =
              GameQueue.open(
                  GameQueueConfig.builder()
                      .redis("rediss://localhost:" + redis.port())
                      .redisTls(Tls.verifiedBy(ca))
                      .mysql(url, "root", mariaDb.password())
                      .mysqlTls(Tls.verifiedBy(ca))
                      .namespace("tls")
                      .slots(4)
                      .node("n1")
                      .walDirectory(directory)
                      .build());
          TestWriter unused = TestWriter.start(write(good))) {
        OwnerSession player = node.open("player:1");
        player.put(new Pet(1, 1));
        player.commit().awaitDurable(LONG);
      }
    }
  }

  private CommandLineRun run(String yaml) throws IOException {
    return CommandLineRun.of("run", "--config", write(yaml).toString());
  }

  private Path write(String yaml) throws IOException {
    return Files.writeString(directory.resolve("gameq.yaml"), yaml);
  }
}
