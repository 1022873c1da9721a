package io.gameq.test;

import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.OwnerHeldException;
import io.gameq.RedisUnavailableException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.commit.Settlement;
import io.gameq.config.Takeover;
import io.gameq.durability.DurableTracker;
import io.gameq.message.MessageChange;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.CommitGroup;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.HandledRow;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.topic.DeadLetter;
import io.gameq.view.OwnerView;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What Redis and MySQL do for one test: they hold rows and messages, know who owns, and take a
 * commit as a whole or refuse it. One lock for all; what the game is told runs after it.
 *
 * <pre>
 * commit ──▶ away   in the WAL, while Redis is away
 *        ──▶ queued by owner, row key -> newest image
 *               └─ flush ──▶ rows   or dead letters
 * </pre>
 */
final class MemoryStore {
  final TestClock clock = TestClock.of(new StoreTime());
  final MemoryFaults faults = new MemoryFaults(this);
  final MemoryMessages messages = new MemoryMessages(this);
  final Catalog catalog;

  private final RowCodec codec;
  private final Map<String, EncodedRow> rows = new TreeMap<>();
  private final Map<OwnerId, Map<String, EncodedRow>> queued = new LinkedHashMap<>();
  private final Map<OwnerId, Map<String, Stored>> dead = new HashMap<>();
  private final Map<OwnerId, Holder> holders = new HashMap<>();
  private final List<MemoryQueue> nodes = new ArrayList<>();
  private final Deque<Commit> away = new ArrayDeque<>();
  private final Map<String, Long> nextIds = new HashMap<>();

  /** Rows that were sent and not flushed: they take the place of none. */
  private final Set<String> inboxed = new HashSet<>();

  private final Deque<Runnable> toTell = new ArrayDeque<>();
  private Instant now = TestClock.BEGINNING;
  private final AtomicLong versions = new AtomicLong();
  private long sequences;
  private long epochs;

  /** Who has an owner open. */
  record Holder(MemoryQueue node, DurableTracker session) {
    boolean isOpen() {
      SessionRef of = session.session();
      return !node.isClosed() && node.sessions().findOpen(of.owner().encoded(), of.text()) != null;
    }
  }

  private final class StoreTime implements TestClock.MemoryTime {
    @Override
    public Instant now() {
      synchronized (MemoryStore.this) {
        return now;
      }
    }

    @Override
    public void moveTo(Instant to) {
      messages.handleUntil(to);
    }
  }

  MemoryStore(Catalog catalog) {
    this.catalog = catalog;
    this.codec = new RowCodec((table, fingerprint) -> null, clock);
  }

  /** Of the clock, without handling anything. */
  synchronized void setNow(Instant to) {
    now = to;
  }

  synchronized void add(MemoryQueue node) {
    nodes.add(node);
  }

  RowCodec codec() {
    return codec;
  }

  // --- telling the game

  /** Told by the next {@link #tellAll}, which whoever calls this calls without the lock. */
  synchronized void tell(Runnable task) {
    toTell.add(task);
  }

  void tellAll() {
    while (true) {
      Runnable next;
      synchronized (this) {
        next = toTell.poll();
      }
      if (next == null) {
        return;
      }
      next.run();
    }
  }

  // --- owners

  /** Throws OwnerHeldException when somebody has it and it is not to be taken over. */
  void take(OwnerId owner, Takeover takeover, MemoryQueue by, DurableTracker session) {
    synchronized (this) {
      Holder holder = holder(owner);
      if (holder != null && takeover == Takeover.UNLESS_ALIVE) {
        throw new OwnerHeldException(
            owner.id(),
            "%s is open on %s: close it there, or open it with Takeover.ALWAYS"
                .formatted(owner, holder.node == by ? "this node" : "node " + holder.node.name()));
      }
      holders.put(owner, new Holder(by, session));
      if (holder != null) {
        tell(
            () -> {
              holder.session.session().markLost();
              holder.session.whenLost().complete(null);
            });
      }
    }
    tellAll();
  }

  /** Who has an owner open, and is not closed; null for nobody. */
  synchronized @Nullable Holder holder(OwnerId owner) {
    Holder holder = holders.get(owner);
    return holder != null && holder.isOpen() ? holder : null;
  }

