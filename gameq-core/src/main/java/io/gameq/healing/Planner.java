package io.gameq.healing;

import io.gameq.healing.Lookups.ReplayRedis;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.RowLookup.Verdict;
import io.gameq.healing.WalFolder.Count;
import io.gameq.healing.WalFolder.WalSet;
import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.JournalMarks;
import io.gameq.rows.EncodedRow;
import io.gameq.terminal.Shown;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Finds out what became of the newest change of each row that WALs hold. Changes nothing. One
 * thread.
 *
 * <pre>
 * for all owners; where these do not fit into memory, for each half of them, and so on:
 *   1. folds the WALs: the newest version of each row that was not marked failed, the newest
 *      session of each owner
 *   2. a few thousand rows at a time:
 *        RowLookup   asks Redis, then MySQL: what Redis no longer had was in MySQL by then
 *                    and decides what became of each row, by who owns now
 *        and what was committed together stands or falls together: DurableTruth
 *   3. hands what is lost to whoever replays it
 * </pre>
 *
 * <p>Memory holds a part of the rows, as large as the heap allows.
 */
public final class Planner {
  /** Rows that are asked about at a time. */
  private static final int BATCH_ROWS = 5_000;

  private static final int BATCH_BYTES = 16 << 20;

  /** What a row and an owner take in memory besides key and image, rather too much. */
  private static final int BYTES_PER_ROW = 300;

  private static final int BYTES_PER_OWNER = 500;

  /** The same of each row that was committed together with one; of more they take a share. */
  private static final int BYTES_PER_ROW_TOGETHER = 150;

  private static final int MOST_ROWS_TOGETHER = 16;

  /** Of one part, whatever it takes: then a single owner takes too much. */
  private static final int MOST_PARTS = 1 << 16;

  /** Of an image: the version, which tells who holds a commit. */
  private static final int VERSION_BYTES = 17;

  private final WalSet wals;
  private final Lookups lookups;
  private final Options options;
  private final Consumer<String> progress;
  private final RowLookup lookup;
  private final BitSet alive = new BitSet();
  private final BitSet written = new BitSet();
  private List<JournalMarks> marks = List.of();
  private long mostBytes = Runtime.getRuntime().maxMemory() * 4 / 10;

  /**
   * What is wanted.
   *
   * @param owners encoded ids, whose inboxes are wanted too; empty for all
   * @param includeLive whether WALs of nodes that are alive count as those of nodes that are gone
   * @param contents whether rows come with what MySQL and Redis hold; a comparison needs it
   * @param compare whether rows are compared where versions are the same
   */
  public record Options(
      Set<String> owners, boolean includeLive, boolean contents, boolean compare) {
    public Options {
      owners = Set.copyOf(owners);
    }
  }

  public Planner(WalSet wals, Lookups lookups, Options options, Consumer<String> progress) {
    this.wals = wals;
    this.lookups = lookups;
    this.options = options;
    this.progress = progress;
    this.lookup =
        new RowLookup(
            lookups,
            lookups.codec(wals),
            options.contents() || options.compare(),
            options.compare(),
            this::isHealed);
  }

  /** Takes more readings rather than more memory. */
  public Planner withMostBytes(long most) {
    mostBytes = most;
    return this;
  }

  WalSet wals() {
    return wals;
  }

  Lookups lookups() {
    return lookups;
  }

  /** The numbers of the WALs of nodes that are alive; known once planned. */
  public BitSet alive() {
    BitSet all = (BitSet) alive.clone();
    all.or(written);
    return all;
  }

  /** WALs that no node heals by itself; known once planned. */
  public List<WalFolder> gone() {
    List<WalFolder> gone = new ArrayList<>(wals.folders());
    gone.removeIf(folder -> isHealed(wals.folders().indexOf(folder)));
    return gone;
  }

  private boolean isHealed(int wal) {
    return written.get(wal) || (alive.get(wal) && !options.includeLive());
  }

  /**
   * Whether a process on this host writes a WAL; known once planned. It may yet mark a commit as
   * failed that was read without the mark, and tell the game so: nothing of it is ever replayed.
   */
  public boolean isBeingWritten(int wal) {
    return written.get(wal);
  }

  /**
   * Plans all WALs.
   *
   * @param rows takes the plan
   * @throws io.gameq.GameQueueException when a server does not answer
   */
  public void plan(Consumer<PlannedRow> rows) {
    plan(rows, lost -> {});
  }

