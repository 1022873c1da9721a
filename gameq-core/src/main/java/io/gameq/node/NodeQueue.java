package io.gameq.node;

import io.gameq.ChangeSet;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.GameQueueProvider;
import io.gameq.Ids;
import io.gameq.LayoutException;
import io.gameq.OpenProgress;
import io.gameq.OpenResult;
import io.gameq.OwnerSession;
import io.gameq.Pressure;
import io.gameq.Row;
import io.gameq.Urgency;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.Takeover;
import io.gameq.durability.DurableTracker;
import io.gameq.mysql.tables.IdTable;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.node.NodeServers.ResourceStack;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.SlotBacklog.WaitingOwners;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeSign;
import io.gameq.subscription.NodeTopics;
import io.gameq.subscription.OpenTopic;
import io.gameq.term.Term;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import io.gameq.topic.Transacted;
import io.gameq.view.GameRows;
import io.gameq.view.OwnerView;
import io.gameq.wal.JvmFlags;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
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

  /** What waits for Redis may still be sent, though nobody waits for the close. */
  private static final long LEAST_CLOSE_MILLIS = 10_000;

  /** While the game closes its sessions. */
  private static final long CLOSE_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** What {@link GameQueue#open(GameQueueConfig)} finds. Stateless. */
  public static final class Provider implements GameQueueProvider {
    @Override
    public GameQueue open(GameQueueConfig config) {
      JvmFlags.require(); // asks no server before the JVM is fit
      ResourceStack opened = new ResourceStack();
      try {
        return new NodeQueue(new GameNode(config, opened), opened);
      } catch (RuntimeException e) {
        opened.close();
        throw e;
      }
    }
  }

  final GameNode node;
  final GameSessions sessions;
  private final ResourceStack opened;
  private final GameRows rows;
  private final NodeUpkeep upkeep;
  private final NodeTopics topics;
  private final OwnerOpener opening;
  private final Map<String, TableIds> idsByTable = new ConcurrentHashMap<>();

  private NodeQueue(GameNode node, ResourceStack opened) {
    this.node = node;
    this.opened = opened;
    this.rows = node.rows;
    this.sessions = new GameSessions(node);
    this.topics =
        new NodeTopics(
            new OpenTopic.Node(
                node.config,
                node.servers.slots(),
                node.servers.connector(),
                sessions.commits,
                node.sender,
                node.clock,
                new TopicCalls(),
                () -> node.lacksTopics.set(true),
                node.callbacks,
                node.process,
                owner -> open(owner, Takeover.UNLESS_ALIVE)));
    this.opening = new OwnerOpener(node, sessions.commits);
    this.upkeep = new NodeUpkeep(node, opening, opened);
    LOG.info(
        "node {} opened namespace {} with WAL {}",
        node.config.node(),
        node.config.namespace(),
        node.wal.directory());
  }

  private final class TopicCalls implements OpenTopic.ServerCalls {
    @Override
    public <T> T ask(String what, Function<RedisConnection, T> question) {
      return node.calls.ofRedis(
          what, node.calls.timeout.toNanos(), isAwaited -> node.servers.ask(question));
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
    return sessions.openAll(owners, owner -> openAsync(owner, takeover), progress);
  }

  @Override
  public <T extends Record> List<T> read(String owner, Class<T> type) {
    return rows.records(type, table -> read(owner, table));
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
        node.servers.ask(redis -> LookupScript.unflushed(redis, node.servers.slot(owner), owner));
    String prefix = PercentEncoding.percent(table.name()) + ":";
    OwnerView view =
        node.views.load(
            owner,
            null,
            Term.NOT_KNOWN,
            0,
            List.of(table),
            unflushed.stream().filter(row -> row.key().startsWith(prefix)).toList());
    try {
      node.versions.observe(view.highestVersion()); // what the game makes of it is newer
    } catch (GameQueueException e) { // its open says so
      LOG.debug("a version of {} is too far ahead: {}", owner, e.getMessage());
    }
    return view;
  }

  @Override
  public Row row(String table, Map<String, ?> columns) {
    return rows.given(table, columns);
  }

  @Override
  public CommitReceipt commit(Urgency urgency, OwnerSession... sessions) {
    return this.sessions.commit(urgency, sessions);
  }

  @Override
  public Ids ids(String name, int range) {
    Table table = sessions.tableForIds(name, range);
    TableIds ids = idsByTable.computeIfAbsent(table.name(), of -> new TableIds(node, table, range));
    long unused = ids.await(false); // takes the first range, if none was taken
    return ids;
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

  @Override
  public List<Pressure> pressure() {
    return node.pressure.passed();
  }

  @Override
  public <T> Transacted<T> transactReturning(
      Collection<? extends OwnerSession> sessions, Function<ChangeSet, T> changes) {
    return this.sessions.transactReturning(sessions, changes);
  }

  @Override
  public CommitReceipt send(String owner, Record... sent) {
    return sessions.send(owner, sent);
  }

  @Override
  public CommitReceipt send(String owner, String table, Map<String, ?> columns) {
    return sessions.send(owner, table, columns);
  }

  @Override
  public Set<String> drain(Duration timeout) {
    node.closing.awaitDurable(List.copyOf(node.sessions.all()), timeout);
    return node.sessions.notDurable();
  }

  @Override
  public Stopped stop(Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    long half = deadline - timeout.toNanos() / 2;
    try {
      topics.close(half); // handlers commit
      while (askToClose() && System.nanoTime() < half && !Thread.currentThread().isInterrupted()) {
        LockSupport.parkNanos(CLOSE_LOOK_NANOS);
      }
      Set<String> missing = drain(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
      return new Stopped(node.sessions.openOwners(), missing);
    } finally {
      close();
    }
  }

  /** Tells those who listen; returns whether one of them has a session open. */
  private boolean askToClose() {
    boolean isAwaited = false;
    for (DurableTracker of : node.sessions.allOpen()) {
      CompletableFuture<Void> asked = of.whenAsked();
      if (asked.isDone() || asked.getNumberOfDependents() > 0) {
        boolean unused = asked.complete(null);
        isAwaited = true;
      }
    }
    return isAwaited;
  }

  /** Within the time of a call; what takes longer goes on in the background. */
  @Override
  public void close() {
    topics.close(System.nanoTime() + node.calls.timeout.toNanos() / 2); // they commit
    if (!node.close()) {
      return;
    }
    long deadline = node.calls.deadline();
    node.callbacks.closeSoon();
    CompletableFuture<Void> ended =
        CompletableFuture.runAsync(
            this::end, task -> DaemonThreads.named("gameq-close", task).start());
    try {
      ended.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      LOG.warn(
          "node {} is not closed within {} ms, since Redis or MySQL does not answer; it goes on in"
              + " the background",
          node.config.node(),
          node.calls.timeout.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new GameQueueException("node %s did not close well".formatted(node.config.node()), e);
    } finally {
      node.callbacks.runLeft(deadline);
    }
  }

  private void end() {
    node.calls.close();
    boolean answered =
        node.sender.close(Math.max(LEAST_CLOSE_MILLIS, node.calls.timeout.toMillis() * 2 / 3));
    boolean isKept =
        !answered || node.sessions.counts().conflicts.sum() > 0 || !node.sessions.isDrained();
    if (isKept) {
      LOG.warn(
          "not everything is known to be in MySQL: the WAL {} is kept for recovery",
          node.wal.directory());
    } else if (node.sender.recent().keptFrom()
        != Long.MAX_VALUE) { // the next start puts back what Redis loses of them
      node.wal.complete(System.currentTimeMillis() + node.config.messageKeep().toMillis());
    } else {
      forgetJournal();
      node.wal.complete();
    }
    upkeep.tellEnded(isKept);
    node.sessions.all().forEach(DurableTracker::closed);
    opened.close();
  }

  /** A WAL that is gone needs no marks. */
  private void forgetJournal() {
    try {
      node.servers.call(redis -> JournalMarks.forget(redis, node.servers.slots(), node.wal.id()));
    } catch (GameQueueException e) {
      LOG.debug("cannot remove the journal marks of {}: {}", node.wal.id(), e.getMessage());
    }
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
    return upkeep.sign();
  }

  /** Calls of the game's own code that wait. */
  public int callbacks() {
    return node.callbacks.waiting();
  }

  /** Whether Redis is there and has all that this node knows. */
  public boolean isHealed() {
    return node.sender.isHealed();
  }

  /**
   * The ids of one table, out of ranges that are taken in MySQL: the next one while half of this
   * one is left. Thread-safe; nobody waits with the lock, and all who find none left wait for the
   * same range, each for its own time.
   */
  private static final class TableIds implements Ids {
    private static final String TAKE = "take ids";

    private final GameNode node;
    private final IdTable taken;
    private final Table table;
    private final Column column;
    private final int range;
    private long next;
    private long left;
    private @Nullable CompletableFuture<Long> coming;

    /** Has none at first; takes so many at a time. */
    TableIds(GameNode node, Table table, int range) {
      this.node = node;
      this.taken = new IdTable(node.servers.mysql());
      this.table = table;
      this.column = table.idColumn();
      this.range = range;
    }

    @Override
    public long next() {
      return await(true);
    }

    /**
     * The first id that is left; waits for a range when none is.
     *
     * @param takes whether the id is given away
     */
    long await(boolean takes) {
      long deadline = node.calls.deadline();
      CompletableFuture<Long> earlier;
      synchronized (this) {
        earlier = coming;
      }
      while (true) {
        CompletableFuture<Long> awaited;
        synchronized (this) {
          if (hasLeft()) {
            return takes ? give() : next;
          }
          awaited = coming();
        }
        try {
          long unused = node.calls.share(TAKE, deadline - System.nanoTime(), awaited);
        } catch (GameQueueException e) {
          if (awaited != earlier) {
            throw e;
          }
          earlier = null; // it was begun before this call, maybe long ago: MySQL may be back
        }
      }
    }

    /** Goes on to the range that came, if none is left of the one before. */
    private boolean hasLeft() {
      CompletableFuture<Long> ready = coming;
      if (left == 0 && ready != null && ready.isDone()) {
        coming = null;
        if (!ready.isCompletedExceptionally()) {
          next = ready.join();
          left = range;
        }
      }
      return left > 0;
    }

    private long give() {
      left--;
      if (left <= range / 2) {
        CompletableFuture<Long> unused = coming();
      }
      return next++;
    }

    private CompletableFuture<Long> coming() {
      CompletableFuture<Long> ready = coming;
      if (ready == null) {
        ready = node.calls.shareOfMySql(TAKE, isAwaited -> take());
        coming = ready;
      }
      return ready;
    }

    private long take() {
      long first = taken.take(table.name(), column.name(), range, this::highestWaiting);
      var unused = column.canonical(Math.addExact(first, range - 1)); // throws when it is full
      return first;
    }

    /**
     * The highest number in rows that wait in Redis, of all nodes, or that were set aside; 0 for
     * none. MySQL may never have had them. Asked once in the life of a table; costs a look at every
     * row that waits.
     */
    private long highestWaiting() {
      BigInteger highest = BigInteger.ZERO;
      for (SlotKeys slot : node.servers.slots()) {
        List<String> members =
            List.copyOf(node.servers.ask(redis -> WaitingOwners.of(redis, slot)));
        for (List<String> some : LuaScript.pieces(members, WaitingOwners.MOST_AT_ONCE)) {
          highest =
              highest(
                  highest,
                  node.servers.ask(redis -> WaitingOwners.rows(redis, slot, table.name(), some)));
        }
      }
      // After Redis: whatever a flush has set aside meanwhile is there by now.
      return highest(highest, taken.refused(table.name())).longValueExact();
    }

    private BigInteger highest(BigInteger known, List<EncodedRow> rows) {
      return rows.stream().map(this::number).reduce(known, BigInteger::max);
    }

    /** 0 for none, as in a delete, which has the key alone. */
    private BigInteger number(EncodedRow row) {
      int inKey = table.keyColumns().indexOf(column);
      Object value = null;
      try {
        if (inKey >= 0) {
          value = new RowKey(table, row.key()).parts()[inKey];
        } else if (row.op() != RowOp.DELETE) {
          value = node.rows.decode(row, table).values()[table.indexOf(column.name())];
        }
        return value == null
            ? BigInteger.ZERO
            : new BigInteger(column.type().keyText(value, column.label()));
      } catch (LayoutException e) { // it is whole, and can be written once the table is mended
        throw e;
      } catch (RuntimeException e) { // damaged: it has no number, and never reaches the table
        return BigInteger.ZERO;
      }
    }
  }
}
