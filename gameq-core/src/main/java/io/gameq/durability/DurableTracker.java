package io.gameq.durability;

import io.gameq.Conflict;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Unsettled;
import io.gameq.durability.DurableFutures.Share;
import io.gameq.owner.SessionRef;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
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
  private final QueuedRows queued = new QueuedRows();
  private final OvertakenRows overtaken = new OvertakenRows();
  private final UnheldRows unheld = new UnheldRows();
  private final CarriedColumns carried = new CarriedColumns();
  private final DurableFutures futures;
  private long newsNanos;

  /** Commits that a thread of the game has taken from its session and not submitted yet. */
  private int preparing;

  /** Rows that are being adopted are in the WAL from here on; 0 when none are. */
  private long adoptingFrom;

  /** The next session of this node that adopted rows of this one; null when none has. */
  private @Nullable DurableTracker heir;

  /** Rows that the heir adopted in the version that this session waits for, or a newer one. */
  private final Map<String, Long> inherited = new HashMap<>();

  public DurableTracker(SessionRef session) {
    this.session = session;
    this.inTransit = new RowsInTransit(session);
    this.futures = new DurableFutures(session);
  }

  public SessionRef session() {
    return session;
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
    inTransit.add(commit);
    carried.submitted(inTransit.rowsOf(commit), this::notDurable);
  }

  public synchronized void failed(Commit commit) {
    carried.failed(inTransit.rowsOf(commit));
    inTransit.remove(commit);
    notifyAll();
  }

  /** Redis holds the commit; returns what it changed of this session's rows. */
  public synchronized Share queued(Commit commit) {
    inTransit.remove(commit);
    if (isSettled()) {
      newsNanos = System.nanoTime();
    }
    long version = commit.version();
    List<ChangedRow> rows = inTransit.rowsOf(commit);
    List<String> keys = new ArrayList<>(rows.size());
    for (ChangedRow row : rows) {
      keys.add(row.key());
      if (commit.isSentAgain()) {
        overtaken.add(row.key(), version, commit.sequence());
      } else {
        queued.put(row, commit);
      }
    }
    queued.reachedRedis(version);
    notifyAll();
    return new Share(version, version, keys);
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
    long flushing = claimed.values().stream().mapToLong(QueuedRow::version).max().orElse(0);
    claimed.forEach(queued::add);
    dirty.forEach(
        (key, row) -> {
          if (row.version() <= flushing) { // the notice of what is being flushed is not about it
            overtaken.add(key, row.version(), row.sequence());
          } else {
            queued.add(key, row);
          }
        });
    newsNanos = System.nanoTime();
    adoptingFrom = 0;
  }

  /**
   * The oldest WAL sequence of what Redis has not answered for or is being adopted, at most {@code
   * newest}; what waits for MySQL, {@link #beyond} tells.
   */
  synchronized long onTheirWay(long newest) {
    return inTransit.oldestSequence(adoptingFrom == 0 ? newest : Math.min(newest, adoptingFrom));
  }

  // --- what a healing replays

  @Override
  public synchronized void beyond(long mark, LongConsumer sequences) {
    queued.beyond(mark, sequences);
    overtaken.notGivenUp(sequences);
  }

  @Override
  public synchronized void doubtful(LongConsumer sequences) {
    queued.forEach(
        (key, row) -> {
          if (!isInherited(key, row.version())) {
            sequences.accept(row.sequence());
          }
        });
    overtaken.sequencesOf(row -> !isInherited(row.key(), row.version()), sequences);
  }

  @Override
  public synchronized void doubt() {
    queued.takeOut(row -> true, overtaken::add);
    queued.forgetKept();
  }

  @Override
  public synchronized void doubt(long sequence, Collection<String> rows) {
    queued.takeOut(rows, row -> row.sequence() == sequence, overtaken::add);
  }

  /**
   * These WAL records, which Redis lost, are not replayed. Told by the sender before anything new
   * is sent: from now on a notice says nothing of their rows, and half of a trade is not replayed
   * later either, when its other half is settled.
   */
  synchronized void gaveUp(Set<Long> sequences) {
    queued.takeOut(row -> sequences.contains(row.sequence()), overtaken::add);
    overtaken.giveUp(sequences);
  }

  /**
   * Rows that were {@linkplain #gaveUp given up} at least {@code graceNanos} ago and are not known
   * to be in MySQL, with their versions.
   */
  public synchronized SortedMap<String, Long> givenUp(long graceNanos) {
    return overtaken.givenUp(graceNanos);
  }

  /**
   * A later session of this node has adopted rows of the owner: while it owns, it puts them back if
   * Redis loses them.
   */
  public synchronized void adoptedBy(DurableTracker later, Map<String, Long> versions) {
    if (heir == null) { // else that one knows what became of them
      heir = later;
      waitingUpTo(versions).keySet().forEach(key -> inherited.put(key, versions.get(key)));
    }
  }

  /** Called for later sessions of an owner with the locks of earlier ones held, never otherwise. */
  private boolean isInherited(String key, long version) {
    Long adopted = inherited.get(key);
    return heir != null && adopted != null && version <= adopted && heir.keeps(key, adopted);
  }

  private synchronized boolean keeps(String key, long version) {
    return !session.isLost() || isDurable(key, version) || isInherited(key, version);
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
      long before = queued.durableVersion();
      queued.flushed(version, kept);
      newsNanos = System.nanoTime();
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
      Map<String, Long> settled = new HashMap<>(there);
      refused.forEach((key, version) -> settled.merge(key, version, Math::max));
      overtaken.removeUpTo(settled);
      queued.removeUpTo(settled);
      queued.forgetKeptUpTo(settled);
      long before = queued.durableVersion();
      settleIfEmpty();
      ends = settle(refused, before);
    }
    ends.forEach(Runnable::run);
  }

  /** These rows are lost, and will not be replayed. */
  public void lost(Conflict conflict) {
    List<Runnable> ends;
    synchronized (this) {
      conflict
          .rows()
          .forEach(
              (key, version) -> {
                queued.removeUpTo(key, version);
                overtaken.removeLost(key, version, session.isLost());
                queued.forgetKept(key);
                unheld.forget(key);
              });
      ends = new ArrayList<>(futures.lost(conflict, session.isLost(), queued.durableVersion()));
      settleIfEmpty();
      ends.addAll(settle(Map.of(), queued.durableVersion()));
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

  private void settleIfEmpty() {
    if (queued.flushedIfEmpty()) {
      newsNanos = System.nanoTime();
    }
  }

  private List<Runnable> settle(Map<String, Long> refused, long durableBefore) {
    if (isDrained()) {
      carried.settled();
    }
    queued.removeUpTo(refused);
    overtaken.removeUpTo(refused);
    notifyAll();
    return futures.settle(this::isDurable, refused, durableBefore);
  }

  // --- what is asked

  /** A future that completes when everything of this share, which is queued, is in MySQL. */
  public synchronized CompletableFuture<Void> whenDurable(Share share) {
    return futures.of(share, isDurable(share));
  }

  private boolean isDurable(Share share) {
    return share.highest() <= queued.durableVersion()
        && (queued.keepsNone() || share.keys().stream().noneMatch(queued::isKept))
        && !overtaken.hasAnyOf(share);
  }

  /** Whether MySQL holds this row in this version or a newer one, or refused it. */
  synchronized boolean isDurable(String key, long version) {
    return isDurable(new Share(version, version, List.of(key)));
  }

  /** Rows of this session, as the game is told that they are lost. */
  public Conflict conflict(SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    return futures.conflict(rows, reason, mayComeBack);
  }

  /** Row keys ({@code table:key}) not known to be in MySQL, sorted. */
  public synchronized Set<String> notDurable() {
    Set<String> keys = new TreeSet<>(queued.keys());
    inTransit.addKeysTo(keys);
    overtaken.addKeysTo(keys);
    return keys;
  }

  /** Rows queued, when no news came of them for {@code quietNanos}; else empty. */
  public synchronized Set<String> withoutNews(long quietNanos) {
    if (isSettled() || System.nanoTime() - newsNanos < quietNanos) {
      return Set.of();
    }
    Set<String> keys = new HashSet<>(queued.keys());
    overtaken.addKeysTo(keys);
    return keys;
  }

  /**
   * Rows of which no notice tells, every {@code everyNanos} as long as there are any; else empty.
   */
  public synchronized Set<String> overtakenRows(long everyNanos) {
    return overtaken.keysEvery(everyNanos);
  }

  /** Of these rows, those that this session waits for in the version given or an older one. */
  public synchronized SortedMap<String, Long> waitingUpTo(Map<String, Long> rows) {
    SortedMap<String, Long> waiting = new TreeMap<>();
    rows.forEach(
        (key, version) -> {
          QueuedRow row = queued.get(key);
          if (row != null && row.version() <= version) {
            waiting.put(key, row.version());
          }
        });
    overtaken.mergeUpTo(rows, waiting);
    return waiting;
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
    Map<String, Long> wanted = new HashMap<>();
    for (String key : rows) {
      QueuedRow row = queued.get(key);
      if (row != null) {
        wanted.put(key, row.version());
      }
    }
    overtaken.mergeInto(wanted, rows);
    wanted.entrySet().removeIf(row -> row.getValue() <= inRedis.getOrDefault(row.getKey(), -1L));
    return unheld.after(wanted, graceNanos);
  }

  private boolean isSettled() {
    return queued.isEmpty() && overtaken.isEmpty();
  }

  /** Whether Redis has everything committed so far, or never will. */
  public synchronized boolean isQueued() {
    return preparing == 0 && inTransit.isEmpty();
  }

  synchronized boolean isDrained() {
    return adoptingFrom == 0 && isQueued() && isSettled();
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

  private boolean hasRoom(Collection<ChangedRow> rows, int most, int mostBytes) {
    return inTransit.distinctWith(queued, rows, most) <= most
        && inTransit.bytesWith(queued, rows, mostBytes) <= mostBytes;
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