  /**
   * Plans all WALs.
   *
   * @param lost takes the owners with rows to replay, those together that are to become visible
   *     together; for each part of the owners once all its rows were handed over
   */
  void plan(Consumer<PlannedRow> rows, Consumer<List<List<FoldedOwner>>> lost) {
    // Before the WALs are read: a node that ends meanwhile may have added marks behind the reader.
    for (int i = 0; i < wals.folders().size(); i++) {
      written.set(i, WalDirectory.isBeingWritten(wals.folders().get(i).directory()));
    }
    ReplayRedis redis = lookups.redis();
    if (redis != null) {
      marks =
          wals.folders().stream()
              .map(of -> JournalMarks.read(redis.connection(), redis.slots(), of.id()))
              .toList();
    }
    plan(0, 1, rows, lost);
  }

  /** Plans one of so many parts of the owners, or two halves of it. */
  private void plan(
      int part, int of, Consumer<PlannedRow> rows, Consumer<List<List<FoldedOwner>>> lost) {
    Fold fold = fold(part, of);
    if (fold.isFull) {
      plan(part, 2 * of, rows, lost);
      plan(part + of, 2 * of, rows, lost);
      return;
    }
    ReplayRedis redis = lookups.redis();
    for (int i = 0; i < wals.folders().size() && redis != null; i++) {
      if (redis.aliveNode(wals.folders().get(i).process()) != null) {
        alive.set(i);
      }
    }
    progress.accept("looking rows up");
    lost.accept(together(lookUp(fold, rows)));
  }

  /** Once more where it turned out that commits had failed. */
  private Fold fold(int part, int of) {
    Fold fold;
    long failedBefore;
    do {
      failedBefore = failed();
      progress.accept("reading WALs" + (of == 1 ? "" : ", part %s of %s".formatted(part + 1, of)));
      Fold next = new Fold(options.owners(), part, of, mostBytes);
      wals.read((entry, wal) -> next.add(entry, wal, isFailed(wal, entry)));
      fold = next;
    } while (failed() > failedBefore);
    return fold;
  }

  private long failed() {
    return wals.folders().stream().mapToLong(folder -> folder.count(Count.FAILED)).sum();
  }

  private boolean isFailed(int wal, WalReader.Entry entry) {
    return entry.record() instanceof WalRecord.Committed commit
        && (wals.folders().get(wal).isFailed(entry.sequence())
            || wasRefused(wal, entry.sequence(), commit));
  }

  /** Whether Redis refused a commit, and its node died before it heard of that. */
  private boolean wasRefused(int wal, long sequence, WalRecord.Committed commit) {
    ReplayRedis redis = lookups.redis();
    return redis != null
        && marks.get(wal).wasRefused(sequence, false)
        && commit.parts().stream()
            .mapToInt(part -> OwnerId.ofEncoded(part.owner()).slot(redis.slots().length))
            .noneMatch(slot -> marks.get(wal).lacks(slot, sequence));
  }

  /** What WALs say of an owner: its newest session, and the newest change of each row. */
  static final class FoldedOwner {
    final OwnerId id;
    private SessionId newest;
    private int wal;
    private final Map<String, WalRow> rows = new LinkedHashMap<>();
    private final List<WalRow> toReplay = new ArrayList<>();

    FoldedOwner(String owner, SessionId session, int wal) {
      this.id = OwnerId.ofEncoded(owner);
      this.newest = session;
      this.wal = wal;
    }

    private SessionId session(String text, int itsWal) {
      if (newest.text().equals(text)) {
        return newest;
      }
      SessionId session = SessionId.parse(text);
      if (session.isNewerThan(newest)) {
        newest = session;
        wal = itsWal;
      }
      return session;
    }

    SessionId newest() {
      return newest;
    }

    /** The number of the WAL that the newest session was found in. */
    int wal() {
      return wal;
    }

    Collection<WalRow> rows() {
      return rows.values();
    }

    List<WalRow> toReplay() {
      return toReplay;
    }
  }

  /**
   * What the WALs say that the rows of some owners should be.
   *
   * <p>A row may stand in several WALs in one version: committed under one session and adopted by
   * the next. The newest of these sessions counts.
   */
  static final class Fold {
    private final Map<String, FoldedOwner> owners = new LinkedHashMap<>();
    private final Set<String> wanted;
    private final int part;
    private final int of;
    private final long mostBytes;
    private long bytes;
    private boolean isFull;

    /**
     * Of the owners of one part; {@code of} is a power of two.
     *
     * @param wanted encoded ids; empty for all
     * @param mostBytes beyond it nothing is kept, and {@link #isFull} says so
     */
    Fold(Set<String> wanted, int part, int of, long mostBytes) {
      this.wanted = wanted;
      this.part = part;
      this.of = of;
      this.mostBytes = mostBytes;
    }

