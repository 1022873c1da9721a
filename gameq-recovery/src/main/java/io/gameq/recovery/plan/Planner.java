package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.plan.RowIndex.Newest;
import io.gameq.recovery.plan.RowIndex.State;
import io.gameq.recovery.wal.Versions;
import io.gameq.recovery.wal.WalFolder;
import io.gameq.recovery.wal.WalSet;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Finds out what became of the newest change of each row that WALs hold: the steps stand in the
 * package comment. One thread.
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
  private final Map<String, OwnerId> owners = new HashMap<>();
  private final Map<String, SessionId> sessions = new HashMap<>();
  private long mostIndexedRows = Runtime.getRuntime().maxMemory() * 4 / 10 / RowIndex.BYTES_PER_ROW;
  private BitSet alive = new BitSet();
  private BitSet written = new BitSet();

  /**
   * What is wanted.
   *
   * @param owners encoded ids; empty for all
   * @param includeLive whether WALs of nodes that are alive count as those of nodes that are gone
   * @param held whether rows come with what MySQL and Redis hold
   * @param compare whether rows are compared where versions are the same
   */
  public record Options(Set<String> owners, boolean includeLive, boolean held, boolean compare) {
    public Options {
      owners = Set.copyOf(owners);
    }
  }

  /** Takes the plan. */
  public interface Sink {
    void row(PlannedRow row);

    /** All rows of a group of owners were handed over. */
    default void group(Group group) {}
  }

  /**
   * A planned group of owners: which rows of it to replay.
   *
   * @param number which group, below {@code of}, a power of two
   */
  public record Group(
      RowIndex index, OwnerIndex owners, RowHash hash, TradeGroups trades, int number, int of) {
    /** Whether an owner is of this group. */
    boolean has(RowHash owner) {
      return ((int) (owner.high() >>> 48) & (of - 1)) == number;
    }
  }

  public Planner(WalSet wals, Lookups lookups, Options options, Consumer<String> progress) {
    this.wals = wals;
    this.lookups = lookups;
    this.options = options;
    this.progress = progress;
  }

  /** For tests: fewer rows at a time. */
  Planner withMostIndexedRows(long most) {
    mostIndexedRows = most;
    return this;
  }

  /** WALs of nodes that are alive; known once planned. */
  public BitSet alive() {
    BitSet both = (BitSet) alive.clone();
    both.or(written);
    return both;
  }

  /** Whether a process on this host writes a WAL; known once planned. */
  public boolean isBeingWritten(int wal) {
    return written.get(wal);
  }

  /**
   * Plans all WALs.
   *
   * @throws io.gameq.GameQueueException when a server does not answer
   */
  public void plan(Sink sink) {
    // Before the WALs are read: a node that ends meanwhile may have added marks behind the reader.
    written = Lookups.beingWritten(wals);
    int groups = 1;
    for (int number = 0; number < groups; number++) {
      Group group = index(number, groups);
      if (number == 0) {
        if (wals.folders().stream().anyMatch(folder -> folder.failed() > 0)) {
          group = index(0, groups); // which commits had failed was not known before
        }
        while (group.index().isFull()) {
          groups *= 2;
          group = index(0, groups);
        }
        alive = lookups.alive(wals);
      }
      classify(group, sink);
      sink.group(group);
    }
  }

  // --- first reading

  private Group index(int number, int of) {
    long most = number == 0 ? mostIndexedRows : Long.MAX_VALUE;
    Group group =
        new Group(new RowIndex(most), new OwnerIndex(), hash, new TradeGroups(), number, of);
    progress.accept("reading WALs" + (of == 1 ? "" : ", part %d of %d".formatted(number + 1, of)));
    wals.read((wal, entry) -> index(group, wal, entry));
    return group;
  }

  private void index(Group group, int wal, WalReader.Entry entry) {
    boolean failed = isFailed(wal, entry);
    for (WalRecord.Part part : WalSet.parts(entry.record())) {
      if (!isWanted(group, part)) {
        continue;
      }
      long epoch = epoch(part.session());
      group.owners().note(hash, epoch, nonce(part.session()), wal);
      if (!failed) {
        for (EncodedRow row : part.rows()) {
          group.index().note(hash.row(row.key()), Versions.of(row.image()), epoch);
        }
      }
    }
  }

  /** Leaves the owner in the hash. */
  private boolean isWanted(Group group, WalRecord.Part part) {
    return (options.owners().isEmpty() || options.owners().contains(part.owner()))
        && group.has(hash.owner(part.owner()));
  }

  private boolean isFailed(int wal, WalReader.Entry entry) {
    return entry.record() instanceof WalRecord.Committed
        && wals.folders().get(wal).isFailed(entry.sequence());
  }

  static long epoch(String session) {
    return Long.parseUnsignedLong(session, 0, 16, 16);
  }

  private static long nonce(String session) {
    return Long.parseUnsignedLong(session, 17, 33, 16);
  }

  // --- second reading

  private void classify(Group group, Sink sink) {
    progress.accept("looking rows up");
    Classification classification =
        new Classification(
            lookups,
            wals,
            options,
            new Classification.Live(alive, written),
            owner -> group.owners().find(hash.owner(owner)));
    List<Candidate> batch = new ArrayList<>();
    long[] bytes = {0};
    wals.read(
        (wal, entry) -> {
          if (isFailed(wal, entry)) {
            return;
          }
          for (WalRecord.Part part : WalSet.parts(entry.record())) {
            bytes[0] += candidates(group, wal, entry, part, batch);
          }
          if (batch.size() >= BATCH_ROWS || bytes[0] >= BATCH_BYTES) {
            classify(group, classification, batch, sink);
            bytes[0] = 0;
          }
        });
    classify(group, classification, batch, sink);
  }

  private void classify(
      Group group, Classification classification, List<Candidate> batch, Sink sink) {
    for (PlannedRow row : classification.classify(batch)) {
      boolean replay =
          row.status() == Status.LOST || (row.status() == Status.IN_REDIS && row.restoresSession());
      if (replay) {
        long epoch = row.session().epoch();
        RowHash key = hash.owner(row.owner().encoded()).row(row.key());
        Objects.requireNonNull(group.index().find(key, row.version(), epoch)).state =
            State.TO_REPLAY;
        group
            .trades()
            .count(row.owner().encoded(), row.encoded().image().length + row.key().length());
      }
      sink.row(row);
    }
    group.trades().join(batch, candidate -> isReplay(group, candidate));
    batch.clear();
    if (owners.size() > MOST_NAMES) {
      owners.clear();
    }
    if (sessions.size() > MOST_NAMES) {
      sessions.clear();
    }
  }

  private boolean isReplay(Group group, Candidate row) {
    RowHash key = hash.owner(row.owner().encoded()).row(row.key());
    Newest newest = group.index().find(key, row.version(), row.session().epoch());
    return newest != null && newest.state == State.TO_REPLAY;
  }

  /** Adds the rows of a part that are the newest; returns their bytes. */
  private long candidates(
      Group group, int wal, WalReader.Entry entry, WalRecord.Part part, List<Candidate> into) {
    if (!isWanted(group, part)) {
      return 0;
    }
    long bytes = 0;
    long epoch = epoch(part.session());
    for (EncodedRow row : part.rows()) {
      long version = Versions.of(row.image());
      Newest newest = group.index().find(hash.row(row.key()), version, epoch);
      if (newest != null && newest.state == State.UNSEEN) {
        newest.state = State.SEEN;
        OwnerId owner = owners.computeIfAbsent(part.owner(), OwnerId::ofEncoded);
        SessionId session = sessions.computeIfAbsent(part.session(), SessionId::parse);
        into.add(new Candidate(owner, session, row, version, wal, entry.sequence()));
        bytes += row.image().length;
      }
    }
    return bytes;
  }

  // --- third reading

  /**
   * Reads the images of the rows to replay, again, in the order of the WALs.
   *
   * @param wanted which owners, encoded
   */
  public void readLost(Group group, Predicate<String> wanted, Lost sink) {
    wals.read(
        (wal, entry) -> {
          if (isFailed(wal, entry)) {
            return;
          }
          for (WalRecord.Part part : WalSet.parts(entry.record())) {
            if (isWanted(group, part)) {
              readLost(group, wanted, part, sink);
            }
          }
        });
  }

  private void readLost(Group group, Predicate<String> wanted, WalRecord.Part part, Lost sink) {
    long epoch = epoch(part.session());
    for (EncodedRow row : part.rows()) {
      Newest newest = group.index().find(hash.row(row.key()), Versions.of(row.image()), epoch);
      if (newest != null && newest.state == State.TO_REPLAY && wanted.test(part.owner())) {
        newest.state = State.SEEN; // in several WALs it may stand
        sink.row(part.owner(), part.session(), row);
      }
    }
  }

  /** Takes rows to replay. */
  public interface Lost {
    void row(String owner, String session, EncodedRow row);
  }

  /** The newest session of an owner in the WALs, and the name of its node. */
  public OwnersNewest newest(Group group, OwnerId owner) {
    OwnerIndex.Newest newest =
        Objects.requireNonNull(group.owners().find(hash.owner(owner.encoded())));
    WalFolder folder = wals.folders().get(newest.wal());
    return new OwnersNewest(newest.session(), folder.node(), alive().get(newest.wal()));
  }

  /** The newest session of an owner in the WALs. */
  public record OwnersNewest(SessionId session, String node, boolean alive) {}
}
