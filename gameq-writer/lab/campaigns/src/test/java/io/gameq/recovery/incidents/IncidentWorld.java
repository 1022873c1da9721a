package io.gameq.recovery.incidents;

import io.gameq.recovery.ToolProcess;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rights.RedisRights;
import io.gameq.servers.ChildJvm;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.ProcessClock;
import io.gameq.servers.RedisProcess;
import io.gameq.writer.CampaignWriter;
import io.gameq.writer.WriterMain;
import io.gameq.writer.campaign.LedgerNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * What one incident happens in: servers of its own, two nodes and two writers as processes, with
 * shipped settings, users with the least rights and passwords in files. Used by one thread.
 */
final class IncidentWorld implements AutoCloseable {
  static final int NODES = 2;
  static final int WRITERS = 2;

  private static final long DEEDS_OF_A_START = 10_000_000L;
  private static final int PATIENCE_SECONDS = 300;

  final IncidentServers servers = new IncidentServers();
  final String namespace;
  final Path directory;
  final MySqlServer database;
  final PrometheusProcess prometheus;
  final ProcessClock clock;

  /** Alerts of this world since {@link #begins}, and after how many seconds each fired first. */
  final Map<String, String> said = new LinkedHashMap<>();

  private final Map<Integer, ChildJvm> nodes = new HashMap<>();
  private final Map<Integer, ChildJvm> writers = new HashMap<>();
  private final Map<Integer, Integer> ports = new HashMap<>();
  private int redis;
  private int starts;
  private int commands;
  private long began = Long.MAX_VALUE;

  IncidentWorld(PrometheusProcess prometheus, Path directory, String namespace)
      throws IOException, SQLException {
    this.prometheus = prometheus;
    this.namespace = namespace;
    this.directory = Files.createDirectories(directory).toAbsolutePath();
    this.clock = new ProcessClock(this.directory.resolve("n1.clock"));
    this.database =
        GameDatabase.create(servers.mysql(), "game")
            .table(
                "deed", "player", "player_id", "id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL")
            .table(
                "item",
                "player",
                "player_id",
                "player_id BIGINT NOT NULL, slot INT NOT NULL, n BIGINT NOT NULL, note VARCHAR(40)"
                    + " NOT NULL DEFAULT '', PRIMARY KEY (player_id, slot)")
            .server();
    makeRedisUsers(0);
    for (Role role : List.of(Role.NODE, Role.WRITER)) {
      write(redisPassword(role), LeastRedisUsers.PASSWORD);
      write(mysqlPassword(role), database.as(role).password());
    }
  }

  /** Starts everybody; returns when Prometheus sees them. */
  void start() throws IOException {
    for (int i = 0; i < NODES; i++) {
      startNode(i);
    }
    for (int i = 0; i < WRITERS; i++) {
      startWriter(i);
    }
    awaitNodes();
    prometheus.watch(namespace, "writers", List.of(port(-1), port(-2)));
    prometheus.watch(namespace, "nodes", List.of(port(0), port(1)));
    await("both writers and nodes under watch", this::allUp);
  }

  /** Users do not replicate: each Redis needs them. */
  void makeRedisUsers(int number) {
    servers.redis(
        number,
        admin -> {
          LeastRedisUsers.make(admin, namespace);
          return true;
        });
  }

  private boolean allUp() {
    return prometheus.up(List.copyOf(ports.values())) == NODES + WRITERS;
  }

  private int port(int process) {
    return ports.computeIfAbsent(process, any -> RedisProcess.freePort());
  }

  // --- processes

  Path redisPassword(Role role) {
    return directory.resolve(role.lowerCase() + ".redis");
  }

  Path mysqlPassword(Role role) {
    return directory.resolve(role.lowerCase() + ".mysql");
  }

