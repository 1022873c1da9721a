package io.gameq.node;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.Limits;
import io.gameq.OwnerSession;
import io.gameq.Pressure;
import io.gameq.Publish;
import io.gameq.RollbackRequiredException;
import io.gameq.Row;
import io.gameq.Takeover;
import io.gameq.Topic;
import io.gameq.TopicOptions;
import io.gameq.Urgency;
import io.gameq.change.CommitPart;
import io.gameq.change.FoldedMessages;
import io.gameq.change.SlotMessages;
import io.gameq.change.Trade;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.PendingHandovers;
import io.gameq.durability.TrackedCommit;
import io.gameq.durability.TrackedReceipt;
import io.gameq.message.MessageChange;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.rows.Catalog;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.Table;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeSign;
import io.gameq.topic.NodeTopics;
import io.gameq.topic.OpenTopic;
import io.gameq.topic.TopicNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What {@code GameQueue.open} returns: opens owners, reads them and commits their changes, with the
 * parts of one running node. Thread-safe.
 *
 * <p>A kill of the process loses nothing that was committed and queued; see {@link GameQueue}.
 */
final class NodeQueue implements GameQueue, MeteredNode {
  private final GameNode node;
  private final CommitChecks checks;
  private final CommitRoom room;
  private final GameRows rows;
  private final NodeMessages messages;
  private final NodeTopics topics;

  private NodeQueue(GameNode node) {
    this.node = node;
    this.checks = new CommitChecks(limits());
    this.room = new CommitRoom(limits(), node.callbacks(), node.closing(), node.pressure());
    this.rows =
        new GameRows(node.tables(), node.codec(), node.config().clock(), limits().rowBytes());
    this.messages = new NodeMessages(this, node, checks, room);
    this.topics =
        new NodeTopics(
            new TopicNode(
                node.config().namespace(),
                node.config().node(),
                node.redis().slots(),
                node.redis().connector(),
                messages,
                node.sender(),
                node.clock(),
                limits().commitRows(),
                this::ask,
                node.calls().timeout(),
                node.callbacks()));
  }

  private <T> T ask(String what, Function<RedisConnection, T> question) {
    return node.calls()
        .ofRedis(
            what,
            node.calls().timeout().toNanos(),
            isAwaited -> node.redis().control().ask(question));
  }

  private Limits limits() {
    return node.config().limits();
  }

  /** As {@link GameQueue#open(GameQueueConfig)}. */
  static GameQueue open(GameQueueConfig config) {
    return new NodeQueue(GameNode.start(config));
  }

  @Override
  public OwnerSession open(String owner) {
    return open(owner, Takeover.ALWAYS);
  }

  @Override
  public OwnerSession open(String owner, Takeover takeover) {
    OwnerId id = OwnerId.of(owner);
    List<Table> tables = tablesOf(id);
    return new NodeSession(this, id, node.opening().open(id, tables, takeover));
  }

  @Override
  public CompletionStage<OwnerSession> openAsync(String owner, Takeover takeover) {
    OwnerId id = OwnerId.of(owner);
    return node.opening()
        .start(
            id,
            tablesOf(id),
            takeover,
            opened -> new NodeSession(this, id, opened),
            node.callbacks());
  }

  @Override
  public <T extends Record> List<T> read(String owner, Class<T> type) {
    RecordMapper<T> mapper = rows.mapper(type);
    return read(owner, mapper.table().name()).stream().map(mapper::fromRow).toList();
  }

  @Override
  public List<Row> read(String owner, String table) {
    Table of = rows.table(table);
    return rows.rows(node.reading().read(OwnerId.of(owner), of), of);
  }

  @Override
  public CompletionStage<List<Row>> readAsync(String owner, String table) {
    Table of = rows.table(table);
    return node.reading()
        .start(OwnerId.of(owner), of, node.callbacks())
        .thenApply(view -> rows.rows(view, of));
  }

  @Override
  public Row row(String table, Map<String, ?> columns) {
    return rows.row(rows.given(table, columns));
  }

  @Override
  public CommitReceipt commit(OwnerSession... sessions) {
    return commit(Urgency.NORMAL, sessions);
  }

  @Override
  public CommitReceipt commit(Urgency urgency, OwnerSession... sessions) {
    return commit(CommitTerms.of(urgency), NodeSession.all(sessions));
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
    return node.pressure().passed();
  }

  /** What commits messages, alone or together with what is staged in sessions. */
  NodeMessages messages() {
    return messages;
  }

  CommitReceipt commit(CommitTerms terms, NodeSession... sessions) {
    return commit(terms, List.of(), sessions);
  }