    /** Takes a record; of a commit that failed the sessions alone. */
    void add(WalReader.Entry entry, int wal, boolean isFailed) {
      List<WalRecord.Part> all = entry.record().parts();
      if (isFull || all.isEmpty()) {
        return;
      }
      List<WalRecord.Part> versions = all.size() < 2 || isFailed ? List.of() : versions(all);
      for (WalRecord.Part some : all) {
        String base = OwnerId.baseOf(some.owner());
        boolean isWanted =
            (wanted.isEmpty() || wanted.contains(base))
                && (base.hashCode() * 0x9E3779B9 >>> 16 & of - 1) == part;
        if (isWanted || (all.size() > 1 && base.equals(some.owner()))) { // who commits together
          FoldedOwner owner = owner(some, wal);
          SessionId session = owner.session(some.session(), wal);
          if (isWanted && !isFailed) {
            some.rows().forEach(row -> add(owner, session, row, wal, entry.sequence(), versions));
          }
        }
      }
      if (bytes > mostBytes && of < MOST_PARTS) {
        isFull = true;
        owners.clear();
      }
    }

    private FoldedOwner owner(WalRecord.Part some, int wal) {
      return owners.computeIfAbsent(
          some.owner(),
          owner -> {
            bytes += BYTES_PER_OWNER + 4L * owner.length();
            return new FoldedOwner(owner, SessionId.parse(some.session()), wal);
          });
    }

    private void add(
        FoldedOwner owner,
        SessionId session,
        EncodedRow row,
        int wal,
        long sequence,
        List<WalRecord.Part> versions) {
      long version = WalRow.version(row.image());
      WalRow known = owner.rows.get(row.key());
      int newer = known == null ? 1 : Long.compareUnsigned(version, known.version());
      if (newer > 0 || (newer == 0 && known != null && session.isNewerThan(known.session()))) {
        owner.rows.remove(row.key()); // they stay in the order of the WALs
        WalRow next = new WalRow(owner.id, session, row, version, wal, sequence, versions);
        owner.rows.put(row.key(), next);
        bytes += bytes(next) - (known == null ? 0 : bytes(known));
      }
    }

    private static long bytes(WalRow row) {
      long together = row.together().stream().mapToInt(part -> part.rows().size()).sum();
      return BYTES_PER_ROW
          + row.key().length()
          + row.image().length
          + BYTES_PER_ROW_TOGETHER * Math.min(together, MOST_ROWS_TOGETHER);
    }

    private static List<WalRecord.Part> versions(List<WalRecord.Part> parts) {
      return parts.stream()
          .map(
              part ->
                  new WalRecord.Part(
                      part.owner(),
                      part.session(),
                      part.rows().stream().map(Fold::version).toList()))
          .toList();
    }

    private static EncodedRow version(EncodedRow row) {
      int length = Math.min(VERSION_BYTES, row.image().length);
      return new EncodedRow(row.key(), Arrays.copyOf(row.image(), length));
    }

    boolean isFull() {
      return isFull;
    }

    Collection<FoldedOwner> owners() {
      return owners.values();
    }

    SessionId newestSession(OwnerId owner) {
      return Objects.requireNonNull(owners.get(owner.encoded()), owner::id).newest;
    }
  }

  /** Names a commit. */
  private record CommitName(int wal, long sequence) {
    static CommitName of(WalRow row) {
      return new CommitName(row.wal(), row.sequence());
    }
  }

  /** Returns the owners with rows to replay. */
  private List<FoldedOwner> lookUp(Fold fold, Consumer<PlannedRow> sink) {
    Map<CommitName, String> conflicts = new HashMap<>();
    List<WalRow> batch = new ArrayList<>();
    long bytes = 0;
    for (FoldedOwner owner : fold.owners()) {
      for (WalRow row : owner.rows()) {
        batch.add(row);
        bytes += Fold.bytes(row);
        if (batch.size() >= BATCH_ROWS || bytes >= BATCH_BYTES) {
          lookUp(fold, batch, conflicts, sink);
          batch.clear();
          bytes = 0;
        }
      }
    }
    lookUp(fold, batch, conflicts, sink);
    return fold.owners().stream().filter(owner -> !owner.toReplay.isEmpty()).toList();
  }

