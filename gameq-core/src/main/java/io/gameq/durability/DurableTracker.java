package io.gameq.durability;

import io.gameq.Conflict;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.durability.DurableFutures.Share;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeCounts.CommitTimes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What of one session is not in MySQL yet, and where the WAL has it. Thread-safe; futures end
 * outside its lock. Holds row keys, not rows: it grows with the distinct rows that wait, and with
 * the futures that were asked for. Nothing of it survives the process: the WAL does.
 *
 * <pre>
 * in transit  Redis has not answered
 * queued      Redis was given it: a notice of its version settles it
 * overtaken   the same, but no notice tells of it, since it may have got to Redis after newer ones:
 *             MySQL is asked; what a healing did not replay is given up
 * </pre>
 */
public final class DurableTracker implements Unsettled {
  /**
   * The first so many timed commits that wait are measured, and the next ones once these are in
   * MySQL: while it is away a session that commits on and on must not take more and more memory.
   */
  private static final int MOST_MEASURED = 64;

  private final SessionRef session;
  private final NodeCounts counts;
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

  private final Map<String, QueuedRow> queued = new HashMap<>();

  /** What the queued rows take at most: counted anew when it may decide about room. */
  private long queuedBytes;

  /**
   * Whether one of the rows may be of a move, or have been: where none is, what a row was before
   * need not be read, which no processor has in its caches any more.
   */
  private boolean hasMoves;

  /** Everything up to here is in MySQL, but for rows that are kept. */
  private long durableVersion;

  private long highestVersion;
  private long newsNanos;

  /** Rows that the last notices said wait on, in a version up to this one. */
  private final Map<String, Long> kept = new HashMap<>();

  private final Set<RowVersion> overtaken = new HashSet<>();
  private final Map<RowVersion, Long> givenUpNanos = new HashMap<>();
  private long askedNanos;

  /** Rows that were seen in neither Redis nor MySQL, and since when. */
  private final Map<String, Missing> missing = new HashMap<>();

  /** The next session of this node that adopted rows of this one; null when none has. */
  private @Nullable DurableTracker successor;

  /** Rows that the successor adopted in the version that this one waits for, or a newer one. */
  private final Map<String, Long> adoptedBySuccessor = new HashMap<>();

  private final Deque<Measured> measured = new ArrayDeque<>(2);

  /** A version of a row, and the sequence of its WAL record. */
  private record RowVersion(String key, long version, long sequence) {}

  private record Missing(long version, long sinceNanos) {}

  /** A commit whose time to MySQL is told to meters. */
  private record Measured(long beganNanos, long version) {}

