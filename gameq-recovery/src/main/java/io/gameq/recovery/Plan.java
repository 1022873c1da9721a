package io.gameq.recovery;

import io.gameq.healing.LeftMessages;
import io.gameq.healing.OwnerGroup.RowHash;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.healing.Planner;
import io.gameq.healing.WalFolder;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.recovery.PlanningCommand.ProgressLine;
import io.gameq.recovery.PlanningCommand.Servers;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Counts a plan, and keeps the first names of what an engineer has to look at. Not thread-safe. */
final class Plan {
  /** More owners with something to look at are counted, not named: the details name all. */
  private static final int MOST_NAMED = 1_000;

  private final Map<Status, Long> rows = new EnumMap<>(Status.class);
  private final Map<Status, Map<String, Named>> named = new EnumMap<>(Status.class);
  private final Map<Status, Set<Long>> owners = new EnumMap<>(Status.class);
  private final Set<Long> allOwners = new HashSet<>();
  private final Set<Long> restored = new HashSet<>();
  private final Servers open;
  private final Planner planner;
  private final long[] lostBySlot;
  private LeftMessages.@Nullable Totals messages;

  /** An owner with something to look at. */
  static final class Named {
    final OwnerId owner;

    /** Of its first row, and why that has this status. */
    final String firstKey;

    final String reason;
    long rows;

    Named(PlannedRow first) {
      owner = first.owner();
      firstKey = first.change().key();
      reason = first.reason();
    }
  }

  /** Nothing is planned yet. */
  Plan(Servers open, Planner.Options options, ProgressLine progress) {
    this.open = open;
    planner = new Planner(open.wals(), open.lookups(), options, progress::step);
    lostBySlot = new long[open.wals().folders().get(0).header().slots()];
  }

  Planner planner() {
    return planner;
  }

  void row(PlannedRow row) {
    Status status = row.status();
    rows.merge(status, 1L, Long::sum);
    String owner = row.owner().encoded();
    long id = new RowHash(1, 2).owner(row.owner().base().encoded()).high(); // counts only
    allOwners.add(id);
    if (status != Status.IN_MYSQL) {
      owners.computeIfAbsent(status, of -> new HashSet<>()).add(id);
    }
    if (status == Status.LOST) {
      lostBySlot[row.owner().slot(lostBySlot.length)]++;
    }
    if (row.restoresSession()) {
      restored.add(id);
    }
    if (status.callsForAction() && status != Status.LOST) {
      Map<String, Named> of = named.computeIfAbsent(status, s -> new LinkedHashMap<>());
      Named its = of.get(owner);
      if (its == null && of.size() < MOST_NAMED) {
        its = new Named(row);
        of.put(owner, its);
      }
      if (its != null) {
        its.rows++;
      }
    }
  }

  /** Rows with this status. */
  long rows(Status status) {
    return rows.getOrDefault(status, 0L);
  }

  /** Owners with rows of this status. */
  long owners(Status status) {
    return owners.getOrDefault(status, Set.of()).size();
  }

  /** The first thousand of them. */
  Iterable<Named> named(Status status) {
    return named.getOrDefault(status, Map.of()).values();
  }

  long all() {
    return rows.values().stream().mapToLong(Long::longValue).sum();
  }

  long allOwners() {
    return allOwners.size();
  }

  /** Owners whose session MySQL lost. */
  long restoredSessions() {
    return restored.size();
  }

  long[] lostBySlot() {
    return lostBySlot.clone();
  }

  /** What Redis lacks of the messages of nodes that are gone; counted once. */
  LeftMessages.Totals messages() {
    if (messages == null) {
      messages = LeftMessages.totals(open.lookups(), planner.gone());
    }
    return messages;
  }

  /** Whether somebody has to act, or to wait and look again. */
  int exitCode() {
    boolean isWhole = open.wals().folders().stream().allMatch(WalFolder::isWhole);
    return restored.isEmpty()
            && rows.keySet().stream().noneMatch(Status::callsForAction)
            && messages().lacking() == 0
            && isWhole
            && !open.leavesOut()
        ? RecoveryMain.CLEAN
        : RecoveryMain.FOUND_SOMETHING;
  }

  /** Prints it on one screen. */
  void print(PrintWriter out, boolean areOwnersNamed) {
    Summary.wals(out, open.wals(), planner.alive());
    Summary.totals(out, this);
    if (areOwnersNamed) {
      Summary.named(out, this);
    }
    Summary.messages(out, messages());
  }
}