  private void lookUp(
      Fold fold, List<WalRow> batch, Map<CommitName, String> conflicts, Consumer<PlannedRow> sink) {
    List<PlannedRow> rows = lookup.classify(batch, fold::newestSession);
    findConflicts(fold, rows, conflicts);
    for (PlannedRow row : rows) {
      String conflict = conflicts.getOrDefault(CommitName.of(row.change()), "");
      PlannedRow planned =
          conflict.isEmpty() || !isMissing(row)
              ? row
              : row.as(Status.CONFLICT, (row.owner().isInbox() ? "sent" : "committed") + conflict);
      if (planned.isReplayed()) {
        Objects.requireNonNull(fold.owners.get(row.owner().encoded())).toReplay.add(row.change());
      }
      sink.accept(planned);
    }
  }

  private static boolean isMissing(PlannedRow row) {
    return row.status() == Status.LOST || row.status() == Status.LIVE;
  }

  /** Half of what was committed together is not replayed: it is a conflict like the other. */
  private void findConflicts(Fold fold, List<PlannedRow> rows, Map<CommitName, String> conflicts) {
    Map<CommitName, List<WalRecord.Part>> missing = new LinkedHashMap<>();
    for (PlannedRow row : rows) {
      List<WalRecord.Part> sessions =
          row.change().together().stream()
              .filter(part -> OwnerId.baseOf(part.owner()).equals(part.owner()))
              .toList();
      CommitName commit = CommitName.of(row.change());
      if (isMissing(row) && !sessions.isEmpty() && !conflicts.containsKey(commit)) {
        missing.put(commit, sessions);
      }
    }
    Map<OwnerId, Durable> durable =
        lookups
            .database()
            .owners()
            .durable(
                missing.values().stream()
                    .flatMap(List::stream)
                    .map(part -> OwnerId.ofEncoded(part.owner()))
                    .collect(Collectors.toSet()));
    long untilNanos = System.nanoTime() + DurableTruth.MOST_WAIT_NANOS;
    missing.forEach(
        (commit, sessions) ->
            conflicts.put(
                commit,
                sessions.stream()
                    .map(part -> conflict(fold, part, durable, untilNanos))
                    .filter(conflict -> !conflict.isEmpty())
                    .findFirst()
                    .orElse("")));
  }

  /** Why nobody holds a part of a commit, or ever will; empty when that is not so. */
  private String conflict(
      Fold fold, WalRecord.Part part, Map<OwnerId, Durable> durable, long untilNanos) {
    OwnerId owner = OwnerId.ofEncoded(part.owner());
    Verdict verdict =
        RowLookup.judge(
            SessionId.parse(part.session()),
            fold.newestSession(owner),
            durable.get(owner),
            lookups.ownedBy(owner));
    return verdict.under() == null
            && !part.rows().isEmpty()
            && !lookups.truth().isThere(lookups.connection(), part, untilNanos)
        ? " together with %s %s, a conflict: %s"
            .formatted(Shown.text(part.rows().get(0).key()), Shown.whose(owner), verdict.conflict())
        : "";
  }

  /** Owners whose lost rows were committed together become visible together. */
  static List<List<FoldedOwner>> together(List<FoldedOwner> lost) {
    Map<FoldedOwner, List<FoldedOwner>> groups = new LinkedHashMap<>();
    lost.forEach(owner -> groups.put(owner, new ArrayList<>(List.of(owner))));
    Map<CommitName, FoldedOwner> first = new HashMap<>();
    for (FoldedOwner owner : lost) {
      for (WalRow row : owner.toReplay) {
        FoldedOwner partner =
            row.together().isEmpty() ? null : first.putIfAbsent(CommitName.of(row), owner);
        if (partner != null) {
          join(groups, partner, owner);
        }
      }
    }
    List<List<FoldedOwner>> distinct = new ArrayList<>();
    groups.forEach(
        (owner, group) -> {
          if (group.get(0) == owner) {
            distinct.add(group);
          }
        });
    return distinct;
  }

  private static void join(
      Map<FoldedOwner, List<FoldedOwner>> groups, FoldedOwner a, FoldedOwner b) {
    List<FoldedOwner> ofA = Objects.requireNonNull(groups.get(a));
    List<FoldedOwner> ofB = Objects.requireNonNull(groups.get(b));
    if (ofA != ofB) {
      List<FoldedOwner> larger = ofA.size() < ofB.size() ? ofB : ofA;
      List<FoldedOwner> smaller = ofA.size() < ofB.size() ? ofA : ofB;
      larger.addAll(smaller);
      smaller.forEach(owner -> groups.put(owner, larger));
    }
  }
}
