package io.gameq.durability;

import io.gameq.Conflict;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.durability.DurableFutures.Share;
import io.gameq.durability.UnflushedRows.QueuedRow;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeCounts.CommitTimes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What of one session is not in MySQL yet, and where the WAL has it. Thread-safe: its parts are
 * used under its lock, and futures end outside it. Holds row keys, not rows: it grows with the
 * distinct rows that wait, and with the futures that were asked for. Nothing of it survives the
 * process: the WAL does.
 */
public final class DurableTracker implements Unsettled {
  /**
   * The first so many timed commits that wait are measured, and the next ones once these are in
   * MySQL: while it is away a session that commits on and on must not take more and more memory.
   */
  private static final int MOST_MEASURED = 64;

  private final SessionRef session;
  private final NodeCounts counts;
  private final UnflushedRows waiting = new UnflushedRows();
  private final CarriedColumns carried = new CarriedColumns();
  private final DurableFutures futures;
  private final CompletableFuture<Void> whenLost = new CompletableFuture<>();
  private final CompletableFuture<Void> whenAsked = new CompletableFuture<>();
  private final SentToSession sent = new SentToSession();

  /** Commits that a thread of the game has taken from its session and not submitted yet. */
  private int preparing;

  /** Commits that Redis has not answered; they mostly leave in their order. */
  private final Deque<Commit> inTransit = new ArrayDeque<>();

  private int rowsInTransit;
  private long bytesInTransit;

  /** How often each row is in transit; counted only while that may decide about room. */
  private @Nullable Map<String, Integer> timesInTransit;

  /** Rows that are being adopted are in the WAL from here on; 0 when none are. */
  private long adoptingFrom;

  /** The next session of this node that adopted rows of this one; null when none has. */
  private @Nullable DurableTracker successor;

  /** Rows that the successor adopted in the version that this one waits for, or a newer one. */
  private final Map<String, Long> adoptedBySuccessor = new HashMap<>();

  private final Deque<Measured> measured = new ArrayDeque<>(2);

  /** A commit whose time to MySQL is told to meters. */
  private record Measured(long beganNanos, long version) {}

  public DurableTracker(SessionRef session) {
    this(session, new NodeCounts());
  }

  /** Of a node that counts what becomes of it. */
  public DurableTracker(SessionRef session, NodeCounts counts) {
    this.session = session;
    this.counts = counts;
    this.futures = new DurableFutures(session);
  }

  public SessionRef session() {
    return session;
  }

  /** Ends when another session took the owner over; not for the game: on gameq's threads. */
  public CompletableFuture<Void> whenLost() {
    return whenLost;
  }

  /** Ends when another node asks for the owner to be closed; as {@link #whenLost}. */
  public CompletableFuture<Void> whenAsked() {
    return whenAsked;
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
    preparing++;
  }

  /** The commit was submitted, or was not. */
  public synchronized void prepared() {
    preparing--;
    notifyAll();
  }

  public synchronized void submitted(Commit commit) {
    List<ChangedRow> its = rowsOf(commit);
    inTransit.add(commit);
    rowsInTransit += its.size();
    bytesInTransit += CommitPart.bytes(its);
    countInTransit(its);
    carried.submitted(its, this::notDurable);
  }

  /** Returns what the commit changes of this session's rows, also when it was not in transit. */
  private List<ChangedRow> removeInTransit(Commit commit) {
    List<ChangedRow> its = rowsOf(commit);
    if (inTransit.remove(commit)) {
      rowsInTransit -= its.size();
      bytesInTransit -= CommitPart.bytes(its);
      if (timesInTransit != null) {
        for (ChangedRow row : its) {
          timesInTransit.computeIfPresent(row.key(), (key, n) -> n > 1 ? n - 1 : null);
        }
      }
    }
    return its;
  }

  private void countInTransit(List<ChangedRow> more) {
    if (timesInTransit != null) {
      for (ChangedRow row : more) {
        timesInTransit.merge(row.key(), 1, Integer::sum);
      }
    }
  }

  /** What a commit changes of this session's rows. */
  private List<ChangedRow> rowsOf(Commit commit) {
    for (CommitPart part : commit.parts()) {
      if (part.session() == session) {
        return part.rows();
      }
    }
    return List.of();
  }

  public synchronized void failed(Commit commit) {
    carried.failed(removeInTransit(commit));
    notifyAll();
  }

