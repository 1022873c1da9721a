package io.gameq.healing;

import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A group of owners that are planned together, since an index of their rows fits into memory: the
 * newest version of each row, the newest session of each owner, and which rows to replay. Not
 * thread-safe.
 *
 * <p>A row may stand in several WALs in one version: committed under one session and adopted by the
 * next. The newest of these sessions counts.
 */
public final class OwnerGroup {
  /** What one row takes here, measured with a million and with five million rows. */
  static final int BYTES_PER_ROW = 100;

  private final Map<RowHash.Key, Newest> rows = new HashMap<>();
  private final Map<RowHash.Key, KnownSession> sessions = new HashMap<>();
  private final TradeGroups trades = new TradeGroups();
  private final RowHash hash;
  private final int number;
  private final int of;
  private final long mostRows;
  private boolean full;

  /**
   * An empty group.
   *
   * @param number which group, below {@code of}, a power of two
   * @param mostRows more are not indexed, and {@link #isFull} says so
   */
  OwnerGroup(RowHash hash, int number, int of, long mostRows) {
    this.hash = hash;
    this.number = number;
    this.of = of;
    this.mostRows = mostRows;
  }

  /** What becomes of a row; what else it may be, its status says. */
  enum State {
    UNSEEN,
    SEEN,
    TO_REPLAY
  }

  /** The newest version of a row, and the epoch under which it was written last. */
  private static final class Newest {
    private State state = State.UNSEEN;
    private long version;
    private int epoch;

    private boolean is(long itsVersion, int itsEpoch) {
      return version == itsVersion && epoch == itsEpoch;
    }

    private void note(long itsVersion, int itsEpoch) {
      int newer = Long.compareUnsigned(itsVersion, version);
      if (newer > 0 || (newer == 0 && Integer.compareUnsigned(itsEpoch, epoch) > 0)) {
        version = itsVersion;
        epoch = itsEpoch;
      }
    }
  }

  /** The newest session of an owner, and the number of the WAL that it was found in. */
  record OwnersNewest(SessionId session, int wal) {}

  /** The same, in few bytes. */
  private record KnownSession(long epoch, long nonce, int wal) {}

  /** Whether an owner, encoded, is of this group. */
  boolean has(String owner) {
    return ((int) (hash.owner(owner).high() >>> 48) & (of - 1)) == number;
  }

  /** Whether rows were left out for want of room. */
  boolean isFull() {
    return full;
  }

  /** Distinct rows. */
  long size() {
    return rows.size();
  }

  /** Notes the session of a part, and its rows unless their commit failed. */
  void note(int wal, WalRecord.Part part, boolean failed) {
    RowHash owner = noteSession(wal, part);
    if (failed) {
      return;
    }
    int epoch = shortEpoch(epoch(part.session()));
    for (EncodedRow row : part.rows()) {
      RowHash.Key key = owner.row(row.key()).key();
      if (rows.size() >= mostRows && !rows.containsKey(key)) {
        full = true;
      } else {
        rows.computeIfAbsent(key, of -> new Newest()).note(WalRow.version(row.image()), epoch);
      }
    }
  }

  /** Notes the session of a part alone; its owner may be of another group. */
  RowHash noteSession(int wal, WalRecord.Part part) {
    RowHash owner = hash.owner(part.owner());
    RowHash.Key key = owner.key();
    long epoch = epoch(part.session());
    KnownSession known = sessions.get(key);
    if (known == null || Long.compareUnsigned(epoch, known.epoch) > 0) {
      long nonce = Long.parseUnsignedLong(part.session(), 17, 33, 16);
      sessions.put(key, new KnownSession(epoch, nonce, wal));
    }
    return owner;
  }

  private static long epoch(String session) {
    return Long.parseUnsignedLong(session, 0, 16, 16);
  }

  /** Epochs rise by one for every open of an owner: four billion are enough to tell them apart. */
  private static int shortEpoch(long epoch) {
    return epoch >>> 32 == 0 ? (int) epoch : -1;
  }

  /** Hands over the newest rows of a part that are in a state, which becomes SEEN. */
  void takeNewest(WalRecord.Part part, State in, ObjLongConsumer<EncodedRow> sink) {
    RowHash owner = hash.owner(part.owner());
    long epoch = epoch(part.session());
    for (EncodedRow row : part.rows()) {
      long version = WalRow.version(row.image());
      Newest newest = find(owner.row(row.key()), version, epoch);
      if (newest != null && newest.state == in) {
        newest.state = State.SEEN; // it may stand in several WALs
        sink.accept(row, version);
      }
    }
  }

  void setToReplay(WalRow row) {
    Objects.requireNonNull(find(row)).state = State.TO_REPLAY;
  }

  boolean isToReplay(WalRow row) {
    Newest newest = find(row);
    return newest != null && newest.state == State.TO_REPLAY;
  }

  private @Nullable Newest find(WalRow row) {
    RowHash key = hash.owner(row.owner().encoded()).row(row.key());
    return find(key, row.version(), row.session().epoch());
  }

