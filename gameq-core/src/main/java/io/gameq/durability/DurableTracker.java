package io.gameq.durability;

import io.gameq.Conflict;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.durability.DurableFutures.Share;
import io.gameq.owner.SessionRef;
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
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What of one session is not in MySQL yet, and where the WAL has it. Thread-safe. Holds row keys,
 * not rows: it grows with the distinct rows that wait, and with the futures that were asked for.
 */
public final class DurableTracker implements Unsettled {
  private final SessionRef session;

  /** Submitted and not answered; they mostly leave in their order. */
  private final Deque<Commit> inTransit = new ArrayDeque<>();

  private int rowsInTransit;
  private long bytesInTransit;

  /** How often each row is on its way; counted only while that may decide about room. */
  private @Nullable Map<String, Integer> transitRows;

  /** Rows in Redis that the notice of their version will settle. */
  private final Map<String, Held> queuedRows = new HashMap<>();

  /** What the queued rows take at most: counted anew when it may decide about room. */
  private long queuedBytes;

  /** Rows in Redis that a notice says nothing of: they may have got there after newer ones. */
  private final Set<RowVersion> overtaken = new HashSet<>();

  /** Rows that the last notices said wait on. */
  private final Map<String, Long> keptRows = new HashMap<>();

  private final DurableFutures futures;
  private long durableVersion;
  private long highestQueued;
  private long newsNanos;

  /** Rows that are being adopted are in the WAL from here on; 0 when none are. */
  private long adoptingFrom;

  private final Map<String, Suspect> suspects = new HashMap<>();

  /** Of the overtaken rows, those that are not replayed, since when: nobody may hold them. */
  private final Map<RowVersion, Long> givenUp = new HashMap<>();

  /** The next session of this node that adopted rows of this one; null when none has. */
  private @Nullable DurableTracker heir;

  /** Rows that the heir adopted in the version that this session waits for, or a newer one. */
  private final Map<String, Long> inherited = new HashMap<>();

  /** Commits that a thread of the game has taken from its session and not submitted yet. */
  private int preparing;

  private long overtakenLookNanos;
  private final CarriedColumns carried = new CarriedColumns();

  /**
   * A version of a row that Redis was given.
   *
   * @param sequence of its WAL record
   * @param bytes of the row, key and image
   * @param isAdopted whether no journal mark tells of it
   * @param before of a row that a trade changed what it was, in Redis as well by then: it counts
   *     again when the trade is not replayed
   * @param trades how many there are before it
   */
  public record Held(
      long version,
      long sequence,
      int bytes,
      boolean isAdopted,
      @Nullable Held before,
      int trades) {
    /** A row that is traded over and over while MySQL is away must not take more and more room. */
    private static final int MOST_TRADES = 16;

    public Held(long version, long sequence, int bytes, boolean isAdopted) {
      this(version, sequence, bytes, isAdopted, null, 0);
    }

    private Held afterTradeOf(Held old) {
      boolean isFull = old.trades >= MOST_TRADES;
      return new Held(
          version,
          sequence,
          bytes,
          isAdopted,
          isFull ? new Held(old.version, old.sequence, old.bytes, old.isAdopted) : old,
          isFull ? 1 : old.trades + 1);
    }

    private Held newer(Held other) {
      return other.version > version ? other : this;
    }
  }

  /** A version of a row that nobody was seen to hold, or that is not replayed. */
  private record Suspect(long version, long sinceNanos) {}

  private record RowVersion(String key, long version, long sequence) {}

  public DurableTracker(SessionRef session) {
    this.session = session;
    this.futures = new DurableFutures(session);
  }

