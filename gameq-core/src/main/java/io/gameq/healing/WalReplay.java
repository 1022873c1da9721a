package io.gameq.healing;

import io.gameq.healing.LeftWalReplay.Lookups;
import io.gameq.healing.LeftWalReplay.ReplayRedis;
import io.gameq.healing.LeftWalReplay.WalSet;
import io.gameq.healing.OwnerGroup.TradeGroups;
import io.gameq.healing.WalReplay.Ownership.Conflict;
import io.gameq.healing.WalReplay.Ownership.Replayable;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.redis.script.LookupScript.ReplayScript.Owner;
import io.gameq.redis.script.NodeSigns;
import io.gameq.rows.EncodedRow;
import io.gameq.terminal.Shown;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Puts back what WALs hold and neither Redis nor MySQL does, while it is {@linkplain Planner
 * planned}: for a node that starts beside a WAL, and for the tool. Every step may be repeated and
 * stopped anywhere: versions are compared wherever something is written. One thread.
 *
 * <pre>
 * for each group of owners of the plan, for some of its owners at a time:
 *   1. reads the lost images of these owners again
 *   2. asks MySQL who owns, restores the sessions that MySQL lost
 *   3. ReplayTarget: an owner and all who traded with it together
 * </pre>
 *
 * <p>An owner's lost rows go together: between two writes readers would see a state that the owner
 * never had.
 */
public final class WalReplay {
  /** Of what may be replayed at a time: an image takes some three times its bytes in memory. */
  private static final long MEMORY_SHARE = 12;

  /** Owners of one call of the target, so that progress is seen. */
  private static final int OWNERS_AT_A_TIME = 5_000;

  private final WalSet wals;
  private final Lookups lookups;
  private final Planner planner;
  private final ReplayTarget target;
  private final Watch watch;
  private final Set<String> goneProcesses;
  private final ReplayReport report = new ReplayReport();
  private final Map<String, Boolean> gone = new HashMap<>();

  /** Sees how it goes. */
  public interface Watch {
    /** So many rows were replayed by now. */
    void replayed(long rows);

    /** So many sessions are about to be restored in MySQL, with those that were; may throw. */
    default void restores(long sessions) {}
  }

  /**
   * A replay of what a plan will call lost.
   *
   * @param planner of the same WALs
   * @param goneProcesses those of nodes that are known to be gone, whatever their last sign of life
   */
  public WalReplay(
      WalSet wals,
      Lookups lookups,
      Planner planner,
      ReplayTarget target,
      Set<String> goneProcesses,
      Watch watch) {
    this.wals = wals;
    this.lookups = lookups;
    this.planner = planner;
    this.target = target;
    this.watch = watch;
    this.goneProcesses = Set.copyOf(goneProcesses);
  }

  /** What was done so far. */
  public ReplayReport report() {
    return report;
  }

  /**
   * Plans and replays.
   *
   * @param sink sees the plan
   * @throws io.gameq.GameQueueException when a server refuses or does not answer; run it again
   */
  public void run(Consumer<PlannedRow> sink) {
    planner.plan(sink, this::replay);
  }

  /** Some owners at a time, since their images are kept in memory. */
  private void replay(OwnerGroup group) {
    registerLayouts();
    long[] bytes = group.trades().bytes();
    long most = Runtime.getRuntime().maxMemory() / MEMORY_SHARE;
    BitSet buckets = new BitSet();
    long sum = 0;
    for (int bucket = 0; bucket < TradeGroups.BUCKETS; bucket++) {
      if (sum > 0 && sum + bytes[bucket] > most) {
        replay(group, buckets);
        buckets.clear();
        sum = 0;
      }
      buckets.set(bucket);
      sum += bytes[bucket];
    }
    if (sum > 0) {
      replay(group, buckets);
    }
  }

  /** Writers look there for the column lists of what they flush, and MySQL may have lost them. */
  private void registerLayouts() {
    for (WalFolder folder : wals.folders()) {
      folder
          .layouts()
          .forEach(
              (name, columns) ->
                  lookups.database().layouts().register(name.table(), name.fingerprint(), columns));
    }
  }

  /** The lost rows of one owner, each with the session that wrote it. */
  private record OwnerRows(OwnerId owner, List<EncodedRow> rows, List<SessionId> writtenUnder) {}