  /**
   * A version of a row that Redis was given.
   *
   * @param sequence of its WAL record
   * @param bytes of the row, key and image
   * @param isAdopted whether no journal mark tells of it
   * @param before of a row that a move changed what it was, in Redis as well by then: it counts
   *     again when the move is not replayed
   * @param isSpanning whether its commit was one of several sessions: a move, or rows that were
   *     sent together with it
   */
  record QueuedRow(
      long version,
      long sequence,
      int bytes,
      boolean isAdopted,
      @Nullable QueuedRow before,
      boolean isSpanning) {
    /** A row that is moved over and over while MySQL is away must not take more and more room. */
    private static final int MOST_MOVES = 16;

    /**
     * The same after another version, which is kept where this is a move, or that was one: whether
     * a move's other half is replayed depends on this row.
     */
    QueuedRow after(QueuedRow old) {
      QueuedRow last = isSpanning || old.isSpanning ? old : old.before;
      if (last == null) {
        return this;
      }
      int moves = 0;
      for (QueuedRow row = last.before; row != null; row = row.before) {
        moves++;
      }
      return of(moves < MOST_MOVES ? last : last.of(null));
    }

    private QueuedRow of(@Nullable QueuedRow itsBefore) {
      return new QueuedRow(version, sequence, bytes, isAdopted, itsBefore, isSpanning);
    }
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

  /** What its rows carry that the game does not know. */
  public CarriedColumns carried() {
    return carried;
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
    notifyAll();
    if (rows.isEmpty()) {
      return new Share(commit.version(), List.of());
    }
    if (hasNoneUnflushed()) {
      newsNanos = System.nanoTime();
    }
    int before = queued.size();
    List<String> keys = new ArrayList<>(rows.size());
    for (ChangedRow row : rows) {
      keys.add(row.key());
      if (commit.isSentAgain()) {
        overtaken.add(new RowVersion(row.key(), commit.version(), commit.sequence()));
      } else if (commit.version() > durableVersion) {
        queue(row, commit);
      }
    }
    highestVersion = Math.max(highestVersion, commit.version());
    if (!commit.isSentAgain()) {
      counts.merged.add(keys.size() - (queued.size() - before));
      if (commit.isTimed()
          && measured.size() < MOST_MEASURED
          && counts.times() != CommitTimes.NOBODY) {
        measured.add(new Measured(commit.beganNanos(), commit.version()));
      }
    }
    return new Share(commit.version(), keys);
  }

  /** Later than all before, as commits arrive in order. */
  private void queue(ChangedRow row, Commit commit) {
    hasMoves = commit.isSpanning() || (hasMoves && !queued.isEmpty());
    QueuedRow now =
        new QueuedRow(
            commit.version(), commit.sequence(), row.bytes(), false, null, commit.isSpanning());
    queuedBytes += now.bytes;
    QueuedRow old = queued.put(row.key(), now);
    if (old != null && hasMoves) {
      queued.put(row.key(), now.after(old));
    }
  }

  /** Rows that will be {@link #adopted} are in the WAL from there on, or soon; 0 for none. */
  public synchronized void adopting(long fromSequence) {
    adoptingFrom = fromSequence;
  }

  /**
   * Rows that the session took over unflushed; they are waited for like the session's own, the
   * newer version of each. A notice about claimed ones is not about dirty ones of lower versions.
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
      if (!isClaimed && row.version() <= flushing) {
        overtaken.add(new RowVersion(row.key(), row.version(), sequences.get(i)));
      } else {
        int bytes = row.key().length() + row.image().length;
        queued.merge(
            row.key(),
            new QueuedRow(row.version(), sequences.get(i), bytes, true, null, false),
            (old, now) -> now.version > old.version ? now : old);
        queuedBytes += bytes;
        highestVersion = Math.max(highestVersion, row.version());
      }
      newsNanos = System.nanoTime();
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

  // --- what a healing replays

  @Override
  public synchronized void beyond(long mark, LongConsumer sequences) {
    for (QueuedRow newest : queued.values()) {
      for (QueuedRow row = newest; row != null; row = row.before) {
        if (row.isAdopted || row.sequence > mark) {
          sequences.accept(row.sequence);
        }
      }
    }
    for (RowVersion row : overtaken) {
      if (!givenUpNanos.containsKey(row)) {
        sequences.accept(row.sequence);
      }
    }
  }

  @Override
  public synchronized void doubtful(LongConsumer sequences) {
    queued.forEach(
        (key, newest) -> {
          for (QueuedRow row = newest; row != null; row = row.before) {
            if (!successorHas(key, row.version)) {
              sequences.accept(row.sequence);
            }
          }
        });
    for (RowVersion row : overtaken) {
      if (!successorHas(row.key, row.version)) {
        sequences.accept(row.sequence);
      }
    }
  }

  @Override
  public synchronized void doubt() {
    overtake(row -> true);
    kept.clear();
  }

  @Override
  public synchronized void doubt(long sequence, Collection<String> rows) {
    for (String key : rows) {
      QueuedRow row = queued.get(key);
      if (row != null && row.sequence == sequence) {
        queued.remove(key);
        overtake(key, row);
      }
    }
  }

  /** No notice tells of queued rows that match any more. */
  private void overtake(Predicate<QueuedRow> which) {
    queued
        .entrySet()
        .removeIf(
            row -> {
              boolean matches = which.test(row.getValue());
              if (matches) {
                overtake(row.getKey(), row.getValue());
              }
              return matches;
            });
  }

  /** Also of what the row was before it was moved. */
  private void overtake(String key, QueuedRow newest) {
    for (QueuedRow row = newest; row != null; row = row.before) {
      overtaken.add(new RowVersion(key, row.version, row.sequence));
    }
  }

  /**
   * These WAL records, which Redis lost, are not replayed. Told by the sender before anything new
   * is sent: from now on a notice says nothing of their rows, and half of a trade is not replayed
   * later either, when its other half is settled.
   */
  synchronized void gaveUp(Set<Long> sequences) {
    overtake(row -> sequences.contains(row.sequence));
    long now = System.nanoTime();
    for (RowVersion row : overtaken) {
      if (sequences.contains(row.sequence)) {
        givenUpNanos.putIfAbsent(row, now);
      }
    }
  }

  /**
   * Rows that were {@linkplain #gaveUp given up} at least {@code graceNanos} ago and are not known
   * to be in MySQL, with their versions.
   */
  public synchronized SortedMap<String, Long> givenUp(long graceNanos) {
    SortedMap<String, Long> versions = new TreeMap<>();
    givenUpNanos.keySet().retainAll(overtaken);
    long since = System.nanoTime() - graceNanos;
    givenUpNanos.forEach(
        (row, sinceNanos) -> {
          if (sinceNanos - since <= 0) {
            versions.merge(row.key, row.version, Math::max);
          }
        });
    return versions;
  }

  /**
   * A later session of this node has adopted rows of the owner: while it owns, it puts them back if
   * Redis loses them.
   */
  public synchronized void adoptedBy(DurableTracker later, Map<String, Long> versions) {
    if (successor == null) { // else that one knows what became of them
      successor = later;
      waitingUpTo(versions).keySet().forEach(key -> adoptedBySuccessor.put(key, versions.get(key)));
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
   * @param waitOn rows that wait on, with their versions
   */
  public void durable(long version, Map<String, Long> refused, Map<String, Long> waitOn) {
    end(
        () -> {
          long before = durableVersion;
          kept.values().removeIf(v -> v <= version); // flushed, or named again
          kept.putAll(waitOn);
          durableUpTo(version);
          return settle(refused, before);
        });
  }

  /**
   * What a look at MySQL showed, when Redis held nothing more of this session.
   *
   * @param there versions that MySQL holds of rows that {@link #withoutNews} named
   * @param refused versions in which such rows were set aside
   */
  public void found(Map<String, Long> there, Map<String, Long> refused) {
    end(
        () -> {
          long before = durableVersion;
          Map<String, Long> settled = new HashMap<>(there);
          refused.forEach((key, version) -> settled.merge(key, version, Math::max));
          removeUpTo(settled);
          kept.entrySet()
              .removeIf(row -> row.getValue() <= settled.getOrDefault(row.getKey(), -1L));
          settleIfNoneQueued();
          return settle(refused, before);
        });
  }

  /**
   * These rows are lost, and will not be replayed. Of overtaken ones an older version as well if it
   * was given up: it is what the row was before a move that was put back.
   */
  public void lost(Conflict conflict) {
    end(
        () -> {
          boolean alsoBefore = session.isLost();
          conflict
              .rows()
              .forEach(
                  (key, version) -> {
                    removeQueued(key, version);
                    overtaken.removeIf(
                        row ->
                            row.key.equals(key)
                                && (row.version == version
                                    || (row.version < version
                                        && (alsoBefore || givenUpNanos.containsKey(row)))));
                    kept.remove(key);
                    missing.remove(key);
                  });
          List<Runnable> ends = new ArrayList<>(futures.lost(conflict, alsoBefore, durableVersion));
          settleIfNoneQueued();
          ends.addAll(settle(Map.of(), durableVersion));
          return ends;
        });
  }

  /** The node closes: who waits for news is told that none will come. */
  public void closed() {
    end(futures::close);
  }

  private void end(Supplier<List<Runnable>> settled) {
    List<Runnable> ends;
    synchronized (this) {
      ends = settled.get();
    }
    ends.forEach(Runnable::run);
  }

  private void durableUpTo(long version) {
    durableVersion = Math.max(durableVersion, version);
    queued
        .entrySet()
        .removeIf(
            row -> row.getValue().version <= durableVersion && !kept.containsKey(row.getKey()));
    newsNanos = System.nanoTime();
  }

  /** When no row waits for a notice any more, everything that Redis was given is in MySQL. */
  private void settleIfNoneQueued() {
    if (queued.isEmpty()) {
      durableUpTo(highestVersion);
    }
  }

  /** Rows that need not be waited for, up to these versions. */
  private void removeUpTo(Map<String, Long> versions) {
    versions.forEach(this::removeQueued);
    overtaken.removeIf(row -> row.version <= versions.getOrDefault(row.key, -1L));
  }

  private void removeQueued(String key, long upTo) {
    queued.computeIfPresent(key, (k, row) -> row.version <= upTo ? null : row);
  }

  private List<Runnable> settle(Map<String, Long> refused, long durableBefore) {
    if (isDrained()) {
      carried.settled();
    }
    removeUpTo(refused);
    if (!measured.isEmpty()) {
      long now = System.nanoTime();
      CommitTimes times = counts.times();
      for (Measured first; (first = measured.peek()) != null && first.version <= durableVersion; ) {
        measured.remove();
        times.durable(now - first.beganNanos);
      }
    }
    notifyAll();
    return futures.settle(this::isDurable, refused, durableBefore);
  }

  // --- what is asked

  /** A future that completes when everything of this share, which is queued, is in MySQL. */
  synchronized CompletableFuture<Void> whenDurable(Share share) {
    return futures.of(share, isDurable(share));
  }

  /** Whether MySQL holds this row in this version or a newer one, or refused it. */
  synchronized boolean isDurable(String key, long version) {
    return isDurable(new Share(version, List.of(key)));
  }

  private boolean isDurable(Share share) {
    return share.version() <= durableVersion
        && (kept.isEmpty() || share.keys().stream().noneMatch(kept::containsKey))
        && (overtaken.isEmpty()
            || overtaken.stream()
                .noneMatch(
                    row ->
                        row.version >= share.version()
                            && share.keys().contains(row.key)
                            && !isOfLaterMove(row, share)));
  }

  /** A move that is not replayed replaced nothing. */
  private boolean isOfLaterMove(RowVersion row, Share share) {
    return row.version > share.version() && givenUpNanos.containsKey(row);
  }

  /** Rows of this session, as the game is told that they are lost. */
  public Conflict conflict(SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    return futures.conflict(rows, reason, mayComeBack);
  }

  /** The lowest version of a change that is not known to be in MySQL; else the highest number. */
  synchronized long oldestVersion() {
    long oldest = Long.MAX_VALUE;
    for (QueuedRow row : queued.values()) {
      oldest = Math.min(oldest, row.version);
    }
    for (RowVersion row : overtaken) {
      oldest = Math.min(oldest, row.version);
    }
    for (Commit commit : inTransit) {
      if (commit.sequence() != 0) { // else it has no version that others may read
        oldest = Math.min(oldest, commit.version());
      }
    }
    return oldest;
  }

  /** Row keys ({@code table:key}) not known to be in MySQL, sorted. */
  public synchronized Set<String> notDurable() {
    Set<String> keys = new TreeSet<>(unflushed());
    inTransit.forEach(commit -> rowsOf(commit).forEach(row -> keys.add(row.key())));
    return keys;
  }

  private Set<String> unflushed() {
    Set<String> keys = new HashSet<>(queued.keySet());
    overtaken.forEach(row -> keys.add(row.key));
    return keys;
  }

  private boolean hasNoneUnflushed() {
    return queued.isEmpty() && overtaken.isEmpty();
  }

  /** Rows queued, when no news came of them for {@code quietNanos}; else empty. */
  public synchronized Set<String> withoutNews(long quietNanos) {
    return System.nanoTime() - newsNanos >= quietNanos ? unflushed() : Set.of();
  }

  /**
   * Rows of which no notice tells, every {@code everyNanos} as long as there are any; else empty.
   */
  public synchronized Set<String> overtakenRows(long everyNanos) {
    Set<String> keys = new HashSet<>();
    if (!overtaken.isEmpty() && System.nanoTime() - askedNanos >= everyNanos) {
      askedNanos = System.nanoTime();
      overtaken.forEach(row -> keys.add(row.key));
    }
    return keys;
  }

  /** Of these rows, those that this session waits for in the version given or an older one. */
  public synchronized SortedMap<String, Long> waitingUpTo(Map<String, Long> rows) {
    return waitingFor((key, version) -> version <= rows.getOrDefault(key, -1L));
  }

  /** The newest versions of unflushed rows that match. */
  private SortedMap<String, Long> waitingFor(BiPredicate<String, Long> which) {
    SortedMap<String, Long> waiting = new TreeMap<>();
    queued.forEach(
        (key, row) -> {
          if (which.test(key, row.version)) {
            waiting.put(key, row.version);
          }
        });
    for (RowVersion row : overtaken) {
      if (which.test(row.key, row.version)) {
        waiting.merge(row.key, row.version, Math::max);
      }
    }
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
    SortedMap<String, Long> wanted = waitingFor((key, version) -> rows.contains(key));
    wanted.entrySet().removeIf(row -> row.getValue() <= inRedis.getOrDefault(row.getKey(), -1L));
    long now = System.nanoTime();
    missing
        .entrySet()
        .removeIf(row -> !Objects.equals(wanted.get(row.getKey()), row.getValue().version));
    wanted.forEach((key, version) -> missing.putIfAbsent(key, new Missing(version, now)));
    wanted
        .keySet()
        .removeIf(key -> now - Objects.requireNonNull(missing.get(key)).sinceNanos < graceNanos);
    return wanted;
  }

  /** Whether Redis has everything committed so far, or never will. */
  public synchronized boolean isQueued() {
    return preparing == 0 && inTransit.isEmpty();
  }

  synchronized boolean isDrained() {
    return adoptingFrom == 0 && isQueued() && hasNoneUnflushed();
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
    int atMost = queued.size() + rowsInTransit + more.size();
    if (atMost <= most) {
      timesInTransit = null;
      return atMost;
    }
    if (timesInTransit == null) {
      timesInTransit = new HashMap<>();
      inTransit.forEach(commit -> countInTransit(rowsOf(commit)));
    }
    int distinct = queued.size() + timesInTransit.size();
    for (ChangedRow row : more) {
      boolean isCounted = queued.containsKey(row.key()) || timesInTransit.containsKey(row.key());
      distinct += isCounted ? 0 : 1;
    }
    return distinct;
  }

  /** The bytes of these rows, each in its newest version; the sum of all where that is enough. */
  private long bytesWith(Collection<ChangedRow> more, int most) {
    long atMost = queuedBytes + bytesInTransit + CommitPart.bytes(more);
    if (atMost <= most) {
      return atMost;
    }
    Map<String, Integer> newest = new HashMap<>();
    queued.forEach((key, row) -> newest.put(key, row.bytes));
    queuedBytes = sum(newest);
    inTransit.forEach(commit -> rowsOf(commit).forEach(row -> newest.put(row.key(), row.bytes())));
    more.forEach(row -> newest.put(row.key(), row.bytes()));
    return sum(newest);
  }

  private static long sum(Map<String, Integer> bytes) {
    return bytes.values().stream().mapToLong(Integer::longValue).sum();
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