  CommitReceipt commit(CommitTerms terms, List<MessageChange> changes, NodeSession... sessions) {
    List<NodeSession> of = new ArrayList<>(sessions.length);
    List<NodeSession.Taken> taken = new ArrayList<>(sessions.length);
    Set<StagedChanges> all = staged(sessions);
    try {
      for (NodeSession session : sessions) {
        NodeSession.Taken its = session.takeStaged(all);
        if (its != null) {
          of.add(session);
          taken.add(its);
        }
      }
      if (taken.isEmpty()) {
        return changes.isEmpty() ? TrackedReceipt.EMPTY : messages.commit(changes);
      }
      return submit(of, taken, changes, terms);
    } catch (RuntimeException e) {
      node.sessions().counts().notTaken(e);
      for (int i = 0; i < taken.size(); i++) {
        if (!of.get(i).ref().isLost()) {
          of.get(i).staged().putBack(taken.get(i).part().rows(), taken.get(i).messages());
        }
      }
      if (sessions.length > 1) {
        StagedChanges.stayOne(
            all,
            e instanceof RollbackRequiredException
                || Arrays.stream(sessions).anyMatch(session -> session.ref().isLost()),
            e);
      }
      throw e;
    } finally {
      of.forEach(session -> session.tracker().prepared());
    }
  }

  private static List<SlotMessages> messages(
      List<NodeSession.Taken> taken, List<MessageChange> changes) {
    FoldedMessages all = new FoldedMessages();
    all.addAll(changes);
    taken.forEach(of -> all.addAll(of.messages()));
    return all.isEmpty() ? List.of() : SlotMessages.bySlot(all.list());
  }

  private static Set<StagedChanges> staged(NodeSession... sessions) {
    if (sessions.length == 1) { // nearly every commit
      return Set.of(sessions[0].staged());
    }
    return Arrays.stream(sessions).map(NodeSession::staged).collect(Collectors.toSet());
  }

  private CommitReceipt submit(
      List<NodeSession> sessions,
      List<NodeSession.Taken> taken,
      List<MessageChange> changes,
      CommitTerms terms) {
    List<CommitPart> parts = new ArrayList<>(taken.size());
    taken.forEach(of -> parts.add(of.part()));
    List<SlotMessages> messagesOf = messages(taken, changes);
    checks.check(parts, messagesOf);
    Trade trade = CommitChecks.moves(parts) ? new Trade() : null;
    long deadline = room.deadline(terms);
    room.awaitCallbacks(deadline);
    List<DurableTracker> trackers = new ArrayList<>(sessions.size());
    List<PendingHandovers> handovers = new ArrayList<>(sessions.size());
    for (int i = 0; i < parts.size(); i++) {
      trackers.add(sessions.get(i).tracker());
      handovers.add(sessions.get(i).handovers());
      room.await(trackers.get(i), parts.get(i), deadline);
    }
    List<CommitPart> told = PendingHandovers.told(parts, trackers, handovers, trade);
    TrackedCommit commit = new TrackedCommit(told, messagesOf, trackers, trade, terms.urgency());
    trackers.forEach(tracker -> tracker.submitted(commit));
    try {
      node.sender().submit(commit, deadline);
    } catch (RuntimeException e) {
      commit.tookNoPlace();
      trackers.forEach(tracker -> tracker.failed(commit));
      throw e;
    }
    return commit.receipt(node.callbacks());
  }

  @Override
  public Set<String> drain(Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    Set<String> missing = new TreeSet<>();
    try {
      List<DurableTracker> trackers = List.copyOf(node.sessions().all());
      for (DurableTracker tracker : trackers) {
        tracker.awaitQueued(deadline);
      }
      node.closing().flushNow(trackers.stream().map(DurableTracker::session).toList());
      for (DurableTracker tracker : trackers) {
        tracker.awaitDurable(deadline);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    node.sessions().all().forEach(tracker -> missing.addAll(tracker.notDurable()));
    return missing;
  }

  @Override
  public void close() {
    topics.close(System.nanoTime() + node.calls().timeout().toNanos() / 2); // they commit
    node.close();
  }

  // --- for meters

  @Override
  public NodeCounts counts() {
    return node.sessions().counts();
  }

  @Override
  public NodeSign sign() {
    return node.figures().sign();
  }

  @Override
  public int callbacks() {
    return node.callbacks().waiting();
  }

  @Override
  public boolean isHealed() {
    return node.sender().isHealed();
  }

  // --- for sessions

  GameRows rows() {
    return rows;
  }

  void flushNow(SessionRef session) {
    node.closing().flushNow(List.of(session));
  }

  long callDeadline() {
    return node.calls().deadline();
  }

  void closeSession(NodeSession session, long deadlineNanos) {
    node.closing().close(session.tracker(), deadlineNanos);
  }

  private List<Table> tablesOf(OwnerId owner) {
    Catalog catalog = node.tables().atStart();
    List<Table> tables = catalog.ownedBy(owner.kind());
    if (tables.isEmpty()) {
      Set<String> kinds = new TreeSet<>();
      catalog.tables().forEach(table -> kinds.add(table.ownerKind()));
      throw new GameQueueException(
          "no managed table has owners of kind '" + owner.kind() + "'; known kinds: " + kinds);
    }
    return tables;
  }
}
