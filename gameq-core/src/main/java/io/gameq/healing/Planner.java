package io.gameq.healing;

import io.gameq.healing.Fold.FoldedOwner;
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
import io.gameq.terminal.Shown;
import io.gameq.wal.WalDirectory;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

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

  /** A single owner takes too much then, whatever the heap. */
  private static final int MOST_PARTS = 1 << 16;

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
      Fold next =
          new Fold(options.owners(), part, of, of < MOST_PARTS ? mostBytes : Long.MAX_VALUE);
      wals.read((entry, wal) -> next.add(entry, wal, isFailed(wal, entry)));
      fold = next;
    } while (failed() > failedBefore);
    return fold;
  }

  private long failed() {
    return wals.folders().stream().mapToLong(folder -> folder.count(Count.FAILED)).sum();
  }

  private boolean isFailed(int wal, WalRecord.Entry entry) {
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

  /** Names a commit. */
  private record CommitName(int wal, long sequence) {
    CommitName(WalRow row) {
      this(row.wal(), row.sequence());
    }
  }

  /** Returns the owners with rows to replay. */
  private List<FoldedOwner> lookUp(Fold fold, Consumer<PlannedRow> sink) {
    Map<CommitName, String> conflicts = new HashMap<>();
    List<WalRow> batch = new ArrayList<>();
    long bytes = 0;
    for (FoldedOwner owner : fold.owners()) {
      for (WalRow row : owner.rows.values()) {
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
    List<PlannedRow> rows = lookup.classify(batch, fold);
    Map<OwnerId, Durable> durable =
        lookups.durable(
            rows.stream()
                .filter(Planner::isMissing)
                .flatMap(row -> sessionsTogether(row.change()))
                .map(part -> OwnerId.ofEncoded(part.owner())));
    long untilNanos = System.nanoTime() + DurableTruth.MOST_WAIT_NANOS;
    for (PlannedRow row : rows) {
      WalRow change = row.change();
      PlannedRow planned = row;
      if (isMissing(row) && !change.together().isEmpty()) {
        String conflict =
            conflicts.computeIfAbsent(
                new CommitName(change),
                of ->
                    sessionsTogether(change)
                        .map(part -> conflict(fold.owner(part), part, durable, untilNanos))
                        .filter(found -> !found.isEmpty())
                        .findFirst()
                        .orElse(""));
        if (!conflict.isEmpty()) { // half of a commit is not replayed: it is one like the other
          String how = row.owner().isInbox() ? "sent" : "committed";
          planned = row.as(Status.CONFLICT, how + conflict);
        }
      }
      if (planned.isReplayed()) {
        fold.owner(row.owner()).toReplay.add(change);
      }
      sink.accept(planned);
    }
  }

  private static boolean isMissing(PlannedRow row) {
    return row.status() == Status.LOST || row.status() == Status.LIVE;
  }

  /** The sessions that committed a row together, where there are several parts. */
  private static Stream<WalRecord.Part> sessionsTogether(WalRow row) {
    return row.together().stream()
        .filter(part -> OwnerId.baseOf(part.owner()).equals(part.owner()));
  }

  /** Why nobody holds a part of a commit, or ever will; empty when that is not so. */
  private String conflict(
      FoldedOwner owner, WalRecord.Part part, Map<OwnerId, Durable> durable, long untilNanos) {
    Verdict verdict =
        RowLookup.judge(
            SessionId.parse(part.session()),
            owner.newest,
            durable.get(owner.id),
            lookups.ownedBy(owner.id));
    return verdict.under() == null
            && !part.rows().isEmpty()
            && !lookups.truth().isThere(lookups.connection(), part, untilNanos)
        ? " together with %s %s, a conflict: %s"
            .formatted(
                Shown.text(part.rows().get(0).key()), Shown.whose(owner.id), verdict.conflict())
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
            row.together().isEmpty() ? null : first.putIfAbsent(new CommitName(row), owner);
        if (partner != null) {
          join(
              groups,
              Objects.requireNonNull(groups.get(partner)),
              Objects.requireNonNull(groups.get(owner)));
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

  /** The smaller list goes, so that each owner moves few times. */
  private static void join(
      Map<FoldedOwner, List<FoldedOwner>> groups, List<FoldedOwner> a, List<FoldedOwner> b) {
    if (a != b && a.size() < b.size()) {
      join(groups, b, a);
    } else if (a != b) {
      a.addAll(b);
      b.forEach(owner -> groups.put(owner, a));
    }
  }
}
