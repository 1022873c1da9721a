package io.gameq.recovery.failover;

import io.gameq.GameQueue;
import io.gameq.servers.MySqlServer;
import io.gameq.writer.campaign.CampaignMySql;
import io.gameq.writer.campaign.CampaignNode;
import io.gameq.writer.campaign.FinalState;
import io.gameq.writer.campaign.History;
import io.gameq.writer.campaign.NodeJvm;
import io.gameq.writer.campaign.NodeOptions;
import io.gameq.writer.campaign.Reader;
import io.gameq.writer.campaign.Window;
import io.gameq.writer.campaign.WriterJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * What one failover runs in: servers of its own, a fresh database and namespace, two nodes, two
 * writers and a reader. It notes when what happened. Used by the campaign's thread.
 */
final class FailoverWorld implements AutoCloseable {
  /** Long, so that much of what is lost is nowhere but in WALs. */
  private static final int MERGE_WINDOW_MILLIS = 1_500;

  /** Replication is never later than this while it works. */
  private static final long LAG_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  final RedisTopology topology;
  final List<NodeJvm> nodes = new ArrayList<>();
  final List<WriterJvm> writers = new ArrayList<>();
  final Reader reader;
  final Losses losses = new Losses();
  final Path directory;

  private final CampaignMySql mysql;
  private final String namespace = "f" + UUID.randomUUID().toString().substring(0, 8);
  private final String database;
  private final long seed;

  private long lossBeganAt = Long.MAX_VALUE;
  private long diedAt;
  private long nodesConnectAfter;
  private long healedAt;

  FailoverWorld(CampaignMySql mysql, Path directory, Failover failover, long seed)
      throws IOException, SQLException {
    this.mysql = mysql;
    this.directory = Files.createDirectories(directory.toAbsolutePath());
    this.seed = seed;
    this.database = mysql.freshDatabase();
    this.topology =
        new RedisTopology(
            this.directory.resolve("redis"), failover.replicas(), failover.sentinels());
    for (int i = 0; i < 2; i++) {
      addNode();
      writers.add(
          new WriterJvm(
              this.directory, "w" + (i + 1), namespace, topology.uri(), mysql.jdbcUrl(database)));
    }
    nodes.forEach(NodeJvm::awaitReady);
    reader =
        new Reader(
            GameQueue.open(CampaignNode.config(options("reader", 0), Clock.systemUTC())), seed);
  }

  /** Starts one more node; it is at home where there is nobody yet. */
  NodeJvm addNode() {
    int number = nodes.size() + 1;
    NodeJvm node = new NodeJvm(directory, options("n" + number, number - 1));
    nodes.add(node);
    return node;
  }

  private NodeOptions options(String name, int home) {
    return new NodeOptions(
        name,
        1,
        home,
        seed + 31L * home,
        namespace,
        topology.uri(),
        mysql.jdbcUrl(database),
        directory.resolve(name + ".history"),
        wals(),
        0,
        MERGE_WINDOW_MILLIS);
  }

  Path wals() {
    return directory.resolve("wal");
  }

  String namespace() {
    return namespace;
  }

  /** An administrator's login to the case's database. */
  MySqlServer admin() {
    return mysql.admin(database);
  }

  String jdbcUrl() {
    return mysql.jdbcUrl(database);
  }

  NodeJvm node(Random random) {
    return nodes.get(random.nextInt(nodes.size()));
  }

  // --- what happens

  /** From now on the primary acknowledges what no replica gets; for a while. */
  void cutReplication(Member primary, Random random) {
    lossBeginsNow();
    primary.door().cutServers(random.nextBoolean());
    pause(500 + random.nextInt(2_000));
  }

  void lossBeginsNow() {
    lossBeganAt = Math.min(lossBeganAt, System.nanoTime() - LAG_NANOS);
  }

  /** What the replica has now is all it will ever get; what the primary has now is lost. */
  void goes(Member primary, Losses.Marks kept, Runnable end) throws SQLException {
    Losses.Marks held = marks(primary);
    diedAt = System.nanoTime();
    nodesConnectAfter = diedAt;
    end.run();
    losses.add(held, kept, FinalState.versions(admin()), diedAt);
  }

  Losses.Marks marks(Member member) {
    return member.ask(redis -> Losses.Marks.read(redis, namespace, CampaignNode.SLOTS));
  }

  /** For a primary that lives on: it is dead to everybody but its clients from now on. */
  void isolatedNow() {
    diedAt = System.nanoTime();
    nodesConnectAfter = diedAt;
  }

  /** Nodes that connected before this must connect again. */
  void nodesMustConnectAgain() {
    nodesConnectAfter = System.nanoTime();
  }

  static void pause(int millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  // --- what became of it

  /** Waits until there is one primary and every node that lives has healed on it. */
  void awaitHealed() {
    RedisTopology.await("one primary", topology::hasOnePrimary);
    for (NodeJvm node : nodes) {
      RedisTopology.await(
          node.options().name() + " healed",
          () ->
              !node.process().isAlive()
                  || NodeLog.healings(node.log()).stream().anyMatch(at -> at > nodesConnectAfter));
    }
    healedAt = System.nanoTime();
  }

  /** When reads may miss what was acknowledged. */
  Window window() {
    return new Window(lossBeganAt, healedAt);
  }

  double healedSeconds() {
    long last =
        nodes.stream()
            .flatMap(node -> NodeLog.healings(node.log()).stream())
            .filter(at -> at > diedAt && at <= healedAt)
            .mapToLong(Long::longValue)
            .max()
            .orElse(healedAt);
    return (last - diedAt) / 1e9;
  }

  /** From the primary's death to the first acknowledgement that a healed node got. */
  double firstCommitSeconds(History history) {
    long first = Long.MAX_VALUE;
    for (NodeJvm node : nodes) {
      long healed =
          NodeLog.healings(node.log()).stream()
              .filter(at -> at > nodesConnectAfter)
              .mapToLong(Long::longValue)
              .min()
              .orElse(Long.MAX_VALUE);
      first =
          Math.min(
              first,
              history.attempts.values().stream()
                  .filter(attempt -> attempt.id.startsWith(node.options().name() + "."))
                  .filter(attempt -> attempt.knownAt >= healed)
                  .mapToLong(attempt -> attempt.knownAt)
                  .min()
                  .orElse(Long.MAX_VALUE));
    }
    return (first - diedAt) / 1e9;
  }

  History history() throws IOException {
    History history = new History();
    for (NodeJvm node : nodes) {
      history.readNode(node.options().history());
    }
    return history;
  }

  /** Everybody lives again. */
  void heal() {
    nodes.forEach(NodeJvm::heal);
    writers.forEach(WriterJvm::heal);
  }

  @Override
  public void close() {
    nodes.forEach(NodeJvm::kill);
    writers.forEach(WriterJvm::kill);
    reader.close();
    topology.close();
  }
}
