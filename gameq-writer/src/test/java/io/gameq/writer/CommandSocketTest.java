package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.writer.socket.CommandClient;
import io.gameq.writer.socket.CommandServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that a running writer answers. */
class CommandSocketTest {
  private static final int EXIT_CODE = 7;
  private static final Path SOCKETS =
      Path.of(System.getProperty("java.io.tmpdir"), "gameq-" + System.getProperty("user.name"));

  @TempDir Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private Path config;
  private CommandServer server;

  @BeforeEach
  void listen() throws IOException {
    config = Files.writeString(directory.resolve("gameq.yaml"), "namespace: socket\n");
    server = open(CommandSocketTest::answer);
  }

  @AfterEach
  void close() {
    server.close();
  }

  private CommandServer open(CommandServer.Runner runner) throws IOException {
    return Objects.requireNonNull(CommandServer.open(config, Files.readString(config), runner));
  }

  private static int answer(String user, PrintWriter stdout, PrintWriter stderr, String... args) {
    stdout.println(user + " " + args[0] + " \u00e4");
    stderr.println("a warning");
    return EXIT_CODE;
  }

  private int run(String... args) {
    return CommandClient.run(new PrintStream(out), new PrintStream(err), 0, args);
  }

  private String config() {
    return config.toString();
  }

  @Test
  void theWriterAnswersWithBothStreamsAndTheExitCodeForTheUserOfTheSystem() {
    assertEquals(EXIT_CODE, run("status", "--config", config()));
    assertEquals(
        System.getProperty("user.name") + " status \u00e4\n",
        out.toString(Charset.defaultCharset()));
    assertEquals("a warning\n", err.toString(StandardCharsets.UTF_8));
    assertEquals(EXIT_CODE, run("topics", "--json", "--config", config()));
  }

  @Test
  void whatChangesSomethingOrHasAnotherConfigurationRunsByItself() throws IOException {
    for (List<String> line :
        List.of(
            List.of("pause", "all"),
            List.of("dead", "retry", "--all"),
            List.of("topics", "--json", "pause", "mail"),
            List.of("topics", "pause", "mail"),
            List.of("nodes", "--forget=1"),
            List.of("audit", "--remove-older-than", "3"),
            List.of("status", "--help"),
            List.of("trace", "player:1", "--wal", "wal"))) {
      String[] args =
          Stream.concat(line.stream(), Stream.of("--config", config())).toArray(String[]::new);
      assertEquals(CommandClient.NOT_SERVED, run(args), line::toString);
    }
    Path other = Files.copy(config, directory.resolve("other.yaml"));
    assertEquals(CommandClient.NOT_SERVED, run("status", "--config", other.toString()));
    Files.writeString(config, "namespace: another\n");
    assertEquals(CommandClient.NOT_SERVED, run("status", "--config", config()));
    assertEquals("", out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void nobodyElseMayEnterAndTheSocketGoesWithTheWriter() throws IOException {
    assertEquals(
        "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(SOCKETS)));
    Path socket = sockets().get(0);
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
    server.close();
    assertFalse(Files.exists(socket));
    assertEquals(CommandClient.NOT_SERVED, run("status", "--config", config()));
  }

  @Test
  void theSocketOfAKilledWriterIsNoObstacleAndRemoved() throws IOException {
    String own = sockets().get(0).getFileName().toString();
    Path killed = SOCKETS.resolve(own.substring(0, own.indexOf('-')) + "-1.sock");
    try (ServerSocketChannel gone = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      gone.bind(UnixDomainSocketAddress.of(killed));
    }
    assertEquals(EXIT_CODE, run("status", "--config", config()));
    server.close();
    server = open((user, stdout, stderr, args) -> EXIT_CODE);
    assertFalse(Files.exists(killed));
    assertEquals(EXIT_CODE, run("status", "--config", config()));
  }

  /** As Ctrl-C does. */
  @Test
  void aClientThatGoesAwayEndsItsCommand() throws Exception {
    server.close();
    CountDownLatch begun = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    server =
        open(
            (user, stdout, stderr, args) -> {
              begun.countDown();
              try {
                Thread.sleep(LONG.toMillis());
              } catch (InterruptedException e) {
                ended.set(true);
              }
              return 0;
            });
    Thread client = new Thread(() -> run("status", "--config", config()));
    client.start();
    assertTrue(begun.await(LONG.toSeconds(), TimeUnit.SECONDS));
    client.interrupt(); // closes its channel
    await().atMost(LONG).untilTrue(ended);
    client.join();
  }

  @Test
  void moreThanFourAtATimeRunByThemselves() throws Exception {
    server.close();
    CountDownLatch begun = new CountDownLatch(4);
    CountDownLatch go = new CountDownLatch(1);
    server =
        open(
            (user, stdout, stderr, args) -> {
              begun.countDown();
              try {
                go.await();
              } catch (InterruptedException e) {
                return 1;
              }
              return 0;
            });
    List<Thread> clients =
        Stream.generate(() -> new Thread(this::runUntilServed)).limit(4).toList();
    clients.forEach(Thread::start);
    assertTrue(begun.await(LONG.toSeconds(), TimeUnit.SECONDS));
    assertEquals(CommandClient.NOT_SERVED, run("status", "--config", config()));
    go.countDown();
    for (Thread client : clients) {
      client.join();
    }
    assertEquals(0, begun.getCount());
  }

  /** On a busy machine the server answers too late at times. */
  private void runUntilServed() {
    int exitCode;
    do {
      exitCode = run("status", "--config", config());
    } while (exitCode == CommandClient.NOT_SERVED);
  }

  private List<Path> sockets() throws IOException {
    CRC32 sum = new CRC32();
    sum.update(config.toRealPath().toString().getBytes(StandardCharsets.UTF_8));
    try (Stream<Path> all = Files.list(SOCKETS)) {
      return all.filter(
              of -> of.getFileName().toString().startsWith(Long.toHexString(sum.getValue()) + "-"))
          .toList();
    }
  }
}
