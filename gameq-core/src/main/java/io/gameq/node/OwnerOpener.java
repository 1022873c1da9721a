package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.OpenProgress;
import io.gameq.OpenResult;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.RedisUnavailableException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit.CommitPart;
import io.gameq.config.Takeover;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.NodeSigns.OpenOwners;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.Table;
import io.gameq.view.OwnerView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens owners: drives an {@link OpenState} to its end, one of an owner at a time, within the time
 * of a call, and makes the session known to the node. Thread-safe.
 */
final class OwnerOpener {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerOpener.class);

  private static final long WAIT_MILLIS = 1_000;

  /** Between two looks whether an owner that was asked for is free; doubled up to the last. */
  private static final long FIRST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  private static final long LAST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Longer than healing takes that is not held up by a server that is away. */
  private static final long HEALING_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long HEALING_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Between two prods of one open: enough to connect and to heal a little. */
  private static final int LOOKS_PER_PROD = 100;

  private final GameNode node;
  private final SessionCommits commits;
  private final OpenOwners openOwners;
  private final Set<OwnerId> underWay = new HashSet<>();

  /** Opens that failed after MySQL may have had their sessions open: see {@link #finishSome}. */
  private final Map<OwnerId, Unfinished> unfinished = new ConcurrentHashMap<>();

  private final Set<OwnerId> finishing = ConcurrentHashMap.newKeySet();

  /**
   * What an open that failed had adopted, and that nobody else will put back.
   *
   * @param keepsWal has the WAL kept that has these rows, and the node not drained
   */
  private record Unfinished(OpenState.Lost lost, DurableTracker keepsWal) {}

  OwnerOpener(GameNode node, SessionCommits commits) {
    this.node = node;
    this.commits = commits;
    this.openOwners =
        new OpenOwners(
            node.config.namespace(),
            node.process,
            (owner, session) -> node.sessions.findOpen(owner.encoded(), session.text()) != null);
  }

  /**
   * Throws as {@link io.gameq.GameQueue#open(String, Takeover)}.
   *
   * @param asks whether who has it open is asked to close it
   */
  NodeSession open(String owner, Takeover takeover, boolean asks) {
    OpenState.OpenRequest wanted = wanted(owner, takeover, asks);
    return node.calls.ofMySql(
        "opening " + wanted.owner(),
        isAwaited -> openInTurn(wanted, false, isAwaited),
        late -> node.closing.release(late.tracker()));
  }

  /** Throws as {@link io.gameq.GameQueue#open(String, Takeover, Duration)}. */
  NodeSession openAfterAsking(String owner, Takeover then, Duration ask) {
    long deadline = System.nanoTime() + ask.toNanos();
    long wait = FIRST_LOOK_NANOS;
    while (true) {
      try {
        return open(owner, Takeover.UNLESS_ALIVE, true);
      } catch (OwnerHeldException e) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          if (then == Takeover.UNLESS_ALIVE) {
            throw e;
          }
          return open(owner, then, false);
        }
        LockSupport.parkNanos(this, Math.min(left, wait));
        if (Thread.currentThread().isInterrupted()) {
          throw new GameQueueException(
              "interrupted while " + OwnerId.of(owner) + " was asked for", e);
        }
        wait = Math.min(2 * wait, LAST_LOOK_NANOS);
      }
    }
  }

  /** The same without waiting; the future ends where the game's code runs. */
  CompletableFuture<OwnerSession> start(String owner, Takeover takeover) {
    OpenState.OpenRequest wanted = wanted(owner, takeover, false);
    return node.calls.startOfMySql(
        "opening " + wanted.owner(),
        isAwaited -> openInTurn(wanted, false, isAwaited),
        late -> node.closing.release(((NodeSession) late).tracker()),
        node.callbacks);
  }

  /** Does the id fit, and may the node open it? Nothing is written yet. */
  private OpenState.OpenRequest wanted(String id, Takeover takeover, boolean asks) {
    OwnerId owner = OwnerId.of(id);
    List<Table> tables = node.rows.atStart().tablesOf(owner);
    node.requireOpen();
    node.requireAlive();
    return new OpenState.OpenRequest(owner, tables, takeover, asks);
  }

  /**
   * Opens owners again whose open failed after it had adopted rows, unless they are open elsewhere:
   * what Redis lost of these rows is put back, and the session is closed. To be called every second
   * or so.
   */
  void finishSome() {
    if (!node.sender.isHealed()) {
      return;
    }
    for (OwnerId owner : unfinished.keySet()) {
      OpenState.OpenRequest wanted = wanted(owner.id(), Takeover.UNLESS_ALIVE, false);
      if (!finishing.add(owner)) {
        continue;
      }
      var unused =
          node.calls
              .startOfMySql(
                  "opening " + owner + " again",
                  isAwaited -> openInTurn(wanted, true, isAwaited),
                  late -> node.closing.release(late.tracker()),
                  Runnable::run)
              .whenComplete(
                  (opened, error) -> {
                    finishing.remove(owner);
                    if (opened != null) {
                      node.closing.release(opened.tracker());
                    } else {
                      LOG.debug("{} is not open again: {}", owner, String.valueOf(error));
                    }
                  });
    }
  }

  /**
   * Another node takes an owner for open here. Where this node has no such session, it tells Redis:
   * MySQL had raised one though the answer was lost, or Redis learned of it late.
   */
  void held(OwnerId owner, SessionId id) {
    synchronized (underWay) {
      if (underWay.contains(owner)) {
        return;
      }
    }
    if (node.sessions.find(owner.encoded(), id.text()) == null) {
      node.closing.openFailed(new SessionRef(owner, id, owner.slot(node.servers.slots().length)));
    }
  }

  private NodeSession openInTurn(
      OpenState.OpenRequest wanted, boolean onlyUnfinished, BooleanSupplier isAwaited) {
    OwnerId owner = wanted.owner();
    OneOpen open = new OneOpen(wanted, isAwaited);
    synchronized (underWay) {
      while (!underWay.add(owner)) {
        open.requireAwaited();
        try {
          underWay.wait(WAIT_MILLIS);
        } catch (InterruptedException e) {
          throw new IllegalStateException(e); // nobody interrupts these threads
        }
      }
    }
    try {
      return open.drive(onlyUnfinished);
    } finally {
      synchronized (underWay) {
        underWay.remove(owner);
        underWay.notifyAll();
      }
    }
  }

  /** One open, on a thread of its own. */
  private final class OneOpen extends OpenState.Node {
    private final OpenState.OpenRequest wanted;
    private final BooleanSupplier isAwaited;

    /** With {@code isAwaited} false once nobody waits for it any more. */
    OneOpen(OpenState.OpenRequest wanted, BooleanSupplier isAwaited) {
      super(
          node.config.node(),
          node.servers.slots(),
          node.config.mergeWindow().toMillis(),
          node.owners,
          node.views);
      this.wanted = wanted;
      this.isAwaited = isAwaited;
    }

    /** An open that nobody waits for any more must not end the session of the next. */
    void requireAwaited() {
      if (!isAwaited.getAsBoolean()) {
        throw new GameQueueException(
            "nobody waits for the open of " + wanted.owner() + " any more");
      }
    }

    NodeSession drive(boolean onlyUnfinished) {
      OwnerId owner = wanted.owner();
      Unfinished before = unfinished.get(owner);
      if (onlyUnfinished && before == null) {
        throw new GameQueueException(owner + " was opened meanwhile");
      }
      OpenState now = OpenState.of(wanted, before == null ? null : before.lost);
      try {
        while (now instanceof OpenState.PendingOpen underWayNow) {
          if (underWayNow.mayEnd()) {
            requireAwaited();
          }
          now = step(underWayNow);
        }
        NodeSession opened = register(session(owner, now.attempt().raised()), (OpenState.Open) now);
        unfinished(owner, null);
        return opened;
      } catch (RuntimeException e) {
        SessionId raised = now.attempt().session();
        if (raised != null) { // nobody holds the session: the owner is not to look taken by it
          SessionRef failed = session(owner, raised);
          drop(failed);
          node.closing.openFailed(failed);
        }
        boolean isElsewhere =
            e instanceof OwnershipLostException || e instanceof OwnerHeldException;
        unfinished(owner, isElsewhere ? null : now.unfinished());
        throw wanted.takeover() == Takeover.UNLESS_ALIVE && e instanceof OwnershipLostException
            ? OpenState.openedElsewhere(owner)
            : e;
      }
    }

    /** Has the next open of the owner put these rows back; null for none. */
    private void unfinished(OwnerId owner, OpenState.@Nullable Lost lost) {
      Unfinished before = unfinished.remove(owner);
      boolean isSame =
          before != null && lost != null && before.lost.session().equals(lost.session());
      if (before != null && !isSame) {
        before.keepsWal.adopting(0); // it is let go of with the closed sessions
      }
      if (lost != null) {
        unfinished.put(
            owner, new Unfinished(lost, isSame ? before.keepsWal : keepsWal(owner, lost)));
      }
    }

    private DurableTracker keepsWal(OwnerId owner, OpenState.Lost lost) {
      DurableTracker tracker =
          new DurableTracker(session(owner, lost.session()), node.sessions.counts());
      tracker.adopting(Collections.min(lost.rows().sequences()));
      node.sessions.add(tracker);
      node.sessions.close(tracker);
      return tracker;
    }

    @Override
    protected String nonce() {
      return node.nonce();
    }

    /** A connection that turns out to have broken a moment ago is replaced once. */
    @Override
    protected OpenState.Healed connect(
        SlotKeys slot, OwnerId owner, Consumer<List<EncodedRow>> look) {
      return RedisReply.againIfBroken(
          () -> {
            OpenState.Healed healed = awaitHealed();
            look.accept(
                node.servers
                    .control()
                    .call(healed.redis(), redis -> LookupScript.unflushed(redis, slot, owner)));
            return healed;
          });
    }

    /**
     * Waits until this node has healed on the Redis server that its control connection leads to: an
     * open before that would miss what an earlier session of this same node is about to put back,
     * and would end that session: a conflict of the node with itself.
     */
    private OpenState.Healed awaitHealed() {
      ControlConnection control = node.servers.control();
      long deadline = System.nanoTime() + HEALING_LIMIT_NANOS;
      for (int looks = 0; ; looks++) {
        long connections = node.sender.connections();
        long term = node.sender.term();
        PrimaryConnector.Opened connected = control.connected();
        if (node.sender.hasHealedOn(connected.runId())) {
          return new OpenState.Healed(connected.redis(), connections, term);
        }
        if (System.nanoTime() - deadline > 0 || !isAwaited.getAsBoolean()) {
          throw new RedisUnavailableException(
              "this node has not put back yet what Redis lost: try again");
        }
        if (node.sender.hasConnectedSince(connected.sinceNanos())) {
          control.giveUp(connected.redis()); // the newer of two connections is more likely right
        } else if (looks % LOOKS_PER_PROD == 0) {
          node.sender.healSoon(connected);
        }
        LockSupport.parkNanos(HEALING_LOOK_NANOS);
      }
    }

    @Override
    protected OpenOwners.@Nullable Holder holder(
        SlotKeys slot, OwnerId owner, CountingSessions durable) {
      return node.servers.control().call(redis -> openOwners.holder(redis, slot, owner, durable));
    }

    @Override
    protected void tellHolder(OwnerId owner, SessionId session, boolean asks) {
      openOwners.tellHolder(node.servers.control(), owner, session, asks);
    }

    @Override
    protected void leave(long term) {
      node.sender.leave(term);
    }

    @Override
    protected List<Long> append(SessionRef session, List<EncodedRow> rows) {
      DurableTracker tracker = new DurableTracker(session, node.sessions.counts());
      tracker.adopting(node.sender.newestSequence() + 1);
      node.sessions.add(tracker); // from here on the WAL is kept for it
      List<Long> sequences = new ArrayList<>(rows.size());
      List<ChangedRow> record = new ArrayList<>();
      long bytes = 0;
      for (EncodedRow row : rows) {
        if (!record.isEmpty() && bytes + row.image().length > node.config.limits().commitBytes()) {
          sequences.addAll(Collections.nCopies(record.size(), appendRecord(session, record)));
          record.clear();
          bytes = 0;
        }
        record.add(new ChangedRow(row));
        bytes += row.key().length() + row.image().length;
      }
      sequences.addAll(Collections.nCopies(record.size(), appendRecord(session, record)));
      return Collections.unmodifiableList(sequences);
    }

    private Long appendRecord(SessionRef session, List<ChangedRow> record) {
      return node.sender.appendAdopted(new CommitPart(session, List.copyOf(record)));
    }

    @Override
    protected void drop(SessionRef session) {
      node.sender.unregister(session);
      DurableTracker tracker = tracker(session);
      if (tracker != null) {
        node.sessions.remove(tracker);
      }
    }

    private @Nullable DurableTracker tracker(SessionRef session) {
      return node.sessions.find(session.owner().encoded(), session.id().text());
    }

    /**
     * The session is the node's from now on: its versions are above all that were seen, and it is
     * healed with the others.
     */
    private NodeSession register(SessionRef session, OpenState.Open open) {
      DurableTracker known = tracker(session);
      DurableTracker tracker =
          known == null ? new DurableTracker(session, node.sessions.counts()) : known;
      OwnerView view = open.view();
      OpenState.AdoptedRows adopted = open.rows();
      node.versions.observe(view.highestVersion());
      tracker.adopted(adopted.dirty(), adopted.claimed(), adopted.sequences());
      Map<String, Long> versions = adopted.versions();
      if (!versions.isEmpty()) { // the owner's earlier sessions of this node are told
        node.sessions.before(tracker).forEach(earlier -> earlier.adoptedBy(tracker, versions));
      }
      view.unflushed()
          .forEach(image -> tracker.carried().add(image.rowKey().text(), node.rows.carried(image)));
      node.sessions.add(tracker);
      tracker
          .session()
          .whenLost(
              () -> {
                node.sessions.counts().sessionsLost.increment();
                tracker.whenLost().complete(null);
              });
      node.sender.register(tracker.session(), tracker, open.by().connections());
      return new NodeSession(node, commits, new OpenOwner(node.rows, tracker, view, adopted.all()));
    }
  }

  /**
   * Opens many owners, so many at a time that opens of others have their turn as well. Thread-safe;
   * what the game is told it is told on the executor of callbacks.
   */
  static final class BulkOpener {
    /**
     * Half of those that may be under way on a node: who comes alone does not wait for a crowd.
     * With more no more log in a second on two cores, and commits meanwhile take longer.
     */
    private static final int MOST_UNDER_WAY = 32;

    /** Of one server that is away, in a row: one connection that broke fails those under way. */
    private static final int MOST_AWAY = 2 * MOST_UNDER_WAY;

    private final List<String> owners;
    private final Function<String, CompletionStage<OwnerSession>> open;
    private final Consumer<OpenProgress> progress;
    private final Executor callbacks;
    private final CompletableFuture<List<OpenResult>> all = new CompletableFuture<>();
    private final OpenResult[] results;
    private int begun;
    private int opened;
    private int failed;
    private int awayInARow;

    /**
     * For some owners, each of them once.
     *
     * @param open one of them; what it returns ends on {@code callbacks}
     */
    BulkOpener(
        Collection<String> owners,
        Function<String, CompletionStage<OwnerSession>> open,
        Consumer<OpenProgress> progress,
        Executor callbacks) {
      this.owners = List.copyOf(new LinkedHashSet<>(owners)); // null is refused before any is begun
      this.open = open;
      this.progress = progress;
      this.callbacks = callbacks;
      this.results = new OpenResult[this.owners.size()];
    }

    /** Begins; the future ends when all of them have. */
    CompletableFuture<List<OpenResult>> start() {
      if (owners.isEmpty()) {
        all.complete(List.of());
      }
      for (int i = 0; i < MOST_UNDER_WAY; i++) {
        beginNext(null);
      }
      return all;
    }

    /** Begins one, or fails it at once for that reason. */
    private void beginNext(@Nullable GameQueueException away) {
      int next;
      synchronized (this) {
        if (begun == owners.size()) {
          return;
        }
        next = begun++;
      }
      try {
        if (away != null) {
          throw away;
        }
        if (all.isCancelled()) {
          throw new GameQueueException("opening " + owners.get(next) + ": cancelled");
        }
        var unused = open.apply(owners.get(next)).whenComplete((it, e) -> ended(next, it, e));
      } catch (RuntimeException e) { // also of an id that is malformed
        callbacks.execute(() -> ended(next, null, e)); // not here: there may be thousands
      }
    }

    private void ended(int of, @Nullable OwnerSession session, @Nullable Throwable error) {
      OpenProgress now;
      GameQueueException away;
      synchronized (this) {
        GameQueueException failure = error == null ? null : failure(error);
        results[of] = new OpenResult(owners.get(of), session, failure);
        opened += failure == null ? 1 : 0;
        failed += failure == null ? 0 : 1;
        awayInARow = isAway(failure) ? awayInARow + 1 : 0;
        away = awayInARow >= MOST_AWAY ? failure : null;
        now = new OpenProgress(results[of], opened, failed, results.length);
      }
      callbacks.execute(() -> progress.accept(now));
      if (now.open() + now.failed() == now.all()) {
        callbacks.execute(() -> all.complete(List.of(results)));
      }
      beginNext(away);
    }

    private static boolean isAway(@Nullable GameQueueException failure) {
      return failure instanceof RedisUnavailableException
          || failure instanceof MySqlUnavailableException;
    }

    private static GameQueueException failure(Throwable error) {
      Throwable cause = Callbacks.cause(error);
      return cause instanceof GameQueueException known
          ? known
          : new GameQueueException("the open failed: " + cause, cause);
    }
  }
}
