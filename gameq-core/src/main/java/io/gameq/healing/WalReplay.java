package io.gameq.healing;

import io.gameq.agent.RateLimit;
import io.gameq.healing.Fold.FoldedOwner;
import io.gameq.healing.Lookups.ReplayRedis;
import io.gameq.healing.PlannedRow.WalRow;
import io.gameq.healing.RowLookup.Verdict;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.redis.script.LookupScript.ReplayScript.Applied;
import io.gameq.redis.script.LookupScript.ReplayScript.Owner;
import io.gameq.redis.script.LookupScript.ReplayScript.Pending;
import io.gameq.redis.script.LookupScript.ReplayScript.Refused;
import io.gameq.redis.script.NodeSigns;
import io.gameq.rows.EncodedRow;
import io.gameq.terminal.Shown;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
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
 * for some owners of the plan at a time:
 *   1. asks MySQL who owns, restores the sessions that MySQL lost
 *   2. ReplayTarget: an owner and all who traded with it together
 * </pre>
 *
 * <p>An owner's lost rows go together: between two writes readers would see a state that the owner
 * never had.
 */
public final class WalReplay {
  /** Owners of one call of the target, so that progress is seen. */
  private static final int OWNERS_AT_A_TIME = 5_000;

  private final Planner planner;
  private final Lookups lookups;
  private final ReplayTarget target;
  private final Watch watch;
  private final Set<String> goneProcesses;
  private final ReplayReport report = new ReplayReport();
  private final Map<String, Boolean> gone = new HashMap<>();

  /** Sees how it goes. */
  public interface Watch {
    /**
     * More is about to be written, or was; may throw.
     *
     * @param rows that were handed to the target by now
     * @param sessions that are restored in MySQL then, with those that were
     */
    void next(long rows, long sessions);
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

