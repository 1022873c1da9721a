package io.gameq.node;

import io.gameq.ChangeSet;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.Ids;
import io.gameq.OpenProgress;
import io.gameq.OpenResult;
import io.gameq.OwnerSession;
import io.gameq.Pressure;
import io.gameq.Publish;
import io.gameq.Row;
import io.gameq.Takeover;
import io.gameq.Topic;
import io.gameq.TopicOptions;
import io.gameq.Transacted;
import io.gameq.Urgency;
import io.gameq.message.MessageChange;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.script.LookupScript;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.Table;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeSign;
import io.gameq.term.Term;
import io.gameq.topic.NodeTopics;
import io.gameq.topic.OpenTopic;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerViews;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What {@code GameQueue.open} returns: opens owners, reads them and commits their changes, with the
 * parts of one running node. Thread-safe.
 *
 * <p>A kill of the process loses nothing that was committed and queued; see {@link GameQueue}.
 */
public final class NodeQueue implements GameQueue {
  private static final Logger LOG = LoggerFactory.getLogger(NodeQueue.class);

  final GameNode node;
  private final GameRows rows;
  private final OwnerOpening opening;
  final SessionCommits commits;
  private final NodeIds ids;
  private final NodeTopics topics;

  NodeQueue(GameNode node) {
    this.node = node;
    this.rows = node.rows;
    this.opening = new OwnerOpening(this, node);
    this.commits = new SessionCommits(node);
    this.ids = new NodeIds(node);
    this.topics =
        new NodeTopics(
            new NodeTopics.Node(
                node.config,
                node.servers.slots(),
                node.servers.connector(),
                commits,
                node.sender,
                node.clock,
                new Asks(),
                node.topicRestore::soon,
                node.callbacks));
  }

  private final class Asks implements NodeTopics.Asking {
    @Override
    public <T> T ask(String what, Function<RedisConnection, T> question) {
      return node.calls.ofRedis(
          what, node.calls.timeout.toNanos(), isAwaited -> node.servers.control().ask(question));
    }

    @Override
    public <T> T ask(String what, long nanos, BiFunction<TopicTable, RedisConnection, T> question) {
      return node.calls.ofMySql(
          what,
          nanos,
          isAwaited -> node.servers.control().call(redis -> question.apply(node.topics, redis)),
          late -> {});
    }
  }

  @Override
  public OwnerSession open(String owner, Takeover takeover) {
    return opening.open(owner, takeover, false);
  }

  @Override
  public OwnerSession open(String owner, Takeover then, Duration ask) {
    return opening.openAfterAsking(owner, then, ask);
  }

  @Override
  public CompletionStage<OwnerSession> openAsync(String owner, Takeover takeover) {
    return opening.start(owner, takeover);
  }

  @Override
  public CompletionStage<List<OpenResult>> openAll(
      Collection<String> owners, Takeover takeover, Consumer<OpenProgress> progress) {
    node.requireOpen();
    return new OwnerOpening.Many(
            owners, owner -> openAsync(owner, takeover), progress, node.callbacks)
        .start();
  }

