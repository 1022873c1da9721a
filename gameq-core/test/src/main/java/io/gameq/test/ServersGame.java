package io.gameq.test;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.config.GameQueueConfig;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.test.GameQueueTest.ServerAddresses;
import io.gameq.test.mysql.ClassDatabase;
import io.gameq.test.redis.ClassNamespace;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * The game of one test class on servers: a database, a namespace, and a writer, which is a process
 * of its own as it is for operators. It is emptied between tests, since a writer takes seconds to
 * start. One thread at a time.
 */
final class ServersGame implements AutoCloseable {
  /** Few: each costs a writer commands when idle. */
  private static final int SLOTS = 16;

  private static final Duration MOST_DRAIN = Duration.ofSeconds(20);
  private static final int MOST_COMMAND_SECONDS = 60;
  private static final int LAST_LINES = 20;
  private static final String MAIN = "io.gameq.writer.WriterMain";

  /** The writer's jar in an archive of gameq: system property. */
  private static final String JAR = "gameq.test.writer";

  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final ServerAddresses at;
  private final String name =
      String.format(
          Locale.ROOT,
          "gqt%d_%x_%d",
          ProcessHandle.current().pid(),
          System.currentTimeMillis(),
          NUMBERS.incrementAndGet());
  private final Path directory;
  private final List<String> managed;
  private final ClassDatabase database;
  private final ClassNamespace namespace;
  private final Process writer;
  private int wals;
  private boolean isEmpty = true;
  private boolean isClosed;

  ServersGame(ServerAddresses at, TestSchema schema) {
    this.at = at;
    this.managed = schema.managed().stream().map(TableSpec::name).toList();
    List<String> java = java();
    namespace = new ClassNamespace(at.redis(), name);
    database = new ClassDatabase(at.mysql(), at.user(), at.password(), name);
    try {
      database.execute(schema.statements());
      directory = Files.createTempDirectory("gameq-test");
      Files.writeString(directory.resolve("gameq.yaml"), config(schema));
      Process migration = writer(java, "schema", "migrate");
      boolean isOver = migration.waitFor(MOST_COMMAND_SECONDS, TimeUnit.SECONDS);
      migration.destroyForcibly();
      if (!isOver || migration.exitValue() != 0) {
        throw new IllegalStateException("gameq-writer schema migrate failed: " + log("schema"));
      }
      writer = writer(java, "run");
    } catch (IOException | InterruptedException | RuntimeException e) {
      namespace.close();
      database.close();
      throw new IllegalStateException("tests cannot run on these servers: " + e.getMessage(), e);
    }
  }

  private String url() {
    return at.mysql().replaceAll("/+$", "") + "/" + name;
  }

  private String config(TestSchema schema) {
    StringBuilder tables = new StringBuilder();
    for (TableSpec of : schema.managed()) {
      tables.append(
          "  - { name: %s, owner: %s, ownerColumn: %s }\n"
              .formatted(quoted(of.name()), quoted(of.ownerKind()), quoted(of.ownerColumn())));
    }
    return String.format(
        Locale.ROOT,
        """
        namespace: %s
        slots: %d
        redis: { uri: %s }
        mysql: { url: %s, user: %s, password: %s }
        http: { port: 0 }
        writer: { commandSocket: false }
        tables:
        %s\
        """,
        name,
        SLOTS,
        quoted(at.redis()),
        quoted(url()),
        quoted(at.user()),
        quoted(at.password()),
        tables);
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /** The beginning of a command. */
  private static List<String> java() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    String jar = System.getProperty(JAR);
    if (jar != null) {
      command.addAll(List.of("-jar", new File(jar).getAbsolutePath()));
      return command;
    }
    String main = MAIN.replace('.', '/') + ".class";
    if (ServersGame.class.getClassLoader().getResource(main) == null) {
      throw new IllegalStateException(
          "tests on servers need a writer: add io.gameq:gameq-writer in scope test, or name the"
              + " gameq-writer.jar of an installed gameq by the system property "
              + JAR);
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
    return command;
  }

  private Process writer(List<String> java, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(java);
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .directory(directory.toFile())
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve(arguments[0] + ".log").toFile())
        .start();
  }

  /** The end of what the writer said. */
  private String log(String command) {
    try {
      List<String> all = Files.readAllLines(directory.resolve(command + ".log"));
      return String.join("\n", all.subList(Math.max(0, all.size() - LAST_LINES), all.size()));
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Before a test. */
  void begin() {
    if (!isEmpty) {
      namespace.empty();
      database.empty(managed);
    }
    isEmpty = false;
    wals++;
  }

  GameQueue open(String node) {
    if (!writer.isAlive()) {
      throw new IllegalStateException("gameq-writer has ended: " + log("run"));
    }
    return GameQueue.open(
        GameQueueConfig.builder()
            .redis(at.redis())
            .mysql(url(), at.user(), at.password())
            .namespace(name)
            .slots(SLOTS)
            .node(node)
            .walDirectory(directory.resolve("wal-" + wals))
            .build());
  }

  /** After a test: what it leaves on the way is the end of this game, and the next has another. */
  void end(List<GameQueue> nodes) {
    boolean isDrained = true;
    for (GameQueue node : nodes) {
      try (node) {
        isDrained &= node.drain(MOST_DRAIN).isEmpty();
      } catch (GameQueueException e) { // such as of a node that the test has closed
        isDrained = false;
      }
    }
    if (!isDrained) {
      close();
    }
  }

  boolean isClosed() {
    return isClosed;
  }

  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    writer.destroy(); // SIGTERM: it finishes what it has claimed
    try {
      boolean unused = writer.waitFor(MOST_DRAIN.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    writer.destroyForcibly();
    namespace.close();
    database.close();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
