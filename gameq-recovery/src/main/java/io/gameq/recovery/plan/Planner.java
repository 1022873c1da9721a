package io.gameq.recovery.plan;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.plan.RowIndex.State;
import io.gameq.recovery.wal.WalFolder;
import io.gameq.recovery.wal.WalSet;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Finds out what became of the newest change of each row that WALs hold: the steps stand in the
 * package comment. One thread.
 */
public final class Planner {
  private final WalSet wals;
  private final Lookups lookups;
  private final Options options;
  private final Consumer<String> progress;
  private final GroupReading reading;
  private final RowHash hash = new RowHash();
  private long mostIndexedRows = Runtime.getRuntime().maxMemory() * 4 / 10 / RowIndex.BYTES_PER_ROW;
  private HealingWals healing = new HealingWals(new BitSet(), new BitSet());

  /**
   * What is wanted.
   *
   * @param owners encoded ids, whose inboxes are wanted too; empty for all
   * @param includeLive whether WALs of nodes that are alive count as those of nodes that are gone
   * @param contents whether rows come with what MySQL and Redis hold
   * @param compare whether rows are compared where versions are the same
   */
  public record Options(
      Set<String> owners, boolean includeLive, boolean contents, boolean compare) {
    public Options {
      owners = Set.copyOf(owners);
    }

    boolean wantsContents() {
      return contents || compare;
    }
  }

  /** Takes the plan. */
  public interface Sink {
    void row(PlannedRow row);

    /** All rows of a group of owners were handed over. */
    default void group(OwnerGroup group) {}
  }

  /** Takes rows to replay. */
  public interface Lost {
    void row(String owner, String session, EncodedRow row);
  }

  /** The newest session of an owner in the WALs. */
  public record OwnersNewest(SessionId session, String node, boolean alive) {}

  public Planner(WalSet wals, Lookups lookups, Options options, Consumer<String> progress) {
    this.wals = wals;
    this.lookups = lookups;
    this.options = options;
    this.progress = progress;
    this.reading = new GroupReading(wals, options.owners());
  }

  /** For tests: fewer rows at a time. */
  Planner withMostIndexedRows(long most) {
    mostIndexedRows = most;
    return this;
  }

  /** WALs of nodes that are alive; known once planned. */
  public BitSet alive() {
    return healing.all();
  }

  /** WALs that no node heals by itself; known once planned. */
  public List<WalFolder> gone() {
    List<WalFolder> gone = new ArrayList<>();
    for (int i = 0; i < wals.folders().size(); i++) {
      if (!healing.heals(i, options.includeLive())) {
        gone.add(wals.folders().get(i));
      }
    }
    return gone;
  }

  /** Whether a process on this host writes a WAL; known once planned. */
  public boolean isBeingWritten(int wal) {
    return healing.written().get(wal);
  }

  /**
   * Plans all WALs.
   *
   * @throws io.gameq.GameQueueException when a server does not answer
   */
  public void plan(Sink sink) {
    // Before the WALs are read: a node that ends meanwhile may have added marks behind the reader.
    BitSet written = Lookups.beingWritten(wals);
    int groups = 1;
    for (int number = 0; number < groups; number++) {
      OwnerGroup group = index(number, groups);
      if (number == 0) {
        if (wals.folders().stream().anyMatch(folder -> folder.failed() > 0)) {
          group = index(0, groups); // which commits had failed was not known before
        }
        while (group.isFull()) {
          groups *= 2;
          group = index(0, groups);
        }
        healing = new HealingWals(lookups.alive(wals), written);
      }
      plan(group, sink);
      sink.group(group);
    }
  }

  /** The first reading. */
  private OwnerGroup index(int number, int of) {
    long most = number == 0 ? mostIndexedRows : Long.MAX_VALUE;
    OwnerGroup group = new OwnerGroup(hash, number, of, most);
    progress.accept("reading WALs" + (of == 1 ? "" : ", part %d of %d".formatted(number + 1, of)));
    reading.index(group);
    return group;
  }

  /** The second reading. */
  private void plan(OwnerGroup group, Sink sink) {
    progress.accept("looking rows up");
    Classification classification =
        new Classification(
            lookups, wals, options, healing, owner -> group.newestSession(owner).session());
    new GroupPlanning(group, classification, sink).plan(reading);
  }

  /**
   * Reads the images of the rows to replay, in a third reading, in the order of the WALs.
   *
   * @param wanted which owners, encoded
   */
  public void readLost(OwnerGroup group, Predicate<String> wanted, Lost sink) {
    reading.read(
        group,
        (wal, sequence, part) -> {
          if (wanted.test(part.owner())) {
            group.takeNewest(
                part,
                State.TO_REPLAY,
                (row, version) -> sink.row(part.owner(), part.session(), row));
          }
        });
  }

  /** The newest session of an owner in the WALs, and the name of its node. */
  public OwnersNewest newest(OwnerGroup group, OwnerId owner) {
    OwnerIndex.Newest newest = group.newestSession(owner);
    WalFolder folder = wals.folders().get(newest.wal());
    return new OwnersNewest(newest.session(), folder.node(), alive().get(newest.wal()));
  }
}