  public SessionRef session() {
    return session;
  }

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
    for (long left;
        dirtyWith(rows, most) > most || dirtyBytesWith(rows, mostBytes) > mostBytes;
        wait(millis(left))) {
      left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
    }
    return true;
  }

  /** Rows in Redis and on their way count twice, so this never counts too few. */
  private int dirtyWith(Collection<ChangedRow> rows, int most) {
    int atMost = queuedRows.size() + rowsInTransit + rows.size();
    if (atMost <= most) {
      transitRows = null;
      return atMost;
    }
    if (transitRows == null) {
      transitRows = new HashMap<>();
      inTransit.forEach(this::countRows);
    }
    int dirty = queuedRows.size() + transitRows.size();
    for (ChangedRow row : rows) {
      dirty += queuedRows.containsKey(row.key()) || transitRows.containsKey(row.key()) ? 0 : 1;
    }
    return dirty;
  }

  private long dirtyBytesWith(Collection<ChangedRow> rows, int most) {
    long atMost = queuedBytes + bytesInTransit + bytes(rows);
    if (atMost <= most) {
      return atMost;
    }
    queuedBytes = queuedRows.values().stream().mapToLong(Held::bytes).sum();
    Map<String, Integer> newest = new HashMap<>();
    queuedRows.forEach((key, held) -> newest.put(key, held.bytes));
    inTransit.forEach(commit -> rowsOf(commit).forEach(row -> newest.put(row.key(), row.bytes())));
    rows.forEach(row -> newest.put(row.key(), row.bytes()));
    return newest.values().stream().mapToLong(Integer::longValue).sum();
  }

  private static long bytes(Collection<ChangedRow> rows) {
    return rows.stream().mapToLong(ChangedRow::bytes).sum();
  }

  private void countRows(Commit commit) {
    if (transitRows != null) {
      for (ChangedRow row : rowsOf(commit)) {
        transitRows.merge(row.key(), 1, Integer::sum);
      }
    }
  }

  /** See {@link CarriedColumns}; null for nothing. */
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
    rowsInTransit += rowsOf(commit).size();
    bytesInTransit += bytes(rowsOf(commit));
    countRows(commit);
    carried.submitted(rowsOf(commit), this::notDurable);
  }

  public synchronized void failed(Commit commit) {
    carried.failed(rowsOf(commit));
    arrived(commit);
    notifyAll();
  }

  private void arrived(Commit commit) {
    if (inTransit.remove(commit)) {
      List<ChangedRow> rows = rowsOf(commit);
      rowsInTransit -= rows.size();
      bytesInTransit -= bytes(rows);
      if (transitRows != null) {
        for (ChangedRow row : rows) {
          transitRows.computeIfPresent(row.key(), (key, n) -> n > 1 ? n - 1 : null);
        }
      }
    }
  }

  private List<ChangedRow> rowsOf(Commit commit) {
    for (CommitPart part : commit.parts()) {
      if (part.session() == session) {
        return part.rows();
      }
    }
    return List.of();
  }

  /**
   * Rows that the session took over unflushed; they are waited for like the session's own.
   *
   * @param dirty to be claimed
   * @param claimed a writer is flushing them
   */
  public synchronized void adopted(Map<String, Held> dirty, Map<String, Held> claimed) {
    long flushing = claimed.values().stream().mapToLong(Held::version).max().orElse(0);
    queuedBytes += claimed.values().stream().mapToLong(Held::bytes).sum();
    queuedBytes += dirty.values().stream().mapToLong(Held::bytes).sum();
    claimed.forEach((key, held) -> queuedRows.merge(key, held, Held::newer));
    dirty.forEach(
        (key, held) -> {
          if (held.version <= flushing) { // the notice of what is being flushed is not about it
            overtaken.add(new RowVersion(key, held.version, held.sequence));
          } else {
            queuedRows.merge(key, held, Held::newer);
            highestQueued = Math.max(highestQueued, held.version);
          }
        });
    highestQueued = Math.max(highestQueued, flushing);
    newsNanos = System.nanoTime();
    adoptingFrom = 0;
  }

  /** Rows that will be {@link #adopted} are about to be appended to the WAL. */
  public synchronized void adopting(long fromSequence) {
    adoptingFrom = fromSequence;
  }

  @Override
  public synchronized void beyond(long mark, LongConsumer sequences) {
    for (Held newest : queuedRows.values()) {
      for (Held held = newest; held != null; held = held.before) {
        if (held.isAdopted || held.sequence > mark) {
          sequences.accept(held.sequence);
        }
      }
    }
    for (RowVersion row : overtaken) {
      if (!givenUp.containsKey(row)) {
        sequences.accept(row.sequence);
      }
    }
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

  @Override
  public synchronized void doubtful(LongConsumer sequences) {
    queuedRows.forEach(
        (key, held) -> {
          if (!isInherited(key, held.version)) {
            sequences.accept(held.sequence);
          }
        });
    for (RowVersion row : overtaken) {
      if (!isInherited(row.key, row.version)) {
        sequences.accept(row.sequence);
      }
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

  @Override
  public synchronized void doubt() {
    queuedRows.forEach(this::overtake);
    queuedRows.clear();
    keptRows.clear();
  }

  @Override
  public synchronized void doubt(long sequence, Collection<String> rows) {
    for (String key : rows) {
      Held held = queuedRows.get(key);
      if (held != null && held.sequence == sequence) {
        queuedRows.remove(key);
        overtake(key, held);
      }
    }
  }

  private void overtake(String key, Held newest) {
    for (Held held = newest; held != null; held = held.before) {
      overtaken.add(new RowVersion(key, held.version, held.sequence));
    }
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

  /** Redis holds the commit; returns what it changed of this session's rows. */
  public synchronized Share queued(Commit commit) {
    arrived(commit);
    if (isSettled()) {
      newsNanos = System.nanoTime();
    }
    long version = commit.version();
    List<ChangedRow> rows = rowsOf(commit);
    List<String> keys = new ArrayList<>(rows.size());
    for (ChangedRow row : rows) {
      keys.add(row.key());
      if (commit.isSentAgain()) {
        overtaken.add(new RowVersion(row.key(), version, commit.sequence()));
      } else if (version > durableVersion) { // later than all before: commits arrive in their order
        Held held = new Held(version, commit.sequence(), row.bytes(), false);
        queuedBytes += held.bytes;
        Held old = queuedRows.put(row.key(), held);
        if (old != null && commit.isSpanning()) {
          queuedRows.put(row.key(), held.afterTradeOf(old));
        }
      }
    }
    highestQueued = Math.max(highestQueued, version);
    notifyAll();
    return new Share(version, version, keys);
  }

  /**
   * Everything of this session up to this version is in MySQL, but for some rows.
   *
   * @param refused rows set aside, with the versions in which they were
   * @param kept rows that wait on, with their versions
   */
  public void durable(long version, Map<String, Long> refused, Map<String, Long> kept) {
    List<Runnable> ends;
    synchronized (this) {
      keptRows.values().removeIf(v -> v <= version); // flushed, or named again
      keptRows.putAll(kept);
      long before = durableVersion;
      reached(version);
      ends = settle(refused, before);
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
      overtaken.removeIf(row -> row.version <= settled.getOrDefault(row.key, -1L));
      queuedRows
          .entrySet()
          .removeIf(row -> row.getValue().version <= settled.getOrDefault(row.getKey(), -1L));
      keptRows
          .entrySet()
          .removeIf(row -> row.getValue() <= settled.getOrDefault(row.getKey(), -1L));
      long before = durableVersion;
      if (queuedRows.isEmpty()) {
        reached(highestQueued);
      }
      ends = settle(refused, before);
    }
    ends.forEach(Runnable::run);
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
      Held held = queuedRows.get(key);
      if (held != null) {
        wanted.put(key, held.version);
      }
    }
    for (RowVersion row : overtaken) {
      if (rows.contains(row.key)) {
        wanted.merge(row.key, row.version, Math::max);
      }
    }
    wanted.entrySet().removeIf(row -> row.getValue() <= inRedis.getOrDefault(row.getKey(), -1L));
    long now = System.nanoTime();
    suspects
        .entrySet()
        .removeIf(s -> !Objects.equals(wanted.get(s.getKey()), s.getValue().version));
    wanted.forEach((key, version) -> suspects.putIfAbsent(key, new Suspect(version, now)));
    SortedMap<String, Long> missing = new TreeMap<>();
    suspects.forEach(
        (key, suspect) -> {
          if (now - suspect.sinceNanos >= graceNanos) {
            missing.put(key, suspect.version);
          }
        });
    return missing;
  }

  /** These rows are lost, and will not be replayed. */
  public void lost(Conflict conflict) {
    List<Runnable> ends;
    synchronized (this) {
      conflict
          .rows()
          .forEach(
              (key, version) -> {
                queuedRows.computeIfPresent(
                    key, (k, held) -> held.version <= version ? null : held);
                overtaken.removeIf(
                    row ->
                        row.key.equals(key)
                            && (row.version == version
                                || (row.version < version && isLostWith(row))));
                keptRows.remove(key);
                suspects.remove(key);
              });
      ends = new ArrayList<>(futures.lost(conflict, session.isLost(), durableVersion));
      if (queuedRows.isEmpty()) {
        reached(highestQueued);
      }
      ends.addAll(settle(Map.of(), durableVersion));
    }
    ends.forEach(Runnable::run);
  }

  /** What a row was before a trade that is given up was put back. */
  private boolean isLostWith(RowVersion older) {
    return session.isLost() || givenUp.containsKey(older);
  }

  private void reached(long version) {
    durableVersion = Math.max(durableVersion, version);
    queuedRows
        .entrySet()
        .removeIf(row -> row.getValue().version <= durableVersion && !isKept(row.getKey()));
    newsNanos = System.nanoTime();
  }

  private boolean isKept(String key) {
    return keptRows.containsKey(key);
  }

  private List<Runnable> settle(Map<String, Long> refused, long durableBefore) {
    if (isDrained()) {
      carried.settled();
    }
    refused.forEach(
        (key, version) -> {
          queuedRows.computeIfPresent(key, (k, held) -> held.version <= version ? null : held);
          overtaken.removeIf(row -> row.key.equals(key) && row.version <= version);
        });
    notifyAll();
    return futures.settle(this::isDurable, refused, durableBefore);
  }

  private boolean isDurable(Share share) {
    return share.highest() <= durableVersion
        && (keptRows.isEmpty() || share.keys().stream().noneMatch(this::isKept))
        && (overtaken.isEmpty()
            || overtaken.stream()
                .noneMatch(
                    row ->
                        row.version >= share.lowest()
                            && share.keys().contains(row.key)
                            && !isOfLaterTrade(row, share)));
  }

  /** A trade that is not replayed replaced nothing. */
  private boolean isOfLaterTrade(RowVersion row, Share share) {
    return row.version > share.highest() && givenUp.containsKey(row);
  }

  /** Whether MySQL holds this row in this version or a newer one, or refused it. */
  synchronized boolean isDurable(String key, long version) {
    return isDurable(new Share(version, version, List.of(key)));
  }

  /** A future that completes when everything of this share, which is queued, is in MySQL. */
  public synchronized CompletableFuture<Void> whenDurable(Share share) {
    return futures.of(share, isDurable(share));
  }

  /**
   * These WAL records, which Redis lost, are not replayed. Told by the sender before anything new
   * is sent: from now on a notice says nothing of their rows, and half of a trade is not replayed
   * later either, when its other half is settled.
   */
  synchronized void gaveUp(Set<Long> sequences) {
    queuedRows.forEach(
        (key, held) -> {
          if (sequences.contains(held.sequence)) {
            overtake(key, held);
          }
        });
    queuedRows.values().removeIf(held -> sequences.contains(held.sequence));
    long now = System.nanoTime();
    for (RowVersion row : overtaken) {
      if (sequences.contains(row.sequence)) {
        givenUp.putIfAbsent(row, now);
      }
    }
  }

  /**
   * Rows that were {@linkplain #gaveUp given up} at least {@code graceNanos} ago and are not known
   * to be in MySQL, with their versions.
   */
  public synchronized SortedMap<String, Long> givenUp(long graceNanos) {
    SortedMap<String, Long> rows = new TreeMap<>();
    givenUp.keySet().retainAll(overtaken);
    long since = System.nanoTime() - graceNanos;
    givenUp.forEach(
        (row, sinceNanos) -> {
          if (sinceNanos - since <= 0) {
            rows.merge(row.key, row.version, Math::max);
          }
        });
    return rows;
  }

  /** Of these rows, those that this session waits for in the version given or an older one. */
  public synchronized SortedMap<String, Long> waitingUpTo(Map<String, Long> rows) {
    SortedMap<String, Long> waiting = new TreeMap<>();
    rows.forEach(
        (key, version) -> {
          Held held = queuedRows.get(key);
          if (held != null && held.version <= version) {
            waiting.put(key, held.version);
          }
        });
    for (RowVersion row : overtaken) {
      if (row.version <= rows.getOrDefault(row.key, -1L)) {
        waiting.merge(row.key, row.version, Math::max);
      }
    }
    return waiting;
  }

  /**
   * Rows of which no notice tells, every {@code everyNanos} as long as there are any; else empty.
   */
  public synchronized Set<String> overtakenRows(long everyNanos) {
    if (overtaken.isEmpty() || System.nanoTime() - overtakenLookNanos < everyNanos) {
      return Set.of();
    }
    overtakenLookNanos = System.nanoTime();
    Set<String> keys = new HashSet<>();
    overtaken.forEach(row -> keys.add(row.key));
    return keys;
  }

  /** Rows of this session, as the game is told that they are lost. */
  public Conflict conflict(SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    return futures.conflict(rows, reason, mayComeBack);
  }

  private boolean isSettled() {
    return queuedRows.isEmpty() && overtaken.isEmpty();
  }

  synchronized boolean isDrained() {
    return adoptingFrom == 0 && preparing == 0 && inTransit.isEmpty() && isSettled();
  }

  /** Waits until nothing is in transit; false when the time was up. */
  public synchronized boolean awaitQueued(long deadlineNanos) throws InterruptedException {
    for (long left; !isQueued(); wait(millis(left))) {
      left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
    }
    return true;
  }

  /** Whether Redis has everything committed so far, or never will. */
  public synchronized boolean isQueued() {
    return preparing == 0 && inTransit.isEmpty();
  }

  /** Waits until everything committed so far is in MySQL; false when the time was up. */
  public synchronized boolean awaitDurable(long deadlineNanos) throws InterruptedException {
    for (long left; !isDrained(); wait(millis(left))) {
      left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
    }
    return true;
  }

  private static long millis(long nanos) {
    return nanos / 1_000_000 + 1;
  }

  /** Row keys ({@code table:key}) not known to be in MySQL, sorted. */
  public synchronized Set<String> notDurable() {
    Set<String> keys = new TreeSet<>(queuedRows.keySet());
    inTransit.forEach(commit -> rowsOf(commit).forEach(row -> keys.add(row.key())));
    overtaken.forEach(row -> keys.add(row.key));
    return keys;
  }

  /** Rows queued, when no news came of them for {@code quietNanos}; else empty. */
  public synchronized Set<String> withoutNews(long quietNanos) {
    if (isSettled() || System.nanoTime() - newsNanos < quietNanos) {
      return Set.of();
    }
    Set<String> keys = new HashSet<>(queuedRows.keySet());
    overtaken.forEach(row -> keys.add(row.key));
    return keys;
  }
}