  synchronized long nextEpoch() {
    return ++epochs;
  }

  /** What of an owner is not in MySQL. */
  synchronized List<EncodedRow> unflushed(OwnerId owner) {
    return List.copyOf(queued.getOrDefault(owner, Map.of()).values());
  }

  /** What an owner has, by the node's knowledge of tables. */
  synchronized OwnerView view(OwnerId owner, MemoryQueue node) {
    Map<String, EncodedRow> its = queued.getOrDefault(owner, Map.of());
    OwnerView view =
        new OwnerView(
            owner,
            its.values().stream()
                .filter(row -> !HandledRow.is(row.key()))
                .map(node.rows()::decode)
                .toList(),
            0,
            Set.of());
    for (EncodedRow row : rows.values()) {
      RowImage image = node.rows().decode(row);
      if (image.table().isOwnedBy(owner, image.values()) || its.containsKey(row.key())) {
        view.row(image);
      }
    }
    for (Stored letter : dead.getOrDefault(owner, Map.of()).values()) {
      RowImage image = node.rows().decode(new EncodedRow(letter.key(), letter.refused().image()));
      view.addDeadLetter(
          letter, image, image.op() == RowOp.DELETE ? null : node.rows().row(image, image.table()));
    }
    return view;
  }

  /** Ids of a table, so many at a time. */
  synchronized long nextId(String table) {
    return nextIds.merge(table, 1L, Long::sum);
  }

  // --- commits

  synchronized boolean isRedisAway() {
    return faults.redisAway;
  }

  void submit(Commit commit) {
    synchronized (this) {
      commit.setSequence(++sequences);
      commit.setVersion(versions.incrementAndGet());
      commit.journaled();
      if (faults.redisAway) {
        away.add(commit);
      } else {
        decide(commit);
      }
    }
    tellAll();
  }

  /** What was committed while Redis was away. */
  void arrive() {
    synchronized (this) {
      for (Commit commit; (commit = away.poll()) != null; ) {
        decide(commit);
      }
    }
    tellAll();
  }

  private void decide(Commit commit) {
    Boolean unknown = faults.unknownIsApplied;
    faults.unknownIsApplied = null;
    RuntimeException refusal = Boolean.FALSE.equals(unknown) ? null : refusal(commit);
    if (refusal == null && !Boolean.FALSE.equals(unknown)) {
      apply(commit);
    }
    if (unknown != null) {
      RuntimeException told = Settlement.unknown(commit, "a fault of the test");
      tell(() -> commit.failed(told));
    } else if (refusal != null) {
      tell(() -> commit.failed(refusal));
    } else {
      tell(commit::queued);
    }
    tell(this::flush);
    tell(messages::handleDue);
  }

  private @Nullable RuntimeException refusal(Commit commit) {
    for (CommitPart part : commit.parts()) {
      SessionRef session = part.session();
      Holder holder = holders.get(session.owner().base());
      if (!session.isInbox() && (holder == null || holder.session.session() != session)) {
        return Settlement.lost(session);
      }
    }
    if (faults.redisFull && !commit.makesRoom()) {
      return Settlement.reason(
          new CommitGroup.RefusedBy("OOM command not allowed when used memory > 'maxmemory'."));
    }
    for (CommitPart part : commit.parts()) {
      OwnerId owner = part.session().owner().base();
      for (ChangedRow row : part.session().isInbox() ? part.rows() : List.<ChangedRow>of()) {
        if (queued.getOrDefault(owner, Map.of()).containsKey(row.key())) {
          return Settlement.reason(new CommitGroup.RowKeyInUse(owner, row.key()));
        }
      }
    }
    CommitGroup.Outcome changed = messages.refusal(commit.messages());
    return changed == null ? null : Settlement.reason(changed);
  }

  private void apply(Commit commit) {
    for (CommitPart part : commit.parts()) {
      OwnerId owner = part.session().owner().base();
      List<EncodedRow> sent = new ArrayList<>();
      for (ChangedRow row : part.rows()) {
        EncodedRow encoded = row.encoded();
        queued.computeIfAbsent(owner, of -> new LinkedHashMap<>()).put(row.key(), encoded);
        if (part.session().isInbox() && !HandledRow.is(row.key())) {
          sent.add(encoded);
          inboxed.add(row.key());
        }
      }
      Holder holder = holder(owner);
      if (!sent.isEmpty() && holder != null) {
        tell(() -> holder.session.sent().came(sent));
      }
    }
    for (MessageChange change : commit.messages()) {
      messages.apply(change);
    }
  }

