package io.gameq.test;

import io.gameq.ChangeSet;
import io.gameq.ClosedException;
import io.gameq.CommitPendingException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.Ids;
import io.gameq.OpenProgress;
import io.gameq.OpenResult;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.Pressure;
import io.gameq.Row;
import io.gameq.Urgency;
import io.gameq.change.Commit;
import io.gameq.config.Takeover;
import io.gameq.config.WhenCommitFails;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.durability.NodeSessions;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.node.GameSessions;
import io.gameq.node.SessionHost;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.rows.CurrentCatalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.Table;
import io.gameq.sign.NodeCounts;
import io.gameq.subscription.OpenTopic.Payloads;
import io.gameq.topic.Limits;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import io.gameq.topic.Transacted;
import io.gameq.view.GameRows;
import io.gameq.view.OwnerView;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** A node of the game on servers in memory. Thread-safe. */
final class MemoryQueue implements GameQueue, SessionHost {
  /** For nothing that waits: memory answers at once. */
  static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final int SLOTS = 16;

  private final String name;
  private final MemoryStore store;
  private final String process;
  private final NodeSessions trackers = new NodeSessions(new NodeCounts());
  private final Callbacks callbacks;
  private final GameRows rows;
  private final GameSessions game;
  private final List<Subscription> subscriptions = new CopyOnWriteArrayList<>();
  private volatile boolean isClosed;

  MemoryQueue(String name, MemoryStore store) {
    this.name = name;
    this.store = store;
    this.process = String.format(Locale.ROOT, "%08x", store.nextEpoch());
    this.callbacks = Callbacks.on(store::tell);
    this.rows =
        new GameRows(
            store.catalog,
            new CurrentCatalog(store.catalog, () -> store.catalog),
            store.codec(),
            store.clock,
            Limits.DEFAULT.rowBytes());
    this.game = new GameSessions(this);
    store.add(this);
  }

  String name() {
    return name;
  }

  // --- owners

  @Override
  public OwnerSession open(String owner, Takeover takeover) {
    OwnerId id = OwnerId.of(owner);
    var unused = rows.atStart().tablesOf(id);
    requireOpen();
    store.requireThere(true);
    SessionRef session =
        new SessionRef(id, new SessionId(store.nextEpoch(), process + "00000000"), id.slot(SLOTS));
    DurableTracker tracker = new DurableTracker(session, trackers.counts());
    store.take(id, takeover, this, tracker);
    trackers.add(tracker);
    List<EncodedRow> unflushed = store.unflushed(id);
    tracker.adopted(unflushed, List.of(), Collections.nCopies(unflushed.size(), 0L));
    OwnerView view = store.view(id, this);
    view.unflushed()
        .forEach(image -> tracker.carried().add(image.rowKey().text(), rows.carried(image)));
    return game.open(tracker, view, unflushed);
  }

  /** Who is asked closes the session on this thread, or not at all. */
  @Override
  public OwnerSession open(String owner, Takeover then, Duration ask) {
    try {
      return open(owner, Takeover.UNLESS_ALIVE);
    } catch (OwnerHeldException e) {
      MemoryStore.Holder holder = store.holder(OwnerId.of(owner));
      if (holder != null) {
        var unused = holder.session().whenAsked().complete(null);
        store.tellAll();
      }
      return open(owner, then);
    }
  }