  @Override
  public <T extends Record> List<T> read(String owner, Class<T> type) {
    RecordMapper<T> mapper = rows.mapper(type);
    return read(owner, mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  @Override
  public List<Row> read(String owner, String table) {
    Table of = rows.table(table);
    OwnerId id = requireFit(OwnerId.of(owner), of);
    return rows.rows(
        node.calls.ofMySql("reading " + id, isAwaited -> readNow(id, of), late -> {}), of);
  }

  @Override
  public CompletionStage<List<Row>> readAsync(String owner, String table) {
    Table of = rows.table(table);
    OwnerId id = requireFit(OwnerId.of(owner), of);
    return node.calls
        .startOfMySql("reading " + id, isAwaited -> readNow(id, of), late -> {}, node.callbacks)
        .thenApply(view -> rows.rows(view, of));
  }

  private static OwnerId requireFit(OwnerId owner, Table table) {
    var unused = table.ownerColumnValue(owner);
    return owner;
  }

  /** Reads an owner's rows without a session: Redis first, then MySQL. */
  private OwnerView readNow(OwnerId owner, Table table) {
    List<EncodedRow> unflushed =
        node.servers
            .control()
            .ask(redis -> LookupScript.unflushed(redis, node.servers.slot(owner), owner));
    String prefix = PercentEncoding.percent(table.name()) + ":";
    OwnerView view =
        node.views.load(
            owner,
            null,
            Term.NOT_KNOWN,
            List.of(table),
            new OwnerViews.InRedis(
                unflushed.stream().filter(row -> row.key().startsWith(prefix)).toList(),
                List.of()));
    try {
      node.versions.observe(view.highestVersion()); // what the game makes of it is newer
    } catch (GameQueueException e) { // its open says so
      LOG.debug("a version of {} is too far ahead: {}", owner, e.getMessage());
    }
    return view;
  }

  @Override
  public Row row(String table, Map<String, ?> columns) {
    return rows.row(rows.given(table, columns));
  }

  @Override
  public CommitReceipt commit(Urgency urgency, OwnerSession... sessions) {
    node.requireOpen();
    return commits.commit(
        SessionCommits.Terms.of(urgency), List.of(), NodeSession.staged(sessions));
  }

  @Override
  public Ids ids(String table, int range) {
    node.requireOpen();
    return ids.of(rows.table(table), range);
  }

  @Override
  public Topic<byte[]> topic(String name, TopicOptions options) {
    return topics.open(name, options);
  }

  @Override
  public <T extends Record> Topic<T> topic(String name, Class<T> payload, TopicOptions options) {
    return topics.open(name, payload, options);
  }

  @Override
  public Optional<Topic<byte[]>> definedTopic(String name) {
    return topics.defined(name);
  }

  /**
   * What publishes a message, for a commit of a session.
   *
   * @throws GameQueueException when it is not fit for the topic, or the topic is of another node
   */
  <T> MessageChange change(Topic<T> topic, Publish<T> message) {
    if (topic instanceof OpenTopic<T> of && of.isOf(topics)) {
      return of.change(message);
    }
    throw new GameQueueException("not a topic that this node's GameQueue.topic returned: " + topic);
  }

  @Override
  public List<Pressure> pressure() {
    return node.pressure.passed();
  }

  @Override
  public <T> Transacted<T> transactReturning(
      Collection<? extends OwnerSession> sessions, Function<ChangeSet, T> changes) {
    node.requireOpen();
    StagedChangeSet set = new StagedChangeSet(this, node, sessions);
    T value = set.stage(changes);
    return new Transacted<>(
        value, commits.commit(SessionCommits.Terms.of(set.urgency), set.shares));
  }

  @Override
  public CommitReceipt send(String owner, Record... sent) {
    OwnerId to = OwnerId.of(owner);
    List<GameRows.Sent> all =
        Arrays.stream(sent).map(row -> rows.sent(to, rows.given(row))).toList();
    Set<String> keys = new HashSet<>();
    for (GameRows.Sent row : all) {
      if (!keys.add(row.row().key())) {
        throw row.isTwice();
      }
    }
    node.requireOpen();
    return commits.send(all);
  }

  @Override
  public CommitReceipt send(String owner, String table, Map<String, ?> columns) {
    GameRows.Sent row = rows.sent(OwnerId.of(owner), rows.given(table, columns));
    node.requireOpen();
    return commits.send(List.of(row));
  }

  @Override
  public Set<String> drain(Duration timeout) {
    node.closing.awaitDurable(List.copyOf(node.sessions.all()), timeout);
    Set<String> missing = new TreeSet<>();
    node.sessions.all().forEach(tracker -> missing.addAll(tracker.notDurable()));
    return missing;
  }

  @Override
  public void close() {
    topics.close(System.nanoTime() + node.calls.timeout.toNanos() / 2); // they commit
    node.close();
  }

  // --- for meters: asks no server and waits for nobody

  /** Whose queue it is. */
  public String namespace() {
    return node.config.namespace();
  }

  /** What it did. */
  public NodeCounts counts() {
    return node.sessions.counts();
  }

  /** How it is. */
  public NodeSign sign() {
    return node.signs.now();
  }

  /** Calls of the game's own code that wait. */
  public int callbacks() {
    return node.callbacks.waiting();
  }

  /** Whether Redis is there and has all that this node knows. */
  public boolean isHealed() {
    return node.sender.isHealed();
  }
}
