package io.gameq.recovery;

import io.gameq.healing.PlannedRow;
import io.gameq.healing.Planner;
import io.gameq.healing.RowHash;
import io.gameq.healing.Status;
import io.gameq.owner.OwnerId;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Counts a plan, and keeps the first names of what an engineer has to look at. Not thread-safe. */
final class PlanTotals implements Planner.Sink {
  /** More owners with something to look at are counted, not named: the details name all. */
  private static final int MOST_NAMED = 1_000;

  private final Map<Status, Long> rows = new EnumMap<>(Status.class);
  private final Map<Status, Map<String, Named>> named = new EnumMap<>(Status.class);
  private final Map<Status, Set<Long>> owners = new EnumMap<>(Status.class);
  private final Set<Long> allOwners = new HashSet<>();
  private final Set<Long> restored = new HashSet<>();
  private final long[] lostBySlot;
  private long all;

  /** An owner with something to look at. */
  static final class Named {
    private final OwnerId owner;
    private final String firstKey;
    private final String reason;
    private long rows;

    Named(OwnerId owner, String firstKey, String reason) {
      this.owner = owner;
      this.firstKey = firstKey;
      this.reason = reason;
    }

    OwnerId owner() {
      return owner;
    }

    /** One of its rows. */
    String firstKey() {
      return firstKey;
    }

    /** Why its first row has this status. */
    String reason() {
      return reason;
    }

    long rows() {
      return rows;
    }
  }

  PlanTotals(int slots) {
    lostBySlot = new long[slots];
  }

  @Override
  public void row(PlannedRow row) {
    all++;
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
    if (row.judgement().restoresSession()) {
      restored.add(id);
    }
    if (status.callsForAction() && status != Status.LOST) {
      Map<String, Named> of = named.computeIfAbsent(status, s -> new LinkedHashMap<>());
      Named its = of.get(owner);
      if (its == null && of.size() < MOST_NAMED) {
        its = new Named(row.owner(), row.change().key(), row.reason());
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
    Set<Long> of = owners.get(status);
    return of == null ? 0 : of.size();
  }

  /** The first thousand of them. */
  Iterable<Named> named(Status status) {
    return named.getOrDefault(status, Map.of()).values();
  }

  long all() {
    return all;
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

  /** Whether somebody has to act, or to wait and look again. */
  boolean callsForAction() {
    return restored.size() > 0 || rows.keySet().stream().anyMatch(Status::callsForAction);
  }
}
