package io.gameq.durability;

import io.gameq.Conflict;
import io.gameq.ConflictException;
import io.gameq.DeadLetterException;
import io.gameq.GameQueueException;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Unsettled;
import io.gameq.durability.DurableTracker.DurableFutures.Share;
import io.gameq.durability.DurableTracker.GoneRows.Gone;
import io.gameq.owner.SessionRef;
import io.gameq.rows.HandledRow.EncodedRow;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeCounts.CommitTimes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What of one session is not in MySQL yet, and where the WAL has it. Thread-safe: its parts are
 * used under its lock, and futures end outside it. Holds row keys, not rows: it grows with the
 * distinct rows that wait, and with the futures that were asked for. Nothing of it survives the
 * process: the WAL does.
 */
public final class DurableTracker implements Unsettled {
  private final SessionRef session;
  private final RowsInTransit inTransit;
  private final WaitingRows waiting = new WaitingRows();
  private final InheritedRows inherited = new InheritedRows();
  private final CarriedColumns carried = new CarriedColumns();
  private final DurableFutures futures;
  private final DurableTimes times;
  private final NodeCounts counts;
  private final SessionNews news = new SessionNews();
  private final SentToSession sent = new SentToSession();

  /** Rows that are being adopted are in the WAL from here on; 0 when none are. */
  private long adoptingFrom;

  public DurableTracker(SessionRef session) {
    this(session, new NodeCounts());
  }

  /** Of a node that counts what becomes of it. */
  public DurableTracker(SessionRef session, NodeCounts counts) {
    this.session = session;
    this.inTransit = new RowsInTransit(session);
    this.futures = new DurableFutures(session);
    this.times = new DurableTimes(counts);
    this.counts = counts;
  }

  public SessionRef session() {
    return session;
  }

  /** What its holder is to know at once. */
  public SessionNews news() {
    return news;
  }

  /** What others sent to its owner. */
  public SentToSession sent() {
    return sent;
  }

  // --- carried columns: see CarriedColumns

  /** A row has something to carry; null for nothing. */
  public synchronized void carry(String row, CarriedColumns.@Nullable Carried what) {
    if (what != null) {
      carried.add(row, what);
    }
  }

  /** What a put of a row carries, which may replace a change that is staged. */
  public synchronized CarriedColumns.@Nullable Carried carried(
      String row, @Nullable ChangedRow staged) {
    return carried.of(row, staged);
  }

  /** A row is staged to be moved here, with what is carried of it. */
  public synchronized void movesIn(String row, CarriedColumns.@Nullable Carried what) {
    carried.movesIn(row, what);
  }

  // --- on their way to Redis

  /** A commit was taken from the session: until {@link #prepared} it is on its way too. */
  public synchronized void preparing() {
    inTransit.preparing();
  }

  /** The commit was submitted, or was not. */
  public synchronized void prepared() {
    inTransit.prepared();
    notifyAll();
  }

  public synchronized void submitted(Commit commit) {
    inTransit.add(commit);
    carried.submitted(inTransit.rowsOf(commit), this::notDurable);
  }

  public synchronized void failed(Commit commit) {
    carried.failed(inTransit.remove(commit));
    notifyAll();
  }

  /** Redis holds the commit; returns what it changed of this session's rows. */
  public synchronized Share queued(Commit commit) {
    List<ChangedRow> rows = inTransit.remove(commit);
    int before = waiting.queued().size();
    List<String> keys = rows.isEmpty() ? List.of() : waiting.add(commit, rows);
    if (!commit.isSentAgain() && !rows.isEmpty()) {
      counts.merged(keys.size() - (waiting.queued().size() - before));
      times.queued(commit);
    }
    notifyAll();
    return new Share(commit.version(), commit.version(), keys);
  }

  /** Rows that will be {@link #adopted} are about to be appended to the WAL. */
  public synchronized void adopting(long fromSequence) {
    adoptingFrom = fromSequence;
  }

  /**
   * Rows that the session took over unflushed; they are waited for like the session's own.
   *
   * @param dirty to be claimed
   * @param claimed a writer is flushing them
   */
  public synchronized void adopted(Map<String, QueuedRow> dirty, Map<String, QueuedRow> claimed) {
    waiting.adopted(dirty, claimed);
    adoptingFrom = 0;
  }

  /**
   * The oldest WAL sequence of what Redis has not answered for or is being adopted, at most {@code
   * newest}; what waits for MySQL, {@link #beyond} tells.
   */
  synchronized long onTheirWay(long newest) {
    return inTransit.oldestSequence(adoptingFrom == 0 ? newest : Math.min(newest, adoptingFrom));
  }

