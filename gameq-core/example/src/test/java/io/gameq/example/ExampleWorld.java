package io.gameq.example;

import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedRedis;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A Redis, a MariaDB with the tables of the example, and a writer, which is a process of its own as
 * it is for operators. One thread.
 */
public final class ExampleWorld implements AutoCloseable {
  private static final String DATABASE = "game";

  private final EmbeddedRedis redis = EmbeddedRedis.start();
  private final EmbeddedMariaDb mysql =
      EmbeddedMariaDb.start(new EmbeddedMariaDb.Options(null, 0, 2, List.of()));
  private final Path directory;
  private final String writerClassPath;
  private final Process writer;

  /**
   * Starts all of it.
   *
   * @param directory for files and logs
   * @param writerClassPath of gameq-writer
   */
  public ExampleWorld(Path directory, String writerClassPath) throws Exception {
    this.directory = directory;
    this.writerClassPath = writerClassPath;
    execute(mysql.jdbcUrl(), "CREATE DATABASE " + DATABASE + " CHARACTER SET utf8mb4");
    for (String statement : resource("game.sql").split(";\n", -1)) {
      if (!statement.isBlank()) {
        execute(mysql.jdbcUrl(DATABASE), statement);
      }
    }
    Files.writeString(directory.resolve("gameq.yaml"), resource("gameq.yaml"));
    Process migration = writer("schema", "migrate");
    if (!migration.waitFor(1, TimeUnit.MINUTES) || migration.exitValue() != 0) {
      throw new IllegalStateException(Files.readString(directory.resolve("schema.log")));
    }
    writer = writer("run");
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = ExampleGame.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private Process writer(String... arguments) throws IOException {
    List<String> command = java(writerClassPath);
    command.add("io.gameq.writer.WriterMain");
    command.addAll(List.of(arguments));
    ProcessBuilder process = new ProcessBuilder(command).directory(directory.toFile());
    process.environment().putAll(settings());
    return process
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve(arguments[0] + ".log").toFile())
        .start();
  }

  /** The beginning of a command: a JVM with the flags of this one. */
  static List<String> java(String classPath) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    // What Chronicle Queue needs of a JVM, this one was started with.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--"))
        .forEach(command::add);
    command.addAll(List.of("-cp", classPath));
    return command;
  }

  /** What the environment of a node says. */
  public Map<String, String> settings() {
    return Map.of(
        "GAME_REDIS", redis.uri(),
        "GAME_MYSQL", mysql.jdbcUrl(DATABASE),
        "GAME_DB_USER", mysql.user(),
        "GAME_DB_PASSWORD", mysql.password());
  }

  private Connection connect(String url) throws SQLException {
    return DriverManager.getConnection(url, mysql.user(), mysql.password());
  }

  private void execute(String url, String sql) throws SQLException {
    try (Connection connection = connect(url);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The rows that a query finds in MySQL, each as its columns with blanks between them. */
  public List<String> rows(String query) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (Connection connection = connect(mysql.jdbcUrl(DATABASE));
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery(query)) {
      while (found.next()) {
        List<String> columns = new ArrayList<>();
        for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
          columns.add(found.getString(i));
        }
        rows.add(String.join(" ", columns));
      }
    }
    return rows;
  }

  /** The day as MySQL tells of it once all of {@link ExampleDay} is there. */
  public List<String> dayInMySql() throws SQLException {
    List<String> all = new ArrayList<>();
    all.addAll(rows("SELECT name, gold FROM player ORDER BY player_id"));
    all.addAll(rows("SELECT player_id, slot, item_id, count FROM item ORDER BY 1, 2"));
    all.addAll(rows("SELECT player_id, sender, text FROM mail ORDER BY sent_at"));
    all.addAll(rows("SELECT guild_id, name, treasury FROM guild"));
    all.addAll(rows("SELECT player_id, given FROM guild_member ORDER BY player_id"));
    return all;
  }

  /** What {@link #dayInMySql} is to be. */
  public static List<String> day() {
    return List.of(
        "Anna 59",
        "Bert 49",
        "Cara 25",
        "43 1 7 1",
        "43 9 1001 1",
        "44 1 8 1",
        "44 Anna are you there?",
        "44 Bert I have a sword now",
        "7 Blades 15",
        "42 10",
        "44 5");
  }

  @Override
  public void close() throws Exception {
    writer.destroy(); // SIGTERM: it finishes what it has claimed
    writer.waitFor(30, TimeUnit.SECONDS);
    writer.destroyForcibly();
    mysql.close();
    redis.close();
  }
}
