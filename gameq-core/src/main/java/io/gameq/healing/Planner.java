package io.gameq.healing;

import io.gameq.healing.LeftWalReplay.Lookups;
import io.gameq.healing.LeftWalReplay.ReplayRedis;
import io.gameq.healing.LeftWalReplay.WalSet;
import io.gameq.healing.OwnerGroup.RowHash;
import io.gameq.healing.OwnerGroup.State;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.WalReplay.Ownership;
import io.gameq.healing.WalReplay.Ownership.Conflict;
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
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Finds out what became of the newest change of each row that WALs hold. Changes nothing. One
 * thread.
 *
 * <pre>
 * for each OwnerGroup that fits into memory:
 *   1. reads the WALs: the newest version of each row that was not marked failed, the newest
 *      session of each owner
 *   2. reads them again; a few thousand rows (WalRow) at a time:
 *        RowLookup   asks Redis, then MySQL: what Redis no longer had was in MySQL by then
 *                    and decides what became of each row, by Ownership: whose it is now
 *        and what was committed together stands or falls together: DurableTruth
 *   3. hands the group to whoever replays what is lost, who reads the images a third time
 * </pre>
 *
 * Memory holds hashes and versions, never all rows.
 */
public final class Planner {
  /** Rows that are asked about at a time. */
  private static final int BATCH_ROWS = 5_000;

  private static final int BATCH_BYTES = 16 << 20;

  /** Names that are parsed once; forgotten when there are more. */
  private static final int MOST_NAMES = 20_000;