  /** In one step, as operators are told to. */
  static void write(Path file, String text) throws IOException {
    Path whole = file.resolveSibling(file.getFileName() + ".new");
    Files.writeString(whole, text);
    Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Which Redis processes that start from now on are given. */
  void useRedis(int number) {
    redis = number;
  }

  int redis() {
    return redis;
  }

  ChildJvm node(int number) {
    return Objects.requireNonNull(nodes.get(number));
  }

  ChildJvm writer(int number) {
    return Objects.requireNonNull(writers.get(number));
  }

  void awaitNodes() {
    nodes.values().forEach(node -> node.awaitLine("ready"));
  }

  void startNode(int number) {
    LedgerNode.Options options =
        new LedgerNode.Options(
            namespace,
            "n" + (number + 1),
            100L * (number + 1),
            DEEDS_OF_A_START * ++starts,
            port(number),
            servers.redisUri(redis),
            RedisRights.user(namespace, Role.NODE),
            redisPassword(Role.NODE),
            database.jdbcUrl(),
            database.as(Role.NODE).user(),
            mysqlPassword(Role.NODE),
            directory.resolve("wal"),
            directory.resolve("n%d-%d.ledger".formatted(number + 1, starts)));
    nodes.put(
        number,
        ChildJvm.start(
            ChildJvm.Build.THIS,
            directory.resolve("n" + (number + 1) + ".log"),
            LedgerNode.class,
            options.toArguments(),
            number == 0 ? clock.environment() : Map.of()));
  }

  /** As a game that is shut down: what its players did is written first, where that can be. */
  void closeNode(int number) throws InterruptedException {
    ChildJvm node = node(number);
    node.tell("close");
    node.awaitLine("closed");
    node.kill();
  }

  void startWriter(int number) throws IOException {
    Path config = directory.resolve("w" + (number + 1) + ".yaml");
    Files.writeString(
        config,
        """
        namespace: %s
        redis: { uri: "%s", user: %s, passwordFile: "%s" }
        mysql: { url: "%s", user: %s, passwordFile: "%s" }
        writer: { name: w%d }
        http: { port: %d }
        """
            .formatted(
                namespace,
                servers.redisUri(redis),
                RedisRights.user(namespace, Role.WRITER),
                redisPassword(Role.WRITER),
                database.jdbcUrl(),
                database.as(Role.WRITER).user(),
                mysqlPassword(Role.WRITER),
                number + 1,
                port(-1 - number)));
    writers.put(
        number,
        ChildJvm.start(
            directory.resolve("w" + (number + 1) + ".log"),
            CampaignWriter.class,
            List.of("run", "--config", config.toString())));
  }

  /** SIGTERM; returns when it has finished what it had claimed. */
  void stopWriter(int number) throws InterruptedException {
    ChildJvm writer = writer(number);
    ProcessHandle.of(writer.pid()).ifPresent(ProcessHandle::destroy);
    if (!writer.awaitEnd(60)) {
      throw new IllegalStateException("a writer does not stop");
    }
  }

  /** A command of gameq-writer, as the first writer is configured; what it printed. */
  String command(String... arguments) throws IOException, InterruptedException {
    Path output = directory.resolve("command-" + ++commands + ".log");
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--config", directory.resolve("w1.yaml").toString()));
    ChildJvm child = ChildJvm.start(output, WriterMain.class, all);
    child.awaitEnd(60);
    return Files.readString(output);
  }

  /** gameq-recovery, over WALs; its exit code. */
  int recovery(Path wals, String... arguments) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(
        List.of(
            "--redis",
            servers.redisUri(redis),
            "--redis-user",
            RedisRights.user(namespace, Role.RECOVERY),
            "--mysql",
            database.jdbcUrl(),
            "--mysql-user",
            database.as(Role.RECOVERY).user(),
            wals.toString()));
    try (ToolProcess tool =
        ToolProcess.start(
            directory.resolve("recovery-" + ++commands + ".log"),
            database.as(Role.RECOVERY).password(),
            List.of("-Xmx128m"),
            all)) {
      return tool.await(PATIENCE_SECONDS);
    }
  }

  // --- what is seen

  /** The incident begins now. */
  void begins() {
    began = System.nanoTime();
  }

  double seconds() {
    return (System.nanoTime() - began) / 1e9;
  }

  /** Whether these alerts have fired since it began; notes all that have. */
  boolean hasFired(List<String> names) {
    look();
    return said.keySet().containsAll(names);
  }

  private void look() {
    if (began == Long.MAX_VALUE) {
      return;
    }
    for (PrometheusProcess.Alert alert : prometheus.firing()) {
      if (alert.namespace().equals(namespace)
          || ports.values().stream().anyMatch(p -> alert.instance().endsWith(":" + p))) {
        said.putIfAbsent(
            alert.name(),
            "%s after %.0f s: \"%s\"".formatted(alert.severity(), seconds(), alert.summary()));
      }
    }
  }

  void awaitAlert(String... names) {
    await("alerts " + List.of(names) + " beside " + said.keySet(), () -> hasFired(List.of(names)));
  }

  /** Lets time pass, and notes what fires. */
  void goOn(int seconds) {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    await("time", () -> System.nanoTime() > until);
  }

  void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("not within " + PATIENCE_SECONDS + " s: " + what);
      }
      look();
      try {
        TimeUnit.MILLISECONDS.sleep(500);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(what, e);
      }
    }
  }

  // --- what is lost

  /** What was acknowledged, of all starts of all nodes; immutable. */
  record Ledger(Set<Long> deeds, Map<String, Long> items, long conflicts) {}

  Ledger ledger() throws IOException {
    Set<Long> deeds = new HashSet<>();
    Map<String, Long> items = new HashMap<>();
    long conflicts = 0;
    try (var files = Files.list(directory)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".ledger")).toList()) {
        for (String line : Files.readAllLines(file)) {
          String[] words = line.split(" ", -1);
          if (words[0].equals("conflict")) {
            conflicts++;
          } else if (words.length == 4) { // a killed node may leave half a line
            deeds.add(Long.parseLong(words[1]));
            items.merge(words[2] + "," + words[3], Long.parseLong(words[1]), Math::max);
          }
        }
      }
    }
    return new Ledger(deeds, items, conflicts);
  }

  /** Acknowledged changes that MySQL does not hold; of an item a later one takes the place. */
  long missing() throws IOException, SQLException {
    Ledger ledger = ledger();
    long missing = 0;
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      try (ResultSet rows = statement.executeQuery("SELECT id FROM deed")) {
        Set<Long> there = new HashSet<>();
        while (rows.next()) {
          there.add(rows.getLong(1));
        }
        missing += ledger.deeds().stream().filter(deed -> !there.contains(deed)).count();
      }
      try (ResultSet rows = statement.executeQuery("SELECT player_id, slot, n FROM item")) {
        Map<String, Long> there = new HashMap<>();
        while (rows.next()) {
          there.put(rows.getString(1) + "," + rows.getString(2), rows.getLong(3));
        }
        missing +=
            ledger.items().entrySet().stream()
                .filter(item -> there.getOrDefault(item.getKey(), 0L) < item.getValue())
                .count();
      }
    }
    return missing;
  }

  /** Waits until MySQL holds all that was acknowledged; what it lacks in the end. */
  long settle(Duration patience) throws Exception {
    long deadline = System.nanoTime() + patience.toNanos();
    long missing = missing();
    while (missing > 0 && System.nanoTime() < deadline) {
      goOn(1);
      missing = missing();
    }
    return missing;
  }

  @Override
  public void close() {
    prometheus.forget(namespace);
    nodes.values().forEach(ChildJvm::kill);
    writers.values().forEach(ChildJvm::kill);
    servers.close();
  }
}