  private static <T> CompletionStage<T> now(Supplier<T> call) {
    try {
      return CompletableFuture.completedFuture(call.get());
    } catch (GameQueueException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletionStage<OwnerSession> openAsync(String owner, Takeover takeover) {
    OwnerId unused = OwnerId.of(owner);
    return now(() -> open(owner, takeover));
  }

  @Override
  public CompletionStage<List<OpenResult>> openAll(
      Collection<String> owners, Takeover takeover, Consumer<OpenProgress> progress) {
    CompletionStage<List<OpenResult>> all =
        game.openAll(owners, owner -> openAsync(owner, takeover), progress);
    store.tellAll();
    return all;
  }

  @Override
  public <T extends Record> List<T> read(String owner, Class<T> type) {
    return rows.records(type, table -> read(owner, table));
  }

  @Override
  public List<Row> read(String owner, String table) {
    Table of = rows.table(table);
    OwnerId id = OwnerId.of(owner);
    var unused = of.ownerColumnValue(id);
    requireOpen();
    store.requireThere(true);
    return rows.rows(store.view(id, this), of);
  }

  @Override
  public CompletionStage<List<Row>> readAsync(String owner, String table) {
    return now(() -> read(owner, table));
  }

  @Override
  public Row row(String table, Map<String, ?> columns) {
    return rows.given(table, columns);
  }

  // --- commits

  @Override
  public CommitReceipt commit(Urgency urgency, OwnerSession... sessions) {
    return game.commit(urgency, sessions);
  }

  @Override
  public <T> Transacted<T> transactReturning(
      Collection<? extends OwnerSession> sessions, Function<ChangeSet, T> changes) {
    return game.transactReturning(sessions, changes);
  }

  @Override
  public CommitReceipt send(String owner, Record... sent) {
    return game.send(owner, sent);
  }

  @Override
  public CommitReceipt send(String owner, String table, Map<String, ?> columns) {
    return game.send(owner, table, columns);
  }

  /** From 1 on, without a look at the rows. */
  @Override
  public Ids ids(String table, int range) {
    Table of = game.tableForIds(table, range);
    Table.Column column = of.idColumn();
    return () -> {
      long id = store.nextId(of.name());
      var unused = column.canonical(id); // throws when it is full
      return id;
    };
  }

  // --- topics

  @Override
  public Topic<byte[]> topic(String topic, TopicOptions options) {
    return topic(topic, options, Payloads.BYTES);
  }

  @Override
  public <T extends Record> Topic<T> topic(String topic, Class<T> payload, TopicOptions options) {
    return topic(topic, options, Payloads.ofRecord(payload));
  }

  private <T> Topic<T> topic(String topic, TopicOptions options, Payloads<T> payloads) {
    MessageId.checkTopic(topic);
    requireOpen();
    store.requireThere(true);
    MemoryMessages.Box box = store.messages.define(TopicDefinition.of(topic, options, SLOTS));
    return new MemoryTopic<>(this, store, box, options, payloads, game.commits());
  }

  @Override
  public Optional<Topic<byte[]>> definedTopic(String topic) {
    MessageId.checkTopic(topic);
    MemoryMessages.Box box = store.messages.find(topic);
    return box == null
        ? Optional.empty()
        : Optional.of(topic(topic, box.definition.options(), Payloads.BYTES));
  }

  Subscription subscribe(MemorySubscription<?> subscription) {
    requireOpen();
    subscriptions.add(subscription);
    store.messages.add(subscription);
    return subscription;
  }

  // --- the end

  @Override
  public List<Pressure> pressure() {
    return List.of();
  }

  @Override
  public Set<String> drain(Duration timeout) {
    store.flush();
    return trackers.notDurable();
  }

  @Override
  public Stopped stop(Duration timeout) {
    subscriptions.forEach(of -> of.close(timeout));
    for (DurableTracker of : trackers.allOpen()) {
      var unused = of.whenAsked().complete(null);
    }
    store.tellAll();
    Set<String> missing = drain(timeout);
    Set<String> open = trackers.openOwners();
    close();
    return new Stopped(open, missing);
  }

  @Override
  public void close() {
    isClosed = true;
    subscriptions.forEach(Subscription::close);
    trackers.all().forEach(DurableTracker::closed);
  }

  // --- for sessions

  @Override
  public GameRows rows() {
    return rows;
  }

  @Override
  public WhenCommitFails whenCommitFails() {
    return WhenCommitFails.END_SESSION;
  }

  @Override
  public Limits limits() {
    return Limits.DEFAULT;
  }

  @Override
  public int slots() {
    return SLOTS;
  }

  @Override
  public String process() {
    return process;
  }

  @Override
  public NodeSessions sessions() {
    return trackers;
  }

  @Override
  public Callbacks callbacks() {
    return callbacks;
  }

  @Override
  public long deadline() {
    return System.nanoTime() + TIMEOUT.toNanos();
  }

  @Override
  public boolean isClosed() {
    return isClosed;
  }

  @Override
  public void requireOpen() {
    if (isClosed) {
      throw new ClosedException("node " + name + " is closed: open a GameQueue anew");
    }
  }

  @Override
  public void admit(long deadlineNanos) {}

  @Override
  public void submit(Commit commit, long deadlineNanos) {
    requireOpen();
    store.submit(commit);
  }

  /** Nobody waits for what a fault holds back; another thread may be telling of the commit. */
  @Override
  public void hurry() {
    if (store.isRedisAway()) {
      throw new CommitPendingException(
          "Redis is away, a fault of the test, and does not have the commit; its outcome is still"
              + " open");
    }
  }

  @Override
  public CompletableFuture<String> writers() {
    return CompletableFuture.completedFuture("MySQL is slow or away, a fault of the test");
  }

  @Override
  public void registerInbox(SessionRef inbox, DurableTracker tracker) {}

  @Override
  public void flushNow(List<SessionRef> of) {
    store.flush();
  }

  @Override
  public void awaitDurable(List<DurableTracker> of, Duration timeout) {
    store.flush();
  }

  @Override
  public void close(DurableTracker session, long deadlineNanos) {
    trackers.close(session);
    trackers.forgetDrained(forgotten -> {});
  }
}
