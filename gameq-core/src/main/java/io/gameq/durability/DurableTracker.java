package io.gameq.durability;

import io.gameq.Conflict;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Unsettled;
import io.gameq.durability.DurableFutures.Share;
import io.gameq.owner.SessionRef;
import io.gameq.sign.NodeCounts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
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
}