  private void replay(OwnerGroup group, BitSet buckets) {
    Map<String, OwnerRows> byOwner = new LinkedHashMap<>();
    planner.readLost(
        group,
        owner -> buckets.get(group.trades().bucket(owner)),
        (part, row) -> {
          OwnerRows of =
              byOwner.computeIfAbsent(
                  part.owner(),
                  name ->
                      new OwnerRows(OwnerId.ofEncoded(name), new ArrayList<>(), new ArrayList<>()));
          of.rows.add(row);
          of.writtenUnder.add(SessionId.parse(part.session()));
        });
    Map<String, List<OwnerRows>> together = new LinkedHashMap<>();
    byOwner.forEach(
        (owner, rows) ->
            together
                .computeIfAbsent(group.trades().root(owner), root -> new ArrayList<>())
                .add(rows));
    gone.clear();
    List<List<OwnerRows>> some = new ArrayList<>();
    int owners = 0;
    for (List<OwnerRows> traded : together.values()) {
      some.add(traded);
      owners += traded.size();
      if (owners >= OWNERS_AT_A_TIME) {
        write(group, some);
        some.clear();
        owners = 0;
      }
    }
    write(group, some);
  }

  private void write(OwnerGroup group, List<List<OwnerRows>> together) {
    List<OwnerId> owners =
        together.stream().flatMap(Collection::stream).map(OwnerRows::owner).toList();
    Map<OwnerId, Durable> durable = lookups.database().owners().durable(owners);
    List<OwnerTable.Lost> restored = new ArrayList<>();
    List<List<ReplayScript.Owner>> groups = new ArrayList<>();
    for (List<OwnerRows> traded : together) {
      List<ReplayScript.Owner> next = new ArrayList<>();
      long refusedBefore = report.refused();
      for (OwnerRows of : traded) {
        ReplayScript.Owner owner = owner(group, of, durable.get(of.owner), restored);
        if (owner != null) {
          next.add(owner);
        }
      }
      if (report.refused() > refusedBefore) {
        next.forEach(
            of ->
                report.overtaken(
                    of.owner(), of.rows().size(), ReplayReport.COMMITTED_WITH_REFUSED));
      } else {
        groups.add(next);
      }
    }
    watch.restores(report.restored() + restored.size());
    lookups.database().owners().restore(restored);
    report.restored(restored.size());
    target.write(groups, report);
    watch.replayed(report.rows());
  }

  /** Judged again, by who owns now: null when a later session does. */
  private ReplayScript.@Nullable Owner owner(
      OwnerGroup group, OwnerRows of, @Nullable Durable durable, List<OwnerTable.Lost> restored) {
    OwnerGroup.OwnersNewest newest = group.newestSession(of.owner);
    SessionId inRedis = ownedByTaker(of.owner, durable);
    SessionId under = null;
    boolean restore = false;
    List<EncodedRow> rows = new ArrayList<>();
    for (int i = 0; i < of.rows.size(); i++) {
      Ownership.Verdict verdict =
          Ownership.judge(of.writtenUnder.get(i), newest.session(), durable, inRedis);
      if (verdict instanceof Replayable replayable) {
        under = replayable.under();
        restore |= replayable.restore();
        rows.add(of.rows.get(i));
      } else if (verdict instanceof Conflict conflict) {
        report.overtaken(of.owner, 1, conflict.reason());
      }
    }
    if (under == null) {
      return null;
    }
    if (restore) {
      restored.add(new OwnerTable.Lost(of.owner, under, wals.folders().get(newest.wal()).node()));
    }
    return new ReplayScript.Owner(of.owner, under, !under.isInbox() && isGone(under), rows);
  }

  /** The session that is opening, if it has taken over in Redis. */
  private @Nullable SessionId ownedByTaker(OwnerId owner, @Nullable Durable durable) {
    ReplayRedis redis = lookups.redis();
    if (redis == null || durable == null || !durable.sessions().opening()) {
      return null;
    }
    SessionId newest = durable.sessions().newest();
    return newest.equals(redis.ownedBy(owner)) ? newest : null;
  }

  /** Whether the node that opened a session is gone; asked once for a while. */
  private boolean isGone(SessionId session) {
    ReplayRedis redis = lookups.redis();
    return gone.computeIfAbsent(
        NodeSigns.process(session),
        process ->
            redis == null || goneProcesses.contains(process) || redis.aliveNode(process) == null);
  }

  /** Where lost rows go. One thread. */
  public interface ReplayTarget {
    /**
     * Writes groups of owners; within each, rows become visible together where the target can.
     *
     * @throws io.gameq.GameQueueException when the server refuses or does not answer: what was
     *     written stays, and writing everything again is safe
     */
    void write(List<List<Owner>> groups, ReplayReport report);

    /** Everything was handed over: writes what was put off until then. */
    default void finish(ReplayReport report) {}
  }

  /** Whether a row may be replayed, by who owns its owner now. Stateless. */
  static final class Ownership {
    private Ownership() {}

    /** What is to be done with a row. */
    public sealed interface Verdict {}

    /**
     * It may be put back.
     *
     * @param under the session that owns
     * @param restore whether MySQL has lost that session
     */
    public record Replayable(SessionId under, boolean restore) implements Verdict {}

    /** A later session opened the owner without it. */
    public record Conflict(String reason) implements Verdict {}

