package io.gameq.writer.campaign;

import io.gameq.GameQueue;
import io.gameq.servers.ChildJvm.Build;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.servers.MySqlServer;
import io.gameq.writer.campaign.messages.MessageHistory;
import io.gameq.writer.campaign.messages.MessageNotes;
import io.gameq.writer.campaign.messages.Trouble;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/**
 * What one case runs in: a fresh database and namespace, two nodes, two writers and a reader. Used
 * by the campaign's thread.
 */
final class World implements AutoCloseable {
  /** Short, so that writers are always at work. */
  static final int MERGE_WINDOW_MILLIS = 50;

  final CampaignServers servers;
  final String namespace = "c" + UUID.randomUUID().toString().substring(0, 8);
  final String database;
  final Path directory;
  final List<NodeProcess> nodes = new ArrayList<>();
  final List<WriterProcess> writers = new ArrayList<>();
  final ReadingPlayer reader;

  /** When Redis' clock went ahead. */
  final List<Trouble.Leap> leaps = new ArrayList<>();

  private Duration redisAhead = Duration.ZERO;
  private Duration passesAtTheEnd = Duration.ZERO;

  /** One in which nobody's clock is set. */
  World(CampaignServers servers, Path directory, long seed) throws IOException, SQLException {
    this(servers, Build.THIS, directory, seed, false);
  }

  /**
   * Starts everybody.
   *
   * @param build of nodes and writers; the reader is of this one
   * @param setsClocks whether nodes have clocks of their own
   */
  World(CampaignServers servers, Build build, Path directory, long seed, boolean setsClocks)
      throws IOException, SQLException {
    this.servers = servers;
    this.directory = Files.createDirectories(directory.toAbsolutePath());
    this.database = servers.mysql().freshDatabase();
    LeastRedisUsers.make(servers.redis(), namespace);
    for (int i = 0; i < 2; i++) {
      nodes.add(startNode(build, i, seed, setsClocks));
      writers.add(
          new WriterProcess(
              build,
              this.directory,
              "w" + (i + 1),
              namespace,
              database,
              new FaultProxy(servers.redisPort()),
              new FaultProxy(servers.mysql().port())));
    }
    nodes.forEach(NodeProcess::awaitReady);
    writers.forEach(WriterProcess::awaitReady);
    NodeOptions like = nodes.get(0).options();
    reader =
        new ReadingPlayer(
            GameQueue.open(
                CampaignNode.config(
                    new NodeOptions(
                        "reader",
                        0,
                        0,
                        seed,
                        namespace,
                        servers.redisUri(),
                        servers.mysql().jdbcUrl(database),
                        like.history(),
                        this.directory.resolve("wal-reader"),
                        0,
                        MERGE_WINDOW_MILLIS),
                    java.time.Clock.systemUTC())),
            seed);
  }

  private NodeProcess startNode(Build build, int home, long seed, boolean hasOwnClock) {
    FaultProxy redis = new FaultProxy(servers.redisPort());
    FaultProxy mysql = new FaultProxy(servers.mysql().port());
    String name = "n" + (home + 1);
    return new NodeProcess(
        build,
        directory,
        new NodeOptions(
            name,
            1,
            home,
            seed + 31L * home,
            namespace,
            "redis://127.0.0.1:" + redis.port(),
            jdbcUrl(mysql.port(), database),
            directory.resolve(name + ".history"),
            directory.resolve("wal"),
            0,
            MERGE_WINDOW_MILLIS),
        hasOwnClock,
        redis,
        mysql);
  }

  /** Gives up on a silent server sooner than by default, to see that more than once in a case. */
  static String jdbcUrl(int port, String database) {
    return "jdbc:mysql://127.0.0.1:" + port + "/" + database + "?socketTimeout=6000";
  }

  /** An administrator's login to the case's database, past all proxies. */
  MySqlServer mysql() {
    return servers.mysql().admin(database);
  }

  NodeProcess node(Random random) {
    return nodes.get(random.nextInt(nodes.size()));
  }

  WriterProcess writer(Random random) {
    return writers.get(random.nextInt(writers.size()));
  }

  /** All proxies in front of Redis, or in front of MySQL. */
  List<FaultProxy> proxies(boolean ofNodes, boolean redis) {
    return ofNodes
        ? nodes.stream().map(redis ? NodeProcess::redis : NodeProcess::mysql).toList()
        : writers.stream().map(redis ? WriterProcess::redis : WriterProcess::mysql).toList();
  }

  /** Keys of the namespace that hold this text. */
  List<String> keys(String part) {
    return servers.redis().keys("{" + namespace + ":*" + part + "*");
  }

  /** Sets Redis' clock, while it serves. */
  void setRedisClock(Duration ahead) {
    long from = System.nanoTime();
    servers.setRedisClock(ahead);
    if (ahead.compareTo(redisAhead) > 0) {
      leaps.add(new Trouble.Leap(from, System.nanoTime()));
    }
    redisAhead = ahead;
  }

  /** What waits for Redis' clock to come so far is checked when it has: see {@link #passTime}. */
  void passesAtTheEnd(Duration time) {
    passesAtTheEnd = time;
  }

  /** All rows are in MySQL. */
  void passTime() {
    if (!passesAtTheEnd.isZero()) {
      setRedisClock(passesAtTheEnd);
    }
  }

  History history() throws IOException {
    History history = new History();
    for (NodeProcess node : nodes) {
      history.readNode(node.options().history());
    }
    return history;
  }

  MessageHistory messages() throws IOException {
    MessageHistory messages = new MessageHistory();
    for (NodeProcess node : nodes) {
      messages.read(MessageNotes.beside(node.options().history()));
    }
    return messages;
  }

  void heal() {
    nodes.forEach(NodeProcess::heal);
    writers.forEach(WriterProcess::heal);
  }

  @Override
  public void close() {
    nodes.forEach(NodeProcess::close);
    writers.forEach(WriterProcess::close);
    reader.close();
    if (!redisAhead.isZero()) {
      setRedisClock(Duration.ZERO);
    }
  }
}
