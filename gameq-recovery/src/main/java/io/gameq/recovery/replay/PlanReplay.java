package io.gameq.recovery.replay;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.recovery.mysql.DurableOwners;
import io.gameq.recovery.mysql.DurableOwners.Durable;
import io.gameq.recovery.plan.Lookups;
import io.gameq.recovery.plan.OwnerGroup;
import io.gameq.recovery.plan.Ownership;
import io.gameq.recovery.plan.Ownership.Conflict;
import io.gameq.recovery.plan.Ownership.Replayable;
import io.gameq.recovery.plan.PlannedRow;
import io.gameq.recovery.plan.Planner;
import io.gameq.recovery.plan.Planner.OwnersNewest;
import io.gameq.recovery.plan.Status;
import io.gameq.recovery.plan.TradeGroups;
import io.gameq.recovery.redis.OwnersInRedis;
import io.gameq.recovery.redis.RecoveryRedis;
import io.gameq.recovery.terminal.ProgressLine;
import io.gameq.recovery.wal.WalFolder;
import io.gameq.recovery.wal.WalSet;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Replays what a plan calls lost, while it is planned: see the package comment. One thread. */
public final class PlanReplay implements Planner.Sink {
  /** Of what may be replayed at a time: an image takes some three times its bytes in memory. */
  private static final long MEMORY_SHARE = 12;

  /** Owners of one call of the target, so that progress is seen. */
  private static final int OWNERS_AT_A_TIME = 5_000;

  /** A later session has opened a sender meanwhile: the next plan tells which rows it is about. */
  static final String SENT_WITH_REFUSED =
      "what they were sent together with is refused now: plan again";

  private final WalSet wals;
  private final Lookups lookups;
  private final Options options;
  private final ProgressLine progress;
  private final ReplayReport report = new ReplayReport();
  private final Map<String, Boolean> gone = new HashMap<>();
  private final Target target;
  private final Conflicts conflicts;
  private Planner planner;
  private long lost;

  /**
   * How to replay.
   *
   * @param intoMySql whether Redis is gone for good
   * @param rowsPerSecond 0 for no limit
   * @param applyConflicts whether rows that a later session did not see are written
   */
  public record Options(boolean intoMySql, long rowsPerSecond, boolean applyConflicts) {}

  public PlanReplay(WalSet wals, Lookups lookups, Options options, ProgressLine progress) {
    this.wals = wals;
    this.lookups = lookups;
    this.options = options;
    this.progress = progress;
    RateLimit limit = new RateLimit(options.rowsPerSecond());
    this.target =
        options.intoMySql()
            ? new MySqlTarget(lookups.database(), lookups.codec(wals), limit)
            : new RedisTarget(java.util.Objects.requireNonNull(lookups.redis()), limit);
    this.conflicts = new Conflicts(lookups, target, options.intoMySql());
    this.planner =
        new Planner(wals, lookups, new Planner.Options(Set.of(), false, false, false), step -> {});
  }

  /**
   * Plans and replays.
   *
   * @param sink sees the plan
   * @throws io.gameq.GameQueueException when a server refuses or does not answer; run it again
   */
  public ReplayReport run(Planner.Options wanted, Planner.Sink sink) {
    planner = new Planner(wals, lookups, wanted, progress::step);
    planner.plan(
        new Planner.Sink() {
          @Override
          public void row(PlannedRow row) {
            sink.row(row);
            PlanReplay.this.row(row);
          }

          @Override
          public void group(OwnerGroup group) {
            PlanReplay.this.group(group);
          }
        });
    conflicts.apply(report);
    target.finish(report);
    progress.end();
    return report;
  }

  /** WALs that no node heals by itself; known once it has run. */
  public List<WalFolder> gone() {
    return planner.gone();
  }