  /**
   * A replay of what a plan will call lost.
   *
   * @param goneProcesses those of nodes that are known to be gone, whatever their last sign of life
   */
  public WalReplay(Planner planner, ReplayTarget target, Set<String> goneProcesses, Watch watch) {
    this.planner = planner;
    this.lookups = planner.lookups();
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

  private void replay(List<List<FoldedOwner>> lost) {
    for (WalFolder folder : planner.wals().folders()) {
      for (WalRecord.Layout of : folder.layouts()) { // writers look there; MySQL may have lost them
        lookups.database().layouts().register(of.table(), of.fingerprint(), of.columns());
      }
    }
    gone.clear();
    List<List<FoldedOwner>> some = new ArrayList<>();
    int owners = 0;
    for (List<FoldedOwner> together : lost) {
      some.add(together);
      owners += together.size();
      if (owners >= OWNERS_AT_A_TIME) {
        write(some);
        some.clear();
        owners = 0;
      }
    }
    write(some);
  }

  private void write(List<List<FoldedOwner>> lost) {
    Map<OwnerId, Durable> durable =
        lookups.durable(lost.stream().flatMap(Collection::stream).map(of -> of.id));
    List<OwnerTable.LostSession> restored = new ArrayList<>();
    List<List<Owner>> groups = new ArrayList<>();
    for (List<FoldedOwner> together : lost) {
      List<Owner> next = new ArrayList<>();
      long refusedBefore = report.count(Count.REFUSED);
      for (FoldedOwner of : together) {
        Owner owner = owner(of, durable.get(of.id), restored);
        if (owner != null) {
          next.add(owner);
        }
      }
      if (report.count(Count.REFUSED) == refusedBefore) {
        groups.add(next);
      } else {
        next.forEach(of -> report.overtaken(of, ReplayReport.COMMITTED_WITH_REFUSED));
      }
    }
    watch.next(report.count(Count.ROWS), report.count(Count.RESTORED) + restored.size());
    lookups.database().owners().restore(restored);
    report.add(Count.RESTORED, restored.size());
    target.write(groups, report);
    watch.next(report.count(Count.ROWS), report.count(Count.RESTORED));
  }

  /** Judged again, by who owns now: null when a later session does. */
  private @Nullable Owner owner(
      FoldedOwner of, @Nullable Durable durable, List<OwnerTable.LostSession> restored) {
    SessionId inRedis = ownedByTaker(of.id, durable);
    SessionId under = null;
    boolean restores = false;
    List<EncodedRow> rows = new ArrayList<>();
    for (WalRow row : of.toReplay) {
      Verdict verdict = RowLookup.judge(row.session(), of.newest, durable, inRedis);
      if (verdict.under() == null) {
        report.overtaken(of.id, 1, verdict.conflict());
      } else {
        under = verdict.under();
        restores |= verdict.restores();
        rows.add(row.encoded());
      }
    }
    if (under == null) {
      return null;
    }
    if (restores) {
      restored.add(
          new OwnerTable.LostSession(of.id, under, planner.wals().folders().get(of.wal).node()));
    }
    return new Owner(of.id, under, !under.isInbox() && isGone(under), rows);
  }

  /** The session that is opening, if it has taken over in Redis. */
  private @Nullable SessionId ownedByTaker(OwnerId owner, @Nullable Durable durable) {
    if (durable == null || !durable.sessions().opening()) {
      return null;
    }
    SessionId newest = durable.sessions().newest();
    return newest.equals(lookups.ownedBy(owner)) ? newest : null;
  }

  /** Whether the node that opened a session is gone; asked once for a while. */
  private boolean isGone(SessionId session) {
    ReplayRedis redis = lookups.redis();
    return gone.computeIfAbsent(
        NodeSigns.process(session),
        process ->
            redis == null || goneProcesses.contains(process) || redis.aliveNode(process) == null);
  }

  /** What a replay counts. */
  public enum Count {
    /** Rows that were handed to the target. */
    ROWS("row", "handed over"),
    /** Rows that the target did not have. */
    WRITTEN("row", "written"),
    RESTORED("session", "restored in MySQL"),
    TAKEN_OVER("owner", "taken over to apply conflicts"),
    SET_ASIDE("row", "refused by MySQL, now dead letters"),
    REFUSED("row", "not replayed");

    private final String noun;
    private final String what;

    Count(String noun, String what) {
      this.noun = noun;
      this.what = what;
    }

    /** So many of it, in words. */
    public String text(long count) {
      return Shown.count(count, noun) + " " + what;
    }
  }

  /** What a replay did. Not thread-safe. */
  public static final class ReplayReport {
    /** A later session has opened another owner meanwhile: the next plan tells which. */
    public static final String COMMITTED_WITH_REFUSED =
        "what they were committed together with is refused now: plan again";

    /** More are counted, not named. */
    private static final int MOST_NAMED = 20;

    private final Map<Count, Long> counts = new EnumMap<>(Count.class);
    private final List<String> named = new ArrayList<>();
    private final Map<String, String> closed = new TreeMap<>();
    private final Map<String, Long> closedRows = new HashMap<>();
    private boolean overtaken;

    public void add(Count to, long more) {
      counts.merge(to, more, Long::sum);
    }

    public long count(Count of) {
      return counts.getOrDefault(of, 0L);
    }

    /** Rows were handed to the target, which wrote so many of them: it had the others. */
    public void wrote(long of, long itWrote) {
      add(Count.ROWS, of);
      add(Count.WRITTEN, itWrote);
    }

    /** An owner is left as it is. */
    public void refused(OwnerId owner, long itsRows, String why) {
      add(Count.REFUSED, itsRows);
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

    private void overtaken(Owner of, String why) {
      overtaken(of.owner(), of.rows().size(), why);
    }

    /** Whether any owner was: another plan tells what is to become of the rows, and of messages. */
    public boolean isOvertaken() {
      return overtaken;
    }

    public void setAside(String row, String why) {
      add(Count.SET_ASIDE, 1);
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

    /** The first of what could not be done, a line each. */
    public List<String> named() {
      return named;
    }
  }

  /** Puts lost rows back into Redis, some scripts ahead of their answers. */
  public static final class RedisTarget implements ReplayTarget {
    /** Rows of scripts that wait for answers: more gain nothing, and fill Redis' buffers. */
    private static final int MOST_ROWS_AHEAD = 4_000;

    /** One script holds everybody else back for some 100 ms then; an owner alone is never split. */
    private static final int MOST_ROWS_PER_SCRIPT = 20_000;

    private final ReplayRedis redis;
    private final RateLimit limit;

    public RedisTarget(ReplayRedis redis, RateLimit limit) {
      this.redis = redis;
      this.limit = limit;
    }

    private List<Pending> send(List<List<Owner>> groups) {
      return ReplayScript.send(redis.connection(), redis.slots(), groups);
    }

    @Override
    public void write(List<List<Owner>> groups, ReplayReport report) {
      List<Pending> ahead = List.of();
      List<List<Owner>> next = new ArrayList<>();
      long rows = 0;
      for (List<Owner> group : groups) {
        for (List<Owner> together : sized(group)) {
          next.add(together);
          rows += rows(together);
          if (rows >= limit.burst(MOST_ROWS_AHEAD)) {
            limit.take(rows);
            List<Pending> sent = send(next);
            settle(ahead, report); // those of the time before, while these are on their way
            ahead = sent;
            next.clear();
            rows = 0;
          }
        }
      }
      limit.take(rows);
      List<Pending> last = send(next);
      settle(ahead, report);
      settle(last, report);
    }

    private static List<List<Owner>> sized(List<Owner> group) {
      return rows(group) <= MOST_ROWS_PER_SCRIPT
          ? List.of(group)
          : group.stream().map(List::of).toList();
    }

    private static long rows(List<Owner> group) {
      return group.stream().mapToLong(of -> of.rows().size()).sum();
    }

    private static void settle(List<Pending> ahead, ReplayReport report) {
      for (Pending pending : ahead) {
        ReplayScript.Outcome outcome = pending.await();
        if (outcome instanceof Applied applied) {
          report.wrote(rows(pending.group()), applied.written());
        } else if (outcome instanceof Refused refused) { // nothing of the group was written
          for (Owner of : pending.group()) {
            report.overtaken(
                of,
                of.owner().equals(refused.owner())
                    ? "session " + refused.ownedBy() + " owns in Redis, a later one"
                    : ReplayReport.COMMITTED_WITH_REFUSED);
          }
        }
      }
    }
  }
}