  /** The lowest version of a change that is not known to be in MySQL; else the highest number. */
  synchronized long oldestVersion() {
    return Math.min(inTransit.oldestVersion(), waiting.oldestVersion());
  }

  // --- what a healing replays

  @Override
  public synchronized void beyond(long mark, LongConsumer sequences) {
    waiting.beyond(mark, sequences);
  }

  @Override
  public synchronized void doubtful(LongConsumer sequences) {
    waiting.sequencesOf((key, version) -> !inherited.has(key, version), sequences);
  }

  @Override
  public synchronized void doubt() {
    waiting.doubt();
  }

  @Override
  public synchronized void doubt(long sequence, Collection<String> rows) {
    waiting.doubt(sequence, rows);
  }

  /**
   * These WAL records, which Redis lost, are not replayed. Told by the sender before anything new
   * is sent: from now on a notice says nothing of their rows, and half of a trade is not replayed
   * later either, when its other half is settled.
   */
  synchronized void gaveUp(Set<Long> sequences) {
    waiting.gaveUp(sequences);
  }

  /**
   * Rows that were {@linkplain #gaveUp given up} at least {@code graceNanos} ago and are not known
   * to be in MySQL, with their versions.
   */
  public synchronized SortedMap<String, Long> givenUp(long graceNanos) {
    return waiting.givenUp(graceNanos);
  }

  /**
   * A later session of this node has adopted rows of the owner: while it owns, it puts them back if
   * Redis loses them.
   */
  public synchronized void adoptedBy(DurableTracker later, Map<String, Long> versions) {
    if (!inherited.hasHeir()) { // else that one knows what became of them
      inherited.inherit(later, versions, waitingUpTo(versions).keySet());
    }
  }

  /** For the session before this one, whose lock is held: see {@link InheritedRows#has}. */
  synchronized boolean keeps(String key, long version) {
    return !session.isLost() || isDurable(key, version) || inherited.has(key, version);
  }

  // --- what settles rows

  /**
   * Everything of this session up to this version is in MySQL, but for some rows.
   *
   * @param refused rows set aside, with the versions in which they were
   * @param kept rows that wait on, with their versions
   */
  public void durable(long version, Map<String, Long> refused, Map<String, Long> kept) {
    List<Runnable> ends;
    synchronized (this) {
      long before = waiting.durableVersion();
      waiting.flushed(version, kept);
      ends = settle(refused, before);
    }
    ends.forEach(Runnable::run);
  }

  /**
   * What a look at MySQL showed, when Redis held nothing more of this session.
   *
   * @param there versions that MySQL holds of rows that {@link #withoutNews} named
   * @param refused versions in which such rows were set aside
   */
  public void found(Map<String, Long> there, Map<String, Long> refused) {
    List<Runnable> ends;
    synchronized (this) {
      long before = waiting.durableVersion();
      waiting.found(there, refused);
      ends = settle(refused, before);
    }
    ends.forEach(Runnable::run);
  }

  /** These rows are lost, and will not be replayed. */
  public void lost(Conflict conflict) {
    List<Runnable> ends;
    synchronized (this) {
      boolean alsoBefore = session.isLost();
      waiting.removeLost(conflict.rows(), alsoBefore);
      ends = new ArrayList<>(futures.lost(conflict, alsoBefore, waiting.durableVersion()));
      waiting.settleIfEmpty();
      ends.addAll(settle(Map.of(), waiting.durableVersion()));
    }
    ends.forEach(Runnable::run);
  }

  /** The node closes: who waits for news is told that none will come. */
  public void closed() {
    List<Runnable> ends;
    synchronized (this) {
      ends = futures.close();
    }
    ends.forEach(Runnable::run);
  }

  private List<Runnable> settle(Map<String, Long> refused, long durableBefore) {
    if (isDrained()) {
      carried.settled();
    }
    waiting.removeUpTo(refused);
    times.durableUpTo(waiting.durableVersion());
    notifyAll();
    return futures.settle(waiting::isDurable, refused, durableBefore);
  }

  // --- what is asked

  /** A future that completes when everything of this share, which is queued, is in MySQL. */
  public synchronized CompletableFuture<Void> whenDurable(Share share) {
    return futures.of(share, waiting.isDurable(share));
  }

  /** Whether MySQL holds this row in this version or a newer one, or refused it. */
  synchronized boolean isDurable(String key, long version) {
    return waiting.isDurable(new Share(version, version, List.of(key)));
  }