  /** A row, if this is its newest version, written under its newest session; else null. */
  private @Nullable Newest find(RowHash row, long version, long epoch) {
    Newest known = rows.get(row.key());
    return known != null && known.is(version, shortEpoch(epoch)) ? known : null;
  }

  /** The newest session of an owner that was noted. */
  OwnersNewest newestSession(OwnerId owner) {
    KnownSession known =
        Objects.requireNonNull(sessions.get(hash.owner(owner.encoded()).key()), owner.id());
    return new OwnersNewest(new SessionId(known.epoch, "%016x".formatted(known.nonce)), known.wal);
  }

  /** Which owners committed together what is to be replayed. */
  TradeGroups trades() {
    return trades;
  }

  /**
   * 96 bits that stand for an owner or for a row of it, salted anew by every run, so that nobody
   * can aim for a collision: among 10 million rows two share a hash once in 10^15 runs. Not
   * thread-safe.
   */
  public static final class RowHash {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final long saltA;
    private final long saltB;
    private long ownerA;
    private long ownerB;
    private long a;
    private long b;

    RowHash() {
      this(RANDOM.nextLong(), RANDOM.nextLong());
    }

    /** With salts of its own: for counting, where nobody gains by a collision. */
    public RowHash(long saltA, long saltB) {
      this.saltA = saltA;
      this.saltB = saltB;
    }

    /** Stands for an owner from now on. */
    public RowHash owner(String owner) {
      a = saltA;
      b = saltB;
      add(owner);
      ownerA = a;
      ownerB = b;
      return this;
    }

    /** Stands for a row of the owner given last. */
    public RowHash row(String key) {
      a = ownerA;
      b = ownerB;
      add(key);
      return this;
    }

    private void add(String text) {
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        a = (a ^ c) * 0x9E3779B97F4A7C15L;
        a ^= a >>> 32;
        b = (b + c) * 0xD6E8FEB86659FD93L;
        b ^= b >>> 29;
      }
      a = (a ^ text.length()) * 0xBF58476D1CE4E5B9L;
      a ^= a >>> 31;
      b = (b ^ a) * 0x94D049BB133111EBL;
      b ^= b >>> 30;
    }

    /** The first 64 bits. */
    public long high() {
      return a;
    }

    /** All 96 bits, as a value. */
    Key key() {
      return new Key(a, (int) b);
    }

    /** What stands for a row or an owner in maps; immutable. */
    record Key(long high, int low) {
      /** The bits are mixed well enough. */
      @Override
      public int hashCode() {
        return (int) (high >>> 6) ^ low;
      }
    }
  }

  /**
   * Owners whose lost rows were committed together, and how much each 256th of all owners has lost.
   * What was committed together is to become visible together. Not thread-safe.
   */
  static final class TradeGroups {
    /** Owners fall into so many buckets, which are replayed some at a time. */
    static final int BUCKETS = 256;

    private final Map<String, String> parents = new HashMap<>();
    private final long[] bytes = new long[BUCKETS];

    void count(String owner, int size) {
      bytes[bucketOf(owner)] += size;
    }

    /** Joins the owners of each spanning commit in a batch; a commit never lies in two batches. */
    void join(List<WalRow> batch, Predicate<WalRow> isReplay) {
      for (int from = 0; from < batch.size(); ) {
        int to = from + 1;
        while (to < batch.size() && isSameRecord(batch.get(from), batch.get(to))) {
          to++;
        }
        String first = null;
        for (int i = from; i < to && spans(batch, from, to); i++) {
          String owner = batch.get(i).owner().encoded();
          if (isReplay.test(batch.get(i))) {
            first = first == null ? owner : first;
            join(first, owner);
          }
        }
        from = to;
      }
    }

    private static boolean isSameRecord(WalRow a, WalRow b) {
      return a.wal() == b.wal() && a.sequence() == b.sequence();
    }

    private static boolean spans(List<WalRow> batch, int from, int to) {
      return !batch.get(from).owner().equals(batch.get(to - 1).owner());
    }

    private void join(String a, String b) {
      String rootA = root(a);
      String rootB = root(b);
      if (!rootA.equals(rootB)) {
        parents.put(rootB, rootA);
      }
    }

    /** The owner that stands for all that traded with this one; itself when nobody did. */
    String root(String owner) {
      String root = owner;
      for (String parent; (parent = parents.get(root)) != null; ) {
        root = parent;
      }
      for (String at = owner; !at.equals(root); ) { // shorter ways next time
        String next = parents.put(at, root);
        at = next == null ? root : next;
      }
      return root;
    }

    private static int bucketOf(String owner) {
      int h = owner.hashCode() * 0x9E3779B9;
      return h >>> 24;
    }

    /** The bucket that an owner is replayed with. */
    int bucket(String owner) {
      return bucketOf(root(owner));
    }

    /**
     * Bytes that each bucket is to replay, nearly: owners that traded count where they are alone.
     */
    long[] bytes() {
      return bytes.clone();
    }
  }
}
