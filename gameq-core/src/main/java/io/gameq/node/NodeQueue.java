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
import io.gameq.config.GameQueueConfig;
import io.gameq.config.Takeover;
import io.gameq.message.MessageChange;
import io.gameq.mysql.tables.IdTable;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.Waiting.WaitingOwners;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnDefault;
import io.gameq.rows.types.ColumnType;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeSign;
import io.gameq.subscription.NodeTopics;
import io.gameq.subscription.OpenTopic;
import io.gameq.term.Term;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import io.gameq.topic.Transacted;
import io.gameq.view.OwnerView;
import io.gameq.view.OwnerViews;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
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

  /** What {@link GameQueue#open(GameQueueConfig)} finds. Stateless. */
  public static final class Provider implements GameQueueProvider {
    @Override
    public GameQueue open(GameQueueConfig config) {
      return new NodeQueue(GameNode.start(config));
    }
  }

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
                node.upkeep::restoreTopics,
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
    return node.status.now();
  }

  /** Calls of the game's own code that wait. */
  public int callbacks() {
    return node.callbacks.waiting();
  }

  /** Whether Redis is there and has all that this node knows. */
  public boolean isHealed() {
    return node.sender.isHealed();
  }

  /** The ids of a node, one {@link Ids} for each table. Thread-safe. */
  static final class NodeIds {
    private static final int MOST = 1_000_000;

    private final IdTable table;
    private final GameNode node;
    private final ConcurrentHashMap<String, IdRanges> byTable = new ConcurrentHashMap<>();

    NodeIds(GameNode node) {
      this.node = node;
      this.table = new IdTable(node.servers.mysql());
    }

    /** As {@link io.gameq.GameQueue#ids(String, int)}. */
    Ids of(Table of, int range) {
      if (range < 1 || range > MOST) {
        throw new GameQueueException(
            String.format(
                Locale.ROOT, "a range of %d ids of %s: use 1 to %,d", range, of.name(), MOST));
      }
      IdRanges ids =
          byTable.computeIfAbsent(
              of.name(), name -> new IdRanges(taking(of, range), range, node.calls));
      ids.prepare();
      return ids;
    }

    private LongSupplier taking(Table of, int range) {
      Column column = column(of);
      return () -> {
        long first = table.take(of.name(), column.name(), range, () -> highestWaiting(of, column));
        var unused = column.canonical(Math.addExact(first, range - 1)); // throws when it is full
        return first;
      };
    }

    /**
     * The highest number in rows that wait in Redis, of all nodes, or that were set aside; 0 for
     * none. MySQL may never have had them. Asked once in the life of a table; costs a look at every
     * row that waits.
     */
    private long highestWaiting(Table of, Column column) {
      BigInteger highest = BigInteger.ZERO;
      ControlConnection control = node.servers.control();
      for (SlotKeys slot : node.servers.slots()) {
        List<String> members = List.copyOf(control.ask(redis -> WaitingOwners.of(redis, slot)));
        for (List<String> some : LuaScript.pieces(members, WaitingOwners.MOST_AT_ONCE)) {
          highest =
              highest.max(
                  highest(
                      control.ask(redis -> WaitingOwners.rows(redis, slot, of.name(), some)),
                      of,
                      column));
        }
      }
      // After Redis: whatever a flush has set aside meanwhile is there by now.
      return highest.max(highest(table.refused(of.name()), of, column)).longValueExact();
    }

    private BigInteger highest(List<EncodedRow> rows, Table of, Column column) {
      return rows.stream()
          .map(row -> number(row, of, column))
          .reduce(BigInteger.ZERO, BigInteger::max);
    }

    private BigInteger number(EncodedRow row, Table of, Column column) {
      try {
        Object value = value(row, of, column);
        return value == null
            ? BigInteger.ZERO
            : new BigInteger(column.type().keyText(value, column.label()));
      } catch (LayoutException e) { // it is whole, and can be written once the table is mended
        throw e;
      } catch (RuntimeException e) { // damaged: it has no number, and never reaches the table
        return BigInteger.ZERO;
      }
    }

    private @Nullable Object value(EncodedRow row, Table of, Column column) {
      int inKey = of.keyColumns().indexOf(column);
      if (inKey >= 0) {
        return new RowKey(of, row.key()).parts()[inKey];
      }
      return row.op() == RowOp.DELETE // it has the key alone
          ? null
          : node.rows.codec().decodeForGame(of, row.image()).values()[of.indexOf(column.name())];
    }

    /**
     * The column that MySQL would number, else the only integer of the key that is not the owner.
     */
    private static Column column(Table of) {
      List<Column> numbered =
          of.columns().stream()
              .filter(column -> column.onAbsence() instanceof ColumnDefault.Numbered)
              .toList();
      List<Column> all =
          numbered.isEmpty()
              ? of.keyColumns().stream()
                  .filter(column -> isInteger(column) && !column.equals(of.ownerColumn()))
                  .toList()
              : numbered;
      if (all.size() != 1) {
        throw new GameQueueException(
            ("table %s has %s: ids are for a column with AUTO_INCREMENT, or for the only integer"
                    + " of the primary key beside the owner's column")
                .formatted(
                    of.name(), all.isEmpty() ? "no column for ids" : "several columns for ids"));
      }
      return all.get(0);
    }

    private static boolean isInteger(Column column) {
      ColumnType.Kind kind = column.type().kind();
      return kind == ColumnType.Kind.INTEGER || kind == ColumnType.Kind.UNSIGNED_LONG;
    }

    /**
     * The ids of one table, out of ranges that are taken in MySQL: the next one while half of this
     * one is left. Thread-safe; nobody waits with the lock, and all who find none left wait for the
     * same range, each for its own time.
     */
    private static final class IdRanges implements Ids {
      private static final String TAKE = "take ids";

      private final LongSupplier taking;
      private final int range;
      private final NodeCalls calls;
      private long next;
      private long left;
      private @Nullable CompletableFuture<Long> coming;

      /**
       * Has none at first.
       *
       * @param taking takes the next range in MySQL and returns its first id
       * @param range how many ids it has
       */
      IdRanges(LongSupplier taking, int range, NodeCalls calls) {
        this.taking = taking;
        this.range = range;
        this.calls = calls;
      }

      /** Takes the first range, if none was taken. */
      void prepare() {
        long unused = await(false);
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
      private long await(boolean takes) {
        long deadline = calls.deadline();
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
            long unused = calls.await(TAKE, deadline, awaited);
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
          ready = calls.shareOfMySql(TAKE, isAwaited -> taking.getAsLong());
          coming = ready;
        }
        return ready;
      }
    }
  }
}