  /** Rows of this session, as the game is told that they are lost. */
  public Conflict conflict(SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    return futures.conflict(rows, reason, mayComeBack);
  }

  /** Row keys ({@code table:key}) not known to be in MySQL, sorted. */
  public synchronized Set<String> notDurable() {
    Set<String> keys = new TreeSet<>();
    waiting.addKeysTo(keys);
    inTransit.addKeysTo(keys);
    return keys;
  }

  /** Rows queued, when no news came of them for {@code quietNanos}; else empty. */
  public synchronized Set<String> withoutNews(long quietNanos) {
    return waiting.withoutNews(quietNanos);
  }

  /**
   * Rows of which no notice tells, every {@code everyNanos} as long as there are any; else empty.
   */
  public synchronized Set<String> overtakenRows(long everyNanos) {
    return waiting.overtakenRows(everyNanos);
  }

  /** Of these rows, those that this session waits for in the version given or an older one. */
  public synchronized SortedMap<String, Long> waitingUpTo(Map<String, Long> rows) {
    return waiting.upTo(rows);
  }

  /**
   * After {@link #found}: those of the rows that MySQL has not got, and Redis not in this version,
   * for {@code graceNanos} already.
   *
   * @param rows that {@link #withoutNews} named
   * @param inRedis versions that Redis holds
   */
  public synchronized SortedMap<String, Long> missing(
      Set<String> rows, Map<String, Long> inRedis, long graceNanos) {
    return waiting.missing(rows, inRedis, graceNanos);
  }

  /** Whether Redis has everything committed so far, or never will. */
  public synchronized boolean isQueued() {
    return inTransit.isEmpty();
  }

  synchronized boolean isDrained() {
    return adoptingFrom == 0 && isQueued() && waiting.isEmpty();
  }

  // --- what is waited for

  /**
   * Whether the owner has room for these rows beside those that wait for MySQL; waits for it until
   * the deadline.
   *
   * @param most distinct rows that may wait
   * @param mostBytes of these rows
   */
  public synchronized boolean awaitRoom(
      Collection<ChangedRow> rows, int most, int mostBytes, long deadlineNanos)
      throws InterruptedException {
    QueuedRows queued = waiting.queued();
    return inTransit.hasRoom(queued, rows, most, mostBytes)
        || await(() -> inTransit.hasRoom(queued, rows, most, mostBytes), deadlineNanos);
  }

  /** Waits until nothing is in transit; false when the time was up. */
  public synchronized boolean awaitQueued(long deadlineNanos) throws InterruptedException {
    return await(this::isQueued, deadlineNanos);
  }

  /** Waits until everything committed so far is in MySQL; false when the time was up. */
  public synchronized boolean awaitDurable(long deadlineNanos) throws InterruptedException {
    return await(this::isDrained, deadlineNanos);
  }

  private synchronized boolean await(BooleanSupplier until, long deadlineNanos)
      throws InterruptedException {
    while (!until.getAsBoolean()) {
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      wait(left / 1_000_000 + 1);
    }
    return true;
  }

  /**
   * What happens to a session that its holder is to know of at once. Thread-safe; not for the game:
   * the futures end on gameq's threads.
   *
   * @param lost another session took the owner over
   * @param asked another node asks for the owner to be closed
   */
  public record SessionNews(CompletableFuture<Void> lost, CompletableFuture<Void> asked) {
    /** Nothing yet. */
    public SessionNews() {
      this(new CompletableFuture<>(), new CompletableFuture<>());
    }

    /** Whether anybody waits to be told that it is lost. */
    public boolean isLossAwaited() {
      return !lost.isDone() && lost.getNumberOfDependents() > 0;
    }

    public void tellLost() {
      lost.complete(null);
    }

    public void tellAsked() {
      asked.complete(null);
    }
  }

  /**
   * The rows of one session that a later session of this node adopted: while that one owns, it puts
   * them back if Redis loses them. Used under the {@link DurableTracker}'s lock.
   */
  static final class InheritedRows {
    /** The next session of this node that adopted rows of this one; null when none has. */
    private @Nullable DurableTracker heir;

    /** Rows that the heir adopted in the version that this session waits for, or a newer one. */
    private final Map<String, Long> adopted = new HashMap<>();

    boolean hasHeir() {
      return heir != null;
    }

    /**
     * A later session adopted rows.
     *
     * @param versions in which it adopted them
     * @param keys of those that this session waits for
     */
    void inherit(DurableTracker later, Map<String, Long> versions, Collection<String> keys) {
      heir = later;
      keys.forEach(key -> adopted.put(key, versions.get(key)));
    }