  private final WalSet wals;
  private final Lookups lookups;
  private final Options options;
  private final Consumer<String> progress;
  private final RowHash hash = new RowHash();
  private final BitSet alive = new BitSet();
  private final BitSet written = new BitSet();
  private List<JournalMarks> marks = List.of();
  private int slots;
  private long mostIndexedRows =
      Runtime.getRuntime().maxMemory() * 4 / 10 / OwnerGroup.BYTES_PER_ROW;

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
      contents |= compare;
    }
  }

  public Planner(WalSet wals, Lookups lookups, Options options, Consumer<String> progress) {
    this.wals = wals;
    this.lookups = lookups;
    this.options = options;
    this.progress = progress;
  }

  /** Takes more readings rather than more memory. */
  public Planner withMostIndexedRows(long most) {
    mostIndexedRows = most;
    return this;
  }

  /** The numbers of the WALs of nodes that are alive; known once planned. */
  public BitSet alive() {
    BitSet all = (BitSet) alive.clone();
    all.or(written);
    return all;
  }

  /** WALs that no node heals by itself; known once planned. */
  public List<WalFolder> gone() {
    List<WalFolder> gone = new ArrayList<>();
    for (int i = 0; i < wals.folders().size(); i++) {
      if (!isHealed(i)) {
        gone.add(wals.folders().get(i));
      }
    }
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
   * @param groups takes each group of owners, once all its rows were handed over
   * @throws io.gameq.GameQueueException when a server does not answer
   */
  public void plan(Consumer<PlannedRow> rows, Consumer<OwnerGroup> groups) {
    List<WalFolder> folders = wals.folders();
    // Before the WALs are read: a node that ends meanwhile may have added marks behind the reader.
    for (int i = 0; i < folders.size(); i++) {
      written.set(i, WalDirectory.isBeingWritten(folders.get(i).directory()));
    }
    ReplayRedis redis = lookups.redis();
    if (redis != null) {
      slots = redis.slots().length;
      marks =
          folders.stream()
              .map(of -> JournalMarks.read(redis.connection(), redis.slots(), of.id()))
              .toList();
    }
    int count = 1;
    for (int number = 0; number < count; number++) {
      OwnerGroup group = index(number, count);
      if (number == 0) {
        if (folders.stream().anyMatch(folder -> folder.failed() > 0)) {
          group = index(0, count); // which commits had failed was not known before
        }
        while (group.isFull()) {
          count *= 2;
          group = index(0, count);
        }
        for (int i = 0; i < folders.size() && redis != null; i++) {
          alive.set(i, redis.aliveNode(folders.get(i).process()) != null);
        }
      }
      progress.accept("looking rows up");
      new Batches(group, rows).run();
      groups.accept(group);
    }
  }

  /** The first reading. */
  private OwnerGroup index(int number, int of) {
    OwnerGroup group =
        new OwnerGroup(hash, number, of, number == 0 ? mostIndexedRows : Long.MAX_VALUE);
    progress.accept("reading WALs" + (of == 1 ? "" : ", part %s of %s".formatted(number + 1, of)));
    wals.read(
        (entry, wal) -> {
          boolean failed = isFailed(wal, entry);
          for (WalRecord.Part part : entry.record().parts()) {
            if (isWanted(group, part)) {
              group.note(wal, part, failed);
            }
          }
          sessionsTogether(entry).forEach(part -> group.noteSession(wal, part));
        });
    return group;
  }

  /** The wanted parts of a record; none of a commit that failed. */
  private List<WalRecord.Part> wanted(OwnerGroup group, int wal, WalReader.Entry entry) {
    return isFailed(wal, entry)
        ? List.of()
        : entry.record().parts().stream().filter(part -> isWanted(group, part)).toList();
  }

  private boolean isFailed(int wal, WalReader.Entry entry) {
    return entry.record() instanceof WalRecord.Committed commit
        && (wals.folders().get(wal).isFailed(entry.sequence())
            || wasRefused(wal, entry.sequence(), commit));
  }

  /** Whether Redis refused a commit, and its node died before it heard of that. */
  private boolean wasRefused(int wal, long sequence, WalRecord.Committed commit) {
    return !marks.isEmpty()
        && marks.get(wal).wasRefused(sequence, false)
        && commit.parts().stream()
            .mapToInt(part -> OwnerId.ofEncoded(part.owner()).slot(slots))
            .noneMatch(slot -> marks.get(wal).lacks(slot, sequence));
  }

  private boolean isWanted(OwnerGroup group, WalRecord.Part part) {
    return (options.owners().isEmpty() || options.owners().contains(OwnerId.baseOf(part.owner())))
        && group.has(part.owner());
  }

  /** The sessions of a commit of several owners, whoever is wanted: none for that of one. */
  private static List<WalRecord.Part> sessionsTogether(WalReader.Entry entry) {
    List<WalRecord.Part> all = entry.record().parts();
    return all.size() < 2
        ? List.of()
        : all.stream().filter(of -> OwnerId.baseOf(of.owner()).equals(of.owner())).toList();
  }

  /**
   * Reads the images of the rows to replay, in a third reading, in the order of the WALs.
   *
   * @param wanted which owners, encoded
   */
  void readLost(
      OwnerGroup group, Predicate<String> wanted, BiConsumer<WalRecord.Part, EncodedRow> sink) {
    wals.read(
        (entry, wal) -> {
          for (WalRecord.Part part : wanted(group, wal, entry)) {
            if (wanted.test(part.owner())) {
              group.takeNewest(part, State.TO_REPLAY, (row, version) -> sink.accept(part, row));
            }
          }
        });
  }

  /** The second reading of a group: gathers the newest of each row into batches. */
  private final class Batches {
    private final OwnerGroup group;
    private final Consumer<PlannedRow> sink;
    private final RowLookup lookup;
    private final Map<String, OwnerId> owners = new HashMap<>();
    private final Map<String, SessionId> sessions = new HashMap<>();
    private final List<WalRow> batch = new ArrayList<>();
    private final Map<Commit, List<WalRecord.Part>> together = new HashMap<>();
    private long batchBytes;
    private int rowsBefore; // in the batch, when the record began

    Batches(OwnerGroup group, Consumer<PlannedRow> sink) {
      this.group = group;
      this.sink = sink;
      this.lookup =
          new RowLookup(
              lookups,
              wals,
              options,
              Planner.this::isHealed,
              owner -> group.newestSession(owner).session());
    }

    private record Commit(int wal, long sequence) {
      static Commit of(PlannedRow row) {
        return new Commit(row.change().wal(), row.change().sequence());
      }
    }

    void run() {
      wals.read(
          (entry, wal) -> {
            wanted(group, wal, entry).forEach(part -> take(wal, entry.sequence(), part));
            endOfRecord(wal, entry);
          });
      classify();
    }

    private void take(int wal, long sequence, WalRecord.Part part) {
      group.takeNewest(
          part,
          State.UNSEEN,
          (row, version) -> {
            OwnerId owner = owners.computeIfAbsent(part.owner(), OwnerId::ofEncoded);
            SessionId session = sessions.computeIfAbsent(part.session(), SessionId::parse);
            batch.add(new WalRow(owner, session, row, version, wal, sequence));
            batchBytes += row.image().length;
          });
    }

    /** Here alone, so that a commit never lies in two batches. */
    private void endOfRecord(int wal, WalReader.Entry entry) {
      List<WalRecord.Part> sessionsTogether =
          batch.size() > rowsBefore ? sessionsTogether(entry) : List.of();
      if (!sessionsTogether.isEmpty()) {
        together.put(new Commit(wal, entry.sequence()), sessionsTogether);
        for (WalRecord.Part part : sessionsTogether) {
          part.rows().forEach(row -> batchBytes += row.image().length);
        }
      }
      if (batch.size() >= BATCH_ROWS || batchBytes >= BATCH_BYTES) {
        classify();
      }
      rowsBefore = batch.size();
    }

    private void classify() {
      for (PlannedRow row : withTheirCommits(lookup.classify(batch))) {
        if (row.isReplayed()) {
          WalRow change = row.change();
          group.setToReplay(change);
          group
              .trades()
              .count(change.owner().encoded(), change.image().length + change.key().length());
        }
        sink.accept(row);
      }
      group.trades().join(batch, group::isToReplay);
      batch.clear();
      together.clear();
      batchBytes = 0;
      if (owners.size() > MOST_NAMES) {
        owners.clear();
      }
      if (sessions.size() > MOST_NAMES) {
        sessions.clear();
      }
    }

    /** Half of what was committed together is not replayed: it is a conflict like the other. */
    private List<PlannedRow> withTheirCommits(List<PlannedRow> rows) {
      Map<Commit, List<WalRecord.Part>> missing = new HashMap<>();
      for (PlannedRow row : rows) {
        List<WalRecord.Part> sessions = together.get(Commit.of(row));
        if (isMissing(row) && sessions != null) {
          missing.put(Commit.of(row), sessions);
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
      Map<Commit, String> conflicts = new HashMap<>();
      missing.forEach(
          (commit, sessions) ->
              sessions.stream()
                  .map(part -> conflict(part, durable, untilNanos))
                  .filter(conflict -> !conflict.isEmpty())
                  .findFirst()
                  .ifPresent(conflict -> conflicts.put(commit, conflict)));
      return rows.stream()
          .map(
              row -> {
                String conflict = conflicts.get(Commit.of(row));
                return conflict == null || !isMissing(row)
                    ? row
                    : row.as(
                        Status.CONFLICT, (row.owner().isInbox() ? "sent" : "committed") + conflict);
              })
          .toList();
    }

    private static boolean isMissing(PlannedRow row) {
      return row.status() == Status.LOST || row.status() == Status.LIVE;
    }

    /** Why nobody holds a part of a commit, or ever will; empty when that is not so. */
    private String conflict(WalRecord.Part part, Map<OwnerId, Durable> durable, long untilNanos) {
      OwnerId owner = OwnerId.ofEncoded(part.owner());
      SessionId session = SessionId.parse(part.session());
      ReplayRedis redis = lookups.redis();
      Ownership.Verdict verdict =
          Ownership.judge(
              session,
              group.newestSession(owner).session(),
              durable.get(owner),
              redis == null ? null : redis.ownedBy(owner));
      return verdict instanceof Conflict conflict
              && !part.rows().isEmpty()
              && !lookups
                  .truth()
                  .isThere(redis == null ? null : redis.connection(), part, untilNanos)
          ? " together with %s %s, a conflict: %s"
              .formatted(
                  Shown.text(part.rows().get(0).key()), Shown.whose(owner), conflict.reason())
          : "";
    }
  }
}