  // --- flushes

  /** Has all that is queued in MySQL, or set aside, unless MySQL is slow or away. */
  void flush() {
    synchronized (this) {
      if (faults.held || faults.mySqlAway || faults.redisAway) {
        return;
      }
      Map<OwnerId, Map<String, Long>> refused = new HashMap<>();
      queued.forEach((owner, its) -> refused.put(owner, flush(owner, its.values())));
      long version = versions.get();
      queued.clear();
      inboxed.clear();
      for (MemoryQueue node : nodes) {
        for (DurableTracker tracker : node.sessions().all()) {
          Map<String, Long> its = refused.getOrDefault(tracker.session().owner().base(), Map.of());
          tell(
              () -> {
                tracker.durable(version, its, Map.of());
                node.sessions().forgetDrained(session -> {});
              });
        }
      }
    }
    tellAll();
  }

  private Map<String, Long> flush(OwnerId owner, Iterable<EncodedRow> its) {
    Map<String, Long> refused = new HashMap<>();
    for (EncodedRow row : its) {
      if (HandledRow.is(row.key())) {
        continue;
      }
      MemoryFaults.Refusal why = refusal(owner, row);
      Map<String, Stored> letters = dead.computeIfAbsent(owner, of -> new LinkedHashMap<>());
      if (why == null) {
        letters.remove(row.key());
        write(row);
      } else {
        refused.put(row.key(), row.version());
        letters.put(row.key(), letter(owner, row, why));
      }
    }
    return refused;
  }

  private Stored letter(OwnerId owner, EncodedRow row, MemoryFaults.Refusal why) {
    RowKey key = catalog.rowKey(row.key());
    return new Stored(
        row.version(),
        new Refused(
            owner,
            key.table().name(),
            key.keyText(),
            row.version(),
            row.image(),
            1,
            why.errorCode(),
            why.error()),
        now);
  }

  private MemoryFaults.@Nullable Refusal refusal(OwnerId owner, EncodedRow row) {
    MemoryFaults.Refusal ofRow = faults.refusals.get(row.key());
    MemoryFaults.Refusal byTest =
        ofRow == null ? faults.refusals.get(RowKey.tableName(row.key())) : ofRow;
    EncodedRow there = rows.get(row.key());
    if (byTest != null || there == null) {
      return byTest;
    }
    if (inboxed.contains(row.key())) {
      return new MemoryFaults.Refusal(
          DeadLetter.KEY_IN_USE, "the row was sent under a key that another row has");
    }
    RowImage stored = decode(there);
    boolean isForeign =
        !stored.table().isOwnedBy(owner, stored.values()) && decode(row).handovers().isEmpty();
    return isForeign
        ? new MemoryFaults.Refusal(
            DeadLetter.NOT_OWNER, "the row belongs to " + stored.table().ownerOf(stored.values()))
        : null;
  }

  private void write(EncodedRow row) {
    if (row.op() == RowOp.PUT) {
      rows.put(row.key(), row);
    } else if (row.op() == RowOp.DELETE) {
      rows.remove(row.key());
    } // what moved away, its new owner has put
  }

  private RowImage decode(EncodedRow row) {
    return codec.decodeForGame(catalog.table(RowKey.tableName(row.key())), row.image());
  }

  /** Throws when a call needs servers that are away. */
  synchronized void requireThere(boolean mySqlToo) {
    if (faults.redisAway) {
      throw new RedisUnavailableException("Redis is away: a fault of the test");
    }
    if (mySqlToo && faults.mySqlAway) {
      throw new MySqlUnavailableException("MySQL is away: a fault of the test");
    }
  }

  /** Why something cannot be done in memory. */
  static GameQueueException notHere(String what) {
    return new GameQueueException(
        what + " is not done in memory: test it on real servers, see the page of gameq-test");
  }
}