    /**
     * Whether the heir has the row in this version or a newer one, and keeps it. The heir's lock is
     * taken with the earlier session's held, never the other way round.
     */
    boolean has(String key, long version) {
      Long newest = adopted.get(key);
      return heir != null && newest != null && version <= newest && heir.keeps(key, newest);
    }
  }

  /**
   * Rows that others sent to a session's owner, until somebody takes them. Thread-safe.
   *
   * <p>Who takes them is called by one thread at a time, in order, on a thread of gameq.
   */
  public static final class SentToSession {
    /** Beyond, the oldest are forgotten: they are rows, and not lost. */
    static final int MOST_WAITING = 1_000;

    private final List<EncodedRow> waiting = new ArrayList<>();
    private @Nullable Consumer<List<EncodedRow>> taker;

    /** Rows came. */
    public synchronized void came(List<EncodedRow> rows) {
      waiting.addAll(rows);
      hand();
    }

    /** Those that wait, and all that come, go there. */
    public synchronized void takenBy(Consumer<List<EncodedRow>> who) {
      taker = who;
      hand();
    }

    private void hand() {
      if (taker == null) {
        waiting.subList(0, Math.max(0, waiting.size() - MOST_WAITING)).clear();
      } else if (!waiting.isEmpty()) {
        List<EncodedRow> rows = List.copyOf(waiting);
        waiting.clear();
        taker.accept(rows);
      }
    }
  }

  /**
   * How long commits of one session take to MySQL, told when a notice says that they are there.
   * Keeps nothing while nobody wants to know. Used under the {@link DurableTracker}'s lock.
   */
  static final class DurableTimes {
    /**
     * The first so many timed ones that wait are measured, and the next ones once these are there:
     * while MySQL is away a session that commits on and on must not take more and more memory.
     */
    private static final int MOST_MEASURED = 64;

    private final NodeCounts counts;
    private final Deque<Made> made = new ArrayDeque<>(2);

    private record Made(long nanos, long version) {}

    DurableTimes(NodeCounts counts) {
      this.counts = counts;
    }

    /** Redis has a commit; later than all before, as commits arrive in order. */
    void queued(Commit commit) {
      if (commit.isTimed() && made.size() < MOST_MEASURED && counts.times() != CommitTimes.NOBODY) {
        made.add(new Made(commit.beganNanos(), commit.version()));
      }
    }

    /** MySQL has everything up to this version. */
    void durableUpTo(long version) {
      if (made.isEmpty()) {
        return;
      }
      long now = System.nanoTime();
      CommitTimes times = counts.times();
      for (Made first; (first = made.peek()) != null && first.version <= version; ) {
        made.remove();
        times.durable(now - first.nanos);
      }
    }
  }

  /**
   * The futures of one session's commits that wait for MySQL, and the rows that never get there.
   * Used under its {@link DurableTracker}'s lock; what a method returns is to be run outside it,
   * since the game hangs its own code on futures.
   */
  static final class DurableFutures {
    private final SessionRef session;
    private final List<Waiter> waiters = new ArrayList<>();
    private final GoneRows setAside = new GoneRows();
    private final GoneRows conflicts = new GoneRows();
    private boolean closed;

    /**
     * What a commit changed of this session's rows, once it is in Redis.
     *
     * @param lowest version that it gave out: two when rows move, else one
     */
    public record Share(long lowest, long highest, List<String> keys) {
      /** Also a commit whose row a later one replaced before it was refused never got there. */
      boolean isHitBy(String key, long version) {
        return lowest <= version && keys.contains(key);
      }

      private List<String> hitBy(Map<String, Long> gone, boolean alsoBefore) {
        return gone.entrySet().stream()
            .filter(row -> isHitBy(row.getKey(), row.getValue()))
            .filter(row -> alsoBefore || highest >= row.getValue())
            .map(Map.Entry::getKey)
            .sorted()
            .toList();
      }
    }

    private record Waiter(Share share, CompletableFuture<Void> durable) {}

    DurableFutures(SessionRef session) {
      this.session = session;
    }

    /** A future that completes when everything of this share, which is queued, is in MySQL. */
    CompletableFuture<Void> of(Share share, boolean isDurable) {
      CompletableFuture<Void> durable = new CompletableFuture<>();
      SortedMap<String, Long> lost = conflicts.of(share);
      SortedMap<String, Long> refused = setAside.of(share);
      if (!lost.isEmpty()) {
        Gone first = conflicts.get(lost.firstKey());
        durable.completeExceptionally(
            new ConflictException(conflict(lost, first.reason(), first.mayComeBack())));
      } else if (!refused.isEmpty()) {
        durable.completeExceptionally(new DeadLetterException(List.copyOf(refused.keySet())));
      } else if (isDurable) {
        durable.complete(null);
      } else if (closed) {
        durable.completeExceptionally(isOpen());
      } else {
        waiters.add(new Waiter(share, durable));
      }
      return durable;
    }

