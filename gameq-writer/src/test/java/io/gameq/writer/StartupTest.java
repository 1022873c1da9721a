package io.gameq.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.service.RunCommand;
import io.gameq.writer.service.RunCommand.Startup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** A writer that is started before its servers, or beside tables that it cannot manage. */
class StartupTest {
  @TempDir Path walDirectory;

  /** Nobody listens there. */
  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Fails twice as {@code away} does. */
  private static void assertIsWaitedFor(Runnable away) throws InterruptedException {
    AtomicInteger tries = new AtomicInteger();
    Supplier<String> open =
        () -> {
          if (tries.incrementAndGet() <= 2) {
            away.run();
          }
          return "open";
        };
    List<String> told = new ArrayList<>();
    assertEquals("open", Startup.whenItAnswers(open, new CountDownLatch(1), told::add));
    assertEquals(2, told.size(), told::toString);
    assertEquals(3, tries.get());
  }

  @Test
  void serversThatAreDownAreWaitedFor() throws Exception {
    int port = closedPort();
    MySqlConfig mysql = new MySqlConfig("jdbc:mysql://127.0.0.1:" + port + "/game", "u", "p", 1);
    assertIsWaitedFor(() -> MySqlPool.open(mysql, "test").close());
    try (RedisConnector redis =
            new RedisConnector(new RedisConfig("redis://127.0.0.1:" + port, null, 1_000));
        ControlConnection connection = new ControlConnection(redis)) {
      assertIsWaitedFor(connection::get);
    }
  }

  /** Tells everybody who connects why it does not let him in, as MySQL does, and opens. */
  private static @Nullable MySql openRefused(int error) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread refuses = new Thread(() -> refuse(server, error), "refuses");
      refuses.start();
      String url = "jdbc:mysql://127.0.0.1:%s/game".formatted(server.getLocalPort());
      MySqlConfig mysql = new MySqlConfig(url, "u", "p", 1);
      CountDownLatch stop = new CountDownLatch(1);
      stop.countDown();
      return Startup.whenItAnswers(() -> MySqlPool.open(mysql, "test"), stop, away -> {});
    }
  }

  private static void refuse(ServerSocket server, int error) {
    while (!server.isClosed()) {
      try (Socket client = server.accept()) {
        client
            .getOutputStream()
            .write(new byte[] {5, 0, 0, 0, -1, (byte) error, (byte) (error >> 8), 'n', 'o'});
      } catch (IOException e) {
        // closed, or the client is gone
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1040, 1053, 1203, 1290, 3032})
  void whatMySqlRefusesForAWhileIsWaitedFor(int error) throws Exception {
    assertNull(openRefused(error));
  }

  @ParameterizedTest
  @ValueSource(ints = {1044, 1045, 1049, 1130, 3118})
  void whatMySqlRefusesUntilSomebodyMendsItIsNotWaitedFor(int error) {
    assertThrows(GameQueueException.class, () -> openRefused(error));
  }

  @Test
  void whoIsToStopWaitsNoLonger() throws Exception {
    CountDownLatch stop = new CountDownLatch(1);
    stop.countDown();
    try (RedisConnector redis =
            new RedisConnector(new RedisConfig("redis://127.0.0.1:" + closedPort(), null, 1_000));
        ControlConnection connection = new ControlConnection(redis)) {
      assertNull(Startup.whenItAnswers(connection::get, stop, away -> {}));
    }
  }

  @Test
  void aWrongPasswordIsNotWaitedFor() {
    MySqlServer server = TestServers.mysql();
    MySqlConfig mysql = new MySqlConfig(server.jdbcUrl(), server.user(), "wrong-one", 1);
    assertThrows(
        GameQueueException.class,
        () ->
            Startup.whenItAnswers(
                () -> MySqlPool.open(mysql, "test"), new CountDownLatch(1), away -> {}));
  }

  @Test
  void aRegisteredTableThatIsMissingStopsNodeAndWriter() throws Exception {
    GameDatabase database =
        GameDatabase.create("startup")
            .table("pet", "player", "player_id", "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL")
            .table(
                "toy", "player", "player_id", "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL");
    database.server().execute("DROP TABLE pet", "ALTER TABLE toy DROP COLUMN gq_version");
    try (Game game = new Game(database, walDirectory)) {
      assertNamesBoth(assertThrows(GameQueueException.class, () -> game.node("n1").close()));
      assertNamesBoth(assertThrows(GameQueueException.class, () -> game.writer("w1").close()));
    }
  }

  @Test
  void aConfiguredTableThatIsNotMigratedStopsTheWriterAndIsNamed() throws Exception {
    GameDatabase database =
        GameDatabase.create("startup")
            .table(
                "pet", "player", "player_id", "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL");
    try (Game game = new Game(database, walDirectory)) {
      ConfigFile config =
          ConfigFile.write(walDirectory, database.server(), game.namespace, Game.SLOTS);
      Files.writeString(
          config.file(),
          """
          tables:
            - { name: pet, owner: clan, ownerColumn: player_id }
            - { name: toy, owner: player, ownerColumn: player_id }
          """,
          StandardOpenOption.APPEND);
      CommandLineRun run = config.run("run");
      assertEquals(ExitCodes.COULD_NOT_RUN, run.exitCode(), run.err());
      assertTrue(
          run.err()
              .contains(
                  "table toy is in the configuration and not managed yet: run 'gameq-writer schema"
                      + " migrate'"),
          run.err());
      assertTrue(
          run.err()
              .contains(
                  "table pet belongs to the player of column player_id, the configuration says to"
                      + " the clan"),
          run.err());
    }
  }

  @Test
  void aServerThatIsAwayIsLoggedOnceForEachReasonAndWhenItAnswers() throws Exception {
    LoggerContext context = new LoggerContext();
    AtomicInteger tries = new AtomicInteger();
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.setContext(context);
    lines.start();
    Logger logger = (Logger) LoggerFactory.getLogger(RunCommand.class);
    logger.addAppender(lines);
    Level before = logger.getLevel();
    logger.setLevel(Level.INFO);
    try {
      Startup.whenItAnswers(
          () -> {
            int number = tries.incrementAndGet();
            if (number <= 3) {
              throw new RedisUnavailableException(number < 3 ? "first" : "second");
            }
            return number;
          },
          new CountDownLatch(1),
          away -> {});
    } finally {
      logger.setLevel(before);
      logger.detachAppender(lines);
    }
    assertEquals(
        List.of(
            "first; waiting for it, asking again every 2 s",
            "second; waiting for it, asking again every 2 s",
            "it answers now; this was: second"),
        lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
  }

  private static void assertNamesBoth(GameQueueException e) {
    String message = String.valueOf(e.getMessage());
    assertTrue(message.contains("pet: "), message);
    assertTrue(message.contains("toy: it has no column gq_version: run"), message);
  }
}
