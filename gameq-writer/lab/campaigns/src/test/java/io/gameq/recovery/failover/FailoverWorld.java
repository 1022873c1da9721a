package io.gameq.recovery.failover;

import io.gameq.GameQueue;
import io.gameq.servers.MySqlServer;
import io.gameq.writer.campaign.Attempt;
import io.gameq.writer.campaign.CampaignMySql;
import io.gameq.writer.campaign.CampaignNode;
import io.gameq.writer.campaign.FinalState;
import io.gameq.writer.campaign.History;
import io.gameq.writer.campaign.NodeJvm;
import io.gameq.writer.campaign.NodeOptions;
import io.gameq.writer.campaign.ReadingPlayer;
import io.gameq.writer.campaign.ReportedConflict;
import io.gameq.writer.campaign.Window;
import io.gameq.writer.campaign.WriterJvm;
import io.gameq.writer.campaign.messages.MessageHistory;
import io.gameq.writer.campaign.messages.MessageNotes;
import io.gameq.writer.campaign.messages.MessageViolation;
import io.gameq.writer.campaign.messages.Trouble;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  /** Handlers that were about to end when all had healed have ended. */
  private static final long AFTER_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Three seconds, less what the clocks of a log and of a process differ by. */
  private static final long NOTHING_TAKEN_NANOS = TimeUnit.MILLISECONDS.toNanos(2_900);

  final RedisTopology topology;
  final List<NodeJvm> nodes = new ArrayList<>();
  final List<WriterJvm> writers = new ArrayList<>();
  final ReadingPlayer reader;
  final Losses losses = new Losses();
  final List<ReportedConflict> reportedByTool = new ArrayList<>();
  final Path directory;

  private final CampaignMySql mysql;
  private final String namespace = "f" + UUID.randomUUID().toString().substring(0, 8);
  private final String database;
  private final long seed;
  private final boolean setsClocks;

  private final List<Trouble.Leap> leaps = new ArrayList<>();
  private Duration passesAtTheEnd = Duration.ZERO;
  private boolean isNodeGone;
  private boolean losesAll;
  private long lossBeganAt = Long.MAX_VALUE;
  private long firstDiedAt = Long.MAX_VALUE;
  private long diedAt;
  private long healedAt;

  FailoverWorld(CampaignMySql mysql, Path directory, Failover failover, long seed)
      throws IOException, SQLException {
    this.mysql = mysql;
    this.directory = Files.createDirectories(directory.toAbsolutePath());
    this.seed = seed;
    this.setsClocks = failover.setsClocks();
    this.database = mysql.freshDatabase();
    this.topology = new RedisTopology(this.directory.resolve("redis"), failover, namespace);
    for (int i = 0; i < 2; i++) {
      addNode();
      writers.add(
          new WriterJvm(
              this.directory, "w" + (i + 1), namespace, topology.uri(), mysql.jdbcUrl(database)));
    }
    nodes.forEach(NodeJvm::awaitReady);
    writers.forEach(WriterJvm::awaitReady);
    reader =
        new ReadingPlayer(
            GameQueue.open(CampaignNode.config(options("reader", 0), Clock.systemUTC())), seed);
  }

  /** Starts one more node; it is at home where there is nobody yet. */
  NodeJvm addNode() {
    int number = nodes.size() + 1;
    NodeJvm node = new NodeJvm(directory, options("n" + number, number - 1), setsClocks);
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

  /** A node is killed or stopped: what it alone knows comes late, and nobody waits for it. */
  void nodeIsGone() {
    isNodeGone = true;
  }

  /** From then until now Redis' clock, as clients see it, went ahead. */
  void clockWentAhead(long from) {
    leaps.add(new Trouble.Leap(from, System.nanoTime()));
  }

  /** What waits for Redis' clock to come so far is checked when it has: see {@link #passTime}. */
  void passesAtTheEnd(Duration time) {
    passesAtTheEnd = time;
  }

  /** All rows are in MySQL. */
  void passTime() {
    if (!passesAtTheEnd.isZero()) {
      long from = System.nanoTime();
      topology.primary().setClock(passesAtTheEnd);
      clockWentAhead(from);
    }
  }

  /** From now on something acknowledged may be lost. */
  void lossBeginsNow() {
    lossBeganAt = Math.min(lossBeganAt, System.nanoTime() - LAG_NANOS);
  }

  /** Redis is emptied now, of what it acknowledged earlier too. */
  void losesAllNow() {
    losesAll = true;
    lossBeginsNow();
  }

  /** What servers hold now, of all commits of all nodes. */
  Map<Member, Losses.Marks> marks(List<Member> members) {
    Map<Member, Losses.Marks> marks = new HashMap<>();
    members.stream().filter(Member::isAlive).forEach(member -> marks.put(member, marks(member)));
    return marks;
  }

  Losses.Marks marks(Member member) {
    return member.ask(redis -> Losses.Marks.read(redis, namespace));
  }

  /** The primary goes now: dead, stopped, or another was promoted. What it holds. */
  Losses.Held goes(Member primary, Runnable end) throws SQLException {
    Losses.Marks marks = marks(primary);
    firstDiedAt = Math.min(firstDiedAt, System.nanoTime());
    end.run();
    diedAt = System.nanoTime();
    return new Losses.Held(marks, FinalState.versions(admin()), diedAt);
  }

  /** What a primary holds that takes commits until it is demoted; returns when it is. */
  Losses.Held heldUntilDemoted(Member primary) throws SQLException {
    Losses.Marks held = Losses.Marks.NONE;
    firstDiedAt = Math.min(firstDiedAt, System.nanoTime());
    try {
      for (Losses.Marks now = marks(primary); primary.isPrimary(); now = marks(primary)) {
        held = now;
        pause(20);
      }
    } catch (RedisException e) {
      // demoted: it ends all connections and loads the data of its new primary
    }
    diedAt = System.nanoTime();
    return new Losses.Held(held, FinalState.versions(admin()), diedAt);
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

  /**
   * Waits until there is one primary, and every node that lives got something new acknowledged
   * since: before that it healed.
   */
  void awaitHealed() {
    RedisTopology.await("one primary", topology::hasOnePrimary);
    long onePrimaryAt = System.nanoTime();
    for (NodeJvm node : nodes) {
      RedisTopology.await(
          node.options().name() + " healed",
          () -> !node.process().isAlive() || hasCommittedSince(node, onePrimaryAt));
    }
    healedAt = System.nanoTime();
  }

  private static boolean hasCommittedSince(NodeJvm node, long nanos) {
    History history = new History();
    try {
      history.readNode(node.options().history());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return history.attempts.values().stream()
        .anyMatch(attempt -> attempt.invokedAt > nanos && attempt.outcome == Attempt.Outcome.OK);
  }

  /** When reads may miss what was acknowledged. */
  Window window() {
    return new Window(lossBeganAt, healedAt);
  }

  /** WAL records that nodes replayed. */
  long replayedByNodes() {
    return nodes.stream().mapToLong(node -> NodeLog.replayed(node.log())).sum();
  }

  double healedSeconds() {
    return (lastHealing() - diedAt) / 1e9;
  }

  private long lastHealing() {
    return nodes.stream()
        .flatMap(node -> NodeLog.healings(node.log()).stream())
        .filter(at -> at > diedAt && at <= healedAt)
        .mapToLong(Long::longValue)
        .max()
        .orElse(healedAt);
  }

  /** From the primary's death to the first acknowledgement of what was committed since. */
  double firstCommitSeconds(History history) {
    long first =
        history.attempts.values().stream()
            .filter(attempt -> attempt.invokedAt > diedAt)
            .mapToLong(attempt -> attempt.knownAt)
            .min()
            .orElse(Long.MAX_VALUE);
    return (first - diedAt) / 1e9;
  }

  History history() throws IOException {
    History history = new History();
    for (NodeJvm node : nodes) {
      history.readNode(node.options().history());
    }
    history.conflicts.addAll(reportedByTool);
    return history;
  }

  MessageHistory messages() throws IOException {
    MessageHistory messages = new MessageHistory();
    for (NodeJvm node : nodes) {
      messages.read(MessageNotes.beside(node.options().history()));
    }
    return messages;
  }

  /** What is excused of messages. */
  Trouble trouble() {
    long forgottenFrom = losesAll ? Long.MIN_VALUE : lossBeganAt;
    return new Trouble(
        forgottenFrom, healedAt + AFTER_NANOS, lastHealing(), firstDiedAt, isNodeGone, leaps);
  }

  /** Messages that a node asked for within three seconds after it had healed on another server. */
  List<MessageViolation> takenEarly(MessageHistory messages) {
    List<MessageViolation> early = new ArrayList<>();
    for (NodeJvm node : nodes) {
      NodeLog.healings(node.log()).stream()
          .filter(at -> at > diedAt)
          .min(Long::compare)
          .ifPresent(
              healed ->
                  messages.askedBy(node.name()).stream()
                      .filter(at -> at > healed && at < healed + NOTHING_TAKEN_NANOS)
                      .findFirst()
                      .ifPresent(
                          at ->
                              early.add(
                                  new MessageViolation(
                                      MessageViolation.Kind.EARLY,
                                      "%s took a message %d ms after it had healed"
                                          .formatted(node.name(), (at - healed) / 1_000_000)))));
    }
    return early;
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