  @Override
  public void row(PlannedRow row) {
    if (row.status() == Status.LOST) {
      lost++;
    }
    if (options.applyConflicts() && row.status().isConflict()) {
      if (planner.isBeingWritten(row.change().wal())) {
        report.refused(
            row.owner(),
            1,
            "a process still writes its WAL and may mark it as failed: end it first");
      } else {
        conflicts.add(row);
      }
    }
  }

  @Override
  public void group(OwnerGroup group) {
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
                  lookups.database().registerLayout(name.table(), name.fingerprint(), columns));
    }
  }

  private void replay(OwnerGroup group, BitSet buckets) {
    Map<String, OwnerRows> byOwner = new LinkedHashMap<>();
    planner.readLost(
        group,
        owner -> buckets.get(group.trades().bucket(owner)),
        (owner, session, row) ->
            byOwner
                .computeIfAbsent(owner, of -> new OwnerRows(OwnerId.ofEncoded(of)))
                .add(SessionId.parse(session), row));
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
    DurableOwners sessions = lookups.database().owners();
    Map<OwnerId, Durable> durable = sessions.current(owners);
    List<DurableOwners.Lost> restored = new ArrayList<>();
    List<List<Target.Owner>> groups = new ArrayList<>();
    for (List<OwnerRows> traded : together) {
      List<Target.Owner> next = new ArrayList<>();
      long refusedBefore = report.refused();
      for (OwnerRows of : inboxesLast(traded)) {
        if (of.owner().isInbox() && report.refused() > refusedBefore) {
          report.refused(of.owner(), of.rows().size(), SENT_WITH_REFUSED);
          continue;
        }
        Target.Owner owner = owner(group, of, durable.get(of.owner()), restored);
        if (owner != null) {
          next.add(owner);
        }
      }
      if (!next.isEmpty()) {
        groups.add(next);
      }
    }
    sessions.restore(restored);
    report.restored(restored.size());
    target.write(groups, report);
    progress.rows("replaying", report.rows(), lost);
  }

  private static List<OwnerRows> inboxesLast(List<OwnerRows> traded) {
    return traded.stream().sorted(Comparator.comparing(of -> of.owner().isInbox())).toList();
  }

  /** Judged again, by who owns now: null when a later session does. */
  private Target.@Nullable Owner owner(
      OwnerGroup group,
      OwnerRows of,
      @Nullable Durable durable,
      List<DurableOwners.Lost> restored) {
    OwnersNewest newest = planner.newest(group, of.owner());
    SessionId inRedis = ownedByTaker(of.owner(), durable);
    SessionId under = null;
    boolean restore = false;
    List<EncodedRow> rows = new ArrayList<>();
    for (int i = 0; i < of.rows().size(); i++) {
      Ownership.Verdict verdict =
          Ownership.judge(of.writtenUnder(i), newest.session(), durable, inRedis);
      if (verdict instanceof Replayable replayable) {
        under = replayable.under();
        restore |= replayable.restore();
        rows.add(of.rows().get(i));
      } else if (verdict instanceof Conflict conflict) {
        report.refused(of.owner(), 1, conflict.reason());
      }
    }
    if (under == null) {
      return null;
    }
    if (restore) {
      restored.add(new DurableOwners.Lost(of.owner(), under, newest.node()));
    }
    return new Target.Owner(of.owner(), under, !under.isInbox() && isGone(under), rows);
  }

  /** The session that is opening, if it has taken over in Redis. */
  private @Nullable SessionId ownedByTaker(OwnerId owner, @Nullable Durable durable) {
    RecoveryRedis redis = lookups.redis();
    if (redis == null || durable == null || !durable.sessions().opening()) {
      return null;
    }
    SessionId newest = durable.sessions().newest();
    return newest.equals(new OwnersInRedis(redis).ownedBy(owner)) ? newest : null;
  }

  /** Whether the node that opened a session gave no sign of life; asked once for a while. */
  private boolean isGone(SessionId session) {
    return gone.computeIfAbsent(
        session.nonce().substring(0, 8),
        process -> lookups.redis() == null || lookups.redis().aliveNode(process) == null);
  }
}