    private GameQueueException isOpen() {
      return new GameQueueException(
          ("the node was closed before MySQL was known to have all of session %s: the"
                  + " outcome is open, and the WAL is kept")
              .formatted(session));
    }

    /** Nobody will tell of anything any more: ends the futures that wait. */
    List<Runnable> close() {
      closed = true;
      List<Runnable> ends = new ArrayList<>();
      waiters.forEach(waiter -> ends.add(() -> waiter.durable.completeExceptionally(isOpen())));
      waiters.clear();
      return ends;
    }

    /**
     * Ends the futures that need not wait longer.
     *
     * @param refused rows set aside, with the versions in which they were
     */
    List<Runnable> settle(
        Predicate<Share> isDurable, Map<String, Long> refused, long durableBefore) {
      setAside.remember(refused, version -> new Gone("", false, version, true, durableBefore));
      List<Runnable> ends = new ArrayList<>();
      for (Iterator<Waiter> it = waiters.iterator(); it.hasNext(); ) {
        Waiter waiter = it.next();
        List<String> hit = waiter.share.hitBy(refused, true);
        if (!hit.isEmpty()) {
          ends.add(() -> waiter.durable.completeExceptionally(new DeadLetterException(hit)));
          it.remove();
        } else if (isDurable.test(waiter.share)) {
          ends.add(() -> waiter.durable.complete(null));
          it.remove();
        }
      }
      return ends;
    }

    /**
     * Ends the futures of commits with rows that are lost for good.
     *
     * @param alsoBefore whether the rows are lost in older versions, too
     */
    List<Runnable> lost(Conflict conflict, boolean alsoBefore, long durableBefore) {
      conflicts.remember(
          conflict.rows(),
          version ->
              new Gone(
                  conflict.reason(), conflict.mayComeBack(), version, alsoBefore, durableBefore));
      List<Runnable> ends = new ArrayList<>();
      for (Iterator<Waiter> it = waiters.iterator(); it.hasNext(); ) {
        Waiter waiter = it.next();
        if (!waiter.share.hitBy(conflict.rows(), alsoBefore).isEmpty()) {
          ends.add(() -> waiter.durable.completeExceptionally(new ConflictException(conflict)));
          it.remove();
        }
      }
      return ends;
    }

    /** Rows of this session, as the game is told that they are lost. */
    Conflict conflict(SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
      return new Conflict(session.owner().id(), session.id().text(), reason, mayComeBack, rows);
    }
  }

  /**
   * Rows of one session that never get to MySQL, remembered for futures that are asked for later:
   * the last {@value #MOST_REMEMBERED}. Used under the {@link DurableTracker}'s lock.
   */
  static final class GoneRows {
    private static final int MOST_REMEMBERED = 1_000;

    private final Map<String, Gone> rows = new LinkedHashMap<>();

    /**
     * A row that did not get to MySQL.
     *
     * @param version up to which it did not
     * @param alsoBefore whether it did not in older versions either
     * @param durableBefore version up to which everything had been durable by then
     */
    record Gone(
        String reason, boolean mayComeBack, long version, boolean alsoBefore, long durableBefore) {
      private boolean hits(String key, Share share) {
        return share.isHitBy(key, version)
            && share.highest() > durableBefore
            && (alsoBefore || share.highest() >= version);
      }
    }

    /**
     * Remembers rows.
     *
     * @param versions by row key
     * @param as what of a row in a version
     */
    void remember(Map<String, Long> versions, LongFunction<Gone> as) {
      versions.forEach((key, version) -> rows.put(key, as.apply(version)));
      for (Iterator<String> it = rows.keySet().iterator(); rows.size() > MOST_REMEMBERED; ) {
        it.next();
        it.remove();
      }
    }

    /** Those because of which this share never gets to MySQL, with their versions. */
    SortedMap<String, Long> of(Share share) {
      SortedMap<String, Long> hits = new TreeMap<>();
      rows.forEach(
          (key, gone) -> {
            if (gone.hits(key, share)) {
              hits.put(key, gone.version);
            }
          });
      return hits;
    }

    Gone get(String key) {
      return Objects.requireNonNull(rows.get(key));
    }
  }
}