    /**
     * Judges one row.
     *
     * <p>MySQL holding an older session of the owner than WALs do means that MySQL lost commits in
     * a failover: the WALs' newest session is restored, and everything from the session that MySQL
     * still knows on is put back under it.
     *
     * @param row the session that wrote the row last
     * @param newest the newest session of the owner in the WALs
     * @param durable what MySQL holds
     * @param inRedis the session that owns as far as Redis knows
     */
    public static Verdict judge(
        SessionId row, SessionId newest, @Nullable Durable durable, @Nullable SessionId inRedis) {
      if (row.isInbox()) {
        return new Replayable(row, false); // whoever has the owner
      }
      if (durable == null) {
        return under(newest, true, row, inRedis);
      }
      CountingSessions sessions = durable.sessions();
      boolean lost = isNewer(newest, sessions.newest());
      if (!CountingSessions.counts(sessions, row) && !(lost && isNewer(row, sessions.newest()))) {
        return new Conflict(
            "session %s of node %s has owned since %s UTC, later than %s of this change"
                .formatted(
                    sessions.newest().text(),
                    Shown.text(durable.node()),
                    Shown.utc(durable.openedAt()),
                    row.text()));
      }
      return under(lost ? newest : sessions.holder(inRedis), lost, row, inRedis);
    }

    private static Verdict under(
        SessionId under, boolean lost, SessionId row, @Nullable SessionId inRedis) {
      if (inRedis != null && inRedis.text().compareTo(under.text()) > 0) {
        return new Conflict(
            "session %s owns in Redis, later than %s of this change; MySQL does not know it"
                .formatted(inRedis.text(), row.text()));
      }
      return new Replayable(under, lost);
    }

    /** By epoch alone: of one epoch, none is newer. */
    private static boolean isNewer(SessionId session, SessionId than) {
      return Long.compareUnsigned(session.epoch(), than.epoch()) > 0;
    }
  }

  /** What a replay did. Not thread-safe. */
  public static final class ReplayReport {
    /** A later session has opened another owner meanwhile: the next plan tells which. */
    public static final String COMMITTED_WITH_REFUSED =
        "what they were committed together with is refused now: plan again";

    /** More are counted, not named. */
    private static final int MOST_NAMED = 20;

    private final List<String> named = new ArrayList<>();
    private final Map<String, String> closed = new TreeMap<>();
    private final Map<String, Long> closedRows = new HashMap<>();
    private long rows;
    private long written;
    private long refused;
    private boolean overtaken;
    private long setAside;
    private long restored;
    private long takenOver;

    /** Rows were handed to the target, which wrote so many of them: it had the others. */
    public void wrote(long of, long itWrote) {
      rows += of;
      written += itWrote;
    }

    /** An owner is left as it is. */
    public void refused(OwnerId owner, long itsRows, String why) {
      refused += itsRows;
      name(
          "not replayed: %s %s: %s"
              .formatted(Shown.count(itsRows, "row"), Shown.whose(owner), why));
    }

    /**
     * An owner is left as it is, since a session took it or a partner over after it was planned:
     * what was committed together with these rows does not show that they are missing.
     */
    public void overtaken(OwnerId owner, long itsRows, String why) {
      overtaken = true;
      refused(owner, itsRows, why);
    }

    /** Whether any owner was: another plan tells what is to become of the rows, and of messages. */
    public boolean isOvertaken() {
      return overtaken;
    }

    public void setAside(String row, String why) {
      setAside++;
      name("dead letter: %s: %s".formatted(Shown.text(row), Shown.cut(why, 120)));
    }

    /** A row is left as it is, since its table takes none: nothing more is tried with it. */
    public void closed(String table, String why) {
      closed.putIfAbsent(table, why);
      closedRows.merge(table, 1L, Long::sum);
    }

    /** The tables that took no rows, a line each; empty when all did. */
    public List<String> closedTables() {
      return closed.entrySet().stream()
          .map(
              of ->
                  "table %s takes no rows, %s of it not replayed: %s"
                      .formatted(
                          Shown.text(of.getKey()),
                          Shown.count(closedRows.getOrDefault(of.getKey(), 0L), "row"),
                          Shown.cut(of.getValue(), 200)))
          .toList();
    }

    private void name(String line) {
      if (named.size() < MOST_NAMED) {
        named.add(line);
      }
    }

    void restored(int sessions) {
      restored += sessions;
    }

    public void tookOver() {
      takenOver++;
    }

    /** Rows that were handed to the target. */
    public long rows() {
      return rows;
    }

    /** Rows that the target did not have. */
    public long written() {
      return written;
    }

    public long refused() {
      return refused;
    }

    public long setAside() {
      return setAside;
    }

    /** Sessions written into MySQL again. */
    public long restored() {
      return restored;
    }

    /** Owners that were opened to apply conflicts. */
    public long takenOver() {
      return takenOver;
    }

    /** The first of what could not be done, a line each. */
    public List<String> named() {
      return named;
    }
  }
}