  /** Redis holds the commit; returns what it changed of this session's rows. */
  synchronized Share queued(Commit commit) {
    List<ChangedRow> rows = removeInTransit(commit);
    int before = waiting.queuedRows();
    List<String> keys = rows.isEmpty() ? List.of() : waiting.add(commit, rows);
    if (!commit.isSentAgain() && !rows.isEmpty()) {
      counts.merged.add(keys.size() - (waiting.queuedRows() - before));
      if (commit.isTimed()
          && measured.size() < MOST_MEASURED
          && counts.times() != CommitTimes.NOBODY) {
        measured.add(new Measured(commit.beganNanos(), commit.version()));
      }
    }
    notifyAll();
    return new Share(commit.version(), keys);
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
   * @param sequences the WAL record of each row, those of {@code dirty} first
   */
  public synchronized void adopted(
      List<EncodedRow> dirty, List<EncodedRow> claimed, List<Long> sequences) {
    long flushing = claimed.stream().mapToLong(EncodedRow::version).max().orElse(0);
    for (int i = 0; i < sequences.size(); i++) {
      boolean isClaimed = i >= dirty.size();
      EncodedRow row = isClaimed ? claimed.get(i - dirty.size()) : dirty.get(i);
      int bytes = row.key().length() + row.image().length;
      waiting.adopted(
          row.key(),
          new QueuedRow(row.version(), sequences.get(i), bytes, true, null, false),
          isClaimed,
          flushing);
    }
    adoptingFrom = 0;
  }

  /**
   * The oldest WAL sequence of what Redis has not answered for or is being adopted, at most {@code
   * newest}; what waits for MySQL, {@link #beyond} tells.
   */
  synchronized long onTheirWay(long newest) {
    long oldest = adoptingFrom == 0 ? newest : Math.min(newest, adoptingFrom);
    for (Commit commit : inTransit) {
      oldest = commit.sequence() == 0 ? oldest : Math.min(oldest, commit.sequence());
    }
    return oldest;
  }

  /** The lowest version of a change that is not known to be in MySQL; else the highest number. */
  synchronized long oldestVersion() {
    long oldest = waiting.oldestVersion();
    for (Commit commit : inTransit) {
      if (commit.sequence() != 0) { // else it has no version that others may read
        oldest = Math.min(oldest, commit.version());
      }
    }
    return oldest;
  }

  // --- what a healing replays

  @Override
  public synchronized void beyond(long mark, LongConsumer sequences) {
    waiting.beyond(mark, sequences);
  }

  @Override
  public synchronized void doubtful(LongConsumer sequences) {
    waiting.sequencesOf((key, version) -> !successorHas(key, version), sequences);
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
    if (successor == null) { // else that one knows what became of them
      successor = later;
      waiting
          .upTo(versions)
          .keySet()
          .forEach(key -> adoptedBySuccessor.put(key, versions.get(key)));
    }
  }

  /**
   * Whether the successor has the row in this version or a newer one, and keeps it. The successor's
   * lock is taken with this one's held, never the other way round.
   */
  private boolean successorHas(String key, long version) {
    Long newest = adoptedBySuccessor.get(key);
    return successor != null && newest != null && version <= newest && successor.keeps(key, newest);
  }

  private synchronized boolean keeps(String key, long version) {
    return !session.isLost() || isDurable(key, version) || successorHas(key, version);
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
    measureUpTo(waiting.durableVersion());
    notifyAll();
    return futures.settle(waiting::isDurable, refused, durableBefore);
  }

  private void measureUpTo(long version) {
    if (!measured.isEmpty()) {
      long now = System.nanoTime();
      CommitTimes times = counts.times();
      for (Measured first; (first = measured.peek()) != null && first.version <= version; ) {
        measured.remove();
        times.durable(now - first.beganNanos);
      }
    }
  }

  // --- what is asked

  /** A future that completes when everything of this share, which is queued, is in MySQL. */
  synchronized CompletableFuture<Void> whenDurable(Share share) {
    return futures.of(share, waiting.isDurable(share));
  }

  /** Whether MySQL holds this row in this version or a newer one, or refused it. */
  synchronized boolean isDurable(String key, long version) {
    return waiting.isDurable(new Share(version, List.of(key)));
  }

  /** Rows of this session, as the game is told that they are lost. */
  public Conflict conflict(SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    return futures.conflict(rows, reason, mayComeBack);
  }

  /** Row keys ({@code table:key}) not known to be in MySQL, sorted. */
  public synchronized Set<String> notDurable() {
    Set<String> keys = new TreeSet<>();
    waiting.addKeysTo(keys);
    inTransit.forEach(commit -> rowsOf(commit).forEach(row -> keys.add(row.key())));
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
    return preparing == 0 && inTransit.isEmpty();
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
    return hasRoom(rows, most, mostBytes)
        || await(() -> hasRoom(rows, most, mostBytes), deadlineNanos);
  }

  private boolean hasRoom(Collection<ChangedRow> more, int most, int mostBytes) {
    return distinctWith(more, most) <= most && bytesWith(more, mostBytes) <= mostBytes;
  }

  /**
   * How many distinct rows wait or are in transit, with some more. Where even counting double is
   * not above {@code most}, it is that sum.
   */
  private int distinctWith(Collection<ChangedRow> more, int most) {
    int atMost = waiting.queuedRows() + rowsInTransit + more.size();
    if (atMost <= most) {
      timesInTransit = null;
      return atMost;
    }
    if (timesInTransit == null) {
      timesInTransit = new HashMap<>();
      inTransit.forEach(commit -> countInTransit(rowsOf(commit)));
    }
    int distinct = waiting.queuedRows() + timesInTransit.size();
    for (ChangedRow row : more) {
      boolean isCounted = waiting.isQueued(row.key()) || timesInTransit.containsKey(row.key());
      distinct += isCounted ? 0 : 1;
    }
    return distinct;
  }

  /** The bytes of these rows, each in its newest version; the sum of all where that is enough. */
  private long bytesWith(Collection<ChangedRow> more, int most) {
    long atMost = waiting.bytesAtMost() + bytesInTransit + CommitPart.bytes(more);
    if (atMost <= most) {
      return atMost;
    }
    Map<String, Integer> newest = waiting.countBytes();
    inTransit.forEach(commit -> rowsOf(commit).forEach(row -> newest.put(row.key(), row.bytes())));
    more.forEach(row -> newest.put(row.key(), row.bytes()));
    return newest.values().stream().mapToLong(Integer::longValue).sum();
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
}
