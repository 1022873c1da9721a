package io.gameq.writer.campaign;

import io.gameq.writer.campaign.Violation.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Compares a history with what readers saw and with what MySQL holds at the end. Used by one
 * thread.
 *
 * <p>An owner is written by one session at a time, and a session's commits come from one thread: so
 * the writes of a row that took effect are ordered by when they were invoked. A write must be seen
 * from the moment on when it was acknowledged, or when somebody saw any row of its commit; an
 * unanswered one may or may not have happened; a failed one must never be seen.
 *
 * <p>Around a failover reads may miss what was acknowledged until nodes have healed: reads in such
 * a {@link Window} prove nothing and are held against nobody. What was reported as a conflict need
 * not be there.
 */
public final class Checker {
  private static final int MOST_VIOLATIONS = 50;
  private static final long END = Long.MAX_VALUE - 1;

  private final History history;
  private final Map<String, Held> mysql;
  private final Set<String> setAside;
  private final Map<String, List<Write>> writes = new HashMap<>();
  private final Map<String, Set<String>> rowsOf = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();

  /** Rows that went from one owner to another, of which one may not know it. */
  private final Set<String> contested = new HashSet<>();

  /** One row's part of an attempt. */
  private static final class Write {
    final Attempt of;
    final Change change;

    /** From when on the row was seen to be gone by this delete or a later one. */
    long goneAt = Long.MAX_VALUE;

    /** Whether it was reported that nobody holds it. */
    final boolean reported;

    /**
     * Whether the owner was taken over before nodes had healed: its new session may not know it.
     */
    final boolean hidden;

    Write(Attempt of, Change change, List<ReportedConflict> conflicts, boolean hidden) {
      this.of = of;
      this.change = change;
      this.reported = !of.durable && conflicts.stream().anyMatch(conflict -> conflict.covers(of));
      this.hidden = hidden;
    }

    boolean mustBeSeen(long from) {
      if (hidden && from != END) {
        return false;
      }
      return Math.min(of.knownAt, goneAt) <= from
          && of.outcome != Attempt.Outcome.FAIL
          && !reported;
    }
  }

  /**
   * A checker.
   *
   * @param mysql row to what MySQL holds of it
   * @param setAside {@code row=value} of every dead letter
   */
  public Checker(History history, Map<String, Held> mysql, Set<String> setAside) {
    this.history = history;
    this.mysql = mysql;
    this.setAside = setAside;
  }

  public List<Violation> check() {
    indexWrites();
    history.sightings.stream()
        .sorted(Comparator.comparingLong(Sighting::until))
        .forEach(this::examine);
    mysql.values().forEach(held -> known(held.value(), END));
    writes.keySet().forEach(row -> examine(row, mysql.get(row)));
    mysql.keySet().stream()
        .filter(row -> !writes.containsKey(row))
        .forEach(row -> report(Kind.RESURRECTED, "MySQL holds " + row + ", which nobody wrote"));
    checkOwnership();
    checkSetAside();
    return violations;
  }

  private void indexWrites() {
    Map<String, List<ReportedConflict>> conflicts =
        history.conflicts.stream().collect(Collectors.groupingBy(ReportedConflict::row));
    for (Attempt attempt : history.attempts.values()) {
      boolean hidden = wasTakenOverUnhealed(attempt);
      for (Change change : attempt.changes) {
        if (hidden && attempt.parts.size() > 1) {
          contested.add(change.row());
        }
        writes
            .computeIfAbsent(change.row(), row -> new ArrayList<>())
            .add(
                new Write(
                    attempt, change, conflicts.getOrDefault(change.row(), List.of()), hidden));
        rowsOf
            .computeIfAbsent(change.owner() + change.table(), owner -> new TreeSet<>())
            .add(change.row());
      }
    }
    writes.values().forEach(of -> of.sort(Comparator.comparingLong(write -> write.of.invokedAt)));
  }

  private boolean wasTakenOverUnhealed(Attempt attempt) {
    if (attempt.parts.stream().anyMatch(history.unhealed::contains)) {
      return true;
    }
    return history.windows.stream().anyMatch(window -> window.holds(attempt.invokedAt))
        && attempt.parts.stream()
            .anyMatch(
                part ->
                    history.openings.stream()
                        .anyMatch(
                            opening ->
                                opening.owner().equals(part.owner())
                                    && opening.epoch() > part.epoch()
                                    && !opening.process().equals(attempt.process())
                                    && history.windows.stream()
                                        .anyMatch(window -> window.holds(opening.until()))));
  }

  private void known(String value, long at) {
    Attempt attempt = history.attempts.get(value);
    if (attempt != null) {
      attempt.seen(at);
    }
  }

  // --- what was read

  private void examine(Sighting seen) {
    String where = seen.by() + " of " + seen.owner();
    if (history.windows.stream().anyMatch(window -> window.overlaps(seen))) {
      seen.rows().forEach((row, value) -> writtenBySomebody(where, row, value));
      return;
    }
    Set<String> rows = new TreeSet<>(seen.rows().keySet());
    rows.addAll(rowsOf.getOrDefault(seen.owner() + seen.table(), Set.of()));
    rows.removeAll(contested);
    for (String row : rows) {
      String value = seen.rows().get(row);
      if (value != null) {
        present(where, row, value, seen.owner(), seen.from());
      } else {
        absent(where, row, seen.owner(), seen.from(), seen.until());
      }
    }
    seen.rows().values().forEach(value -> known(value, seen.until()));
  }

  private void examine(String row, @Nullable Held held) {
    if (held != null) {
      present("MySQL", row, held.value(), held.owner(), END);
      if (history.conflicts.contains(new ReportedConflict(row, held.version(), true))) {
        report(Kind.RESURRECTED, "MySQL holds " + row + ", which was reported as lost");
      }
    } else {
      absent("MySQL", row, null, END, END);
    }
  }

  private void present(String where, String row, String value, String owner, long from) {
    Write write = writtenBySomebody(where, row, value);
    if (write == null) {
      return;
    }
    if (write.of.outcome == Attempt.Outcome.FAIL) {
      report(Kind.RESURRECTED, where + " shows " + row + " by " + write.of);
    }
    if (!write.change.owner().equals(owner)) {
      report(
          Kind.RESURRECTED,
          "%s shows %s by %s, which gave it to %s"
              .formatted(where, row, write.of, write.change.owner()));
    }
    Write newest = newestThatMustBeSeen(row, from);
    if (newest != null
        && write.of.invokedAt < newest.of.invokedAt
        && !ofLaterSession(write, newest)) {
      report(
          newest.change.put() ? Kind.STALE : Kind.RESURRECTED,
          "%s shows %s by %s, after %s by %s"
              .formatted(
                  where, row, write.of, newest.change.put() ? "a put" : "a delete", newest.of));
    }
  }

  private @Nullable Write writtenBySomebody(String where, String row, String value) {
    Write write = find(row, value);
    if (write == null) {
      report(Kind.RESURRECTED, where + " shows " + row + " as " + value + ", which nobody wrote");
    }
    return write;
  }

  /** {@code owner} is null where the row is looked for whoever owns it. */
  private void absent(String where, String row, @Nullable String owner, long from, long until) {
    Write newest = newestThatMustBeSeen(row, from);
    if (newest == null || isGone(newest, owner)) {
      return;
    }
    for (Write write : writes.getOrDefault(row, List.of())) {
      if ((write.of.invokedAt > newest.of.invokedAt || ofLaterSession(write, newest))
          && write.of.invokedAt <= until
          && write.of.outcome != Attempt.Outcome.FAIL
          && isGone(write, owner)) {
        write.goneAt = Math.min(write.goneAt, until);
        return;
      }
    }
    report(Kind.LOST, where + " does not show " + row + " by " + newest.of);
  }

  /**
   * On two sides of a partition two sessions of an owner may write at a time, and what waits for
   * healing gets its version late: then the later session counts.
   */
  private boolean ofLaterSession(Write write, Write than) {
    return history.windows.stream().anyMatch(window -> window.holds(than.of.invokedAt))
        && write.of.parts.stream()
            .anyMatch(
                part ->
                    than.of.parts.stream()
                        .anyMatch(
                            other ->
                                part.owner().equals(other.owner())
                                    && part.epoch() > other.epoch()));
  }

  private static boolean isGone(Write write, @Nullable String owner) {
    return !write.change.put() || (owner != null && !write.change.owner().equals(owner));
  }

  /** Null also where the newest was set aside: then whatever MySQL took before it may be there. */
  private @Nullable Write newestThatMustBeSeen(String row, long from) {
    List<Write> of = writes.getOrDefault(row, List.of());
    for (int i = of.size() - 1; i >= 0; i--) {
      if (of.get(i).mustBeSeen(from)) {
        return wasSetAside(row, of.get(i)) ? null : of.get(i);
      }
    }
    return null;
  }

  /**
   * Of a row only the newest dead letter is kept: one that MySQL can never take had an older one.
   * That of a delete does not name its commit.
   */
  private boolean wasSetAside(String row, Write write) {
    String value = write.change.put() ? write.of.id : "";
    return setAside.contains(row + "=" + value)
        || (value.startsWith(CampaignTables.POISON)
            && setAside.stream().anyMatch(letter -> letter.startsWith(row + "=")));
  }

  /** Gear is valid as it is committed, if all that was committed before it is there. */
  private void checkSetAside() {
    Map<String, List<Write>> ofOwners =
        writes.values().stream()
            .flatMap(List::stream)
            .filter(write -> write.change.table().equals(CampaignTables.GEAR))
            .collect(Collectors.groupingBy(write -> write.change.owner()));
    for (List<Write> all : ofOwners.values()) {
      if (history.windows.isEmpty()
          && all.stream().allMatch(write -> write.of.outcome == Attempt.Outcome.OK)) {
        all.stream()
            .filter(write -> wasSetAside(write.change.row(), write))
            .forEach(
                write -> report(Kind.LOST, write.change.row() + " was set aside: " + write.of));
      }
    }
  }

  private @Nullable Write find(String row, String value) {
    return writes.getOrDefault(row, List.of()).stream()
        .filter(write -> write.of.id.equals(value) && write.change.put())
        .findFirst()
        .orElse(null);
  }

  // --- sessions

  private void checkOwnership() {
    Map<String, List<OpenAttempt>> openings = new HashMap<>();
    history.openings.forEach(
        opening ->
            openings.computeIfAbsent(opening.owner(), owner -> new ArrayList<>()).add(opening));
    for (Attempt attempt : history.attempts.values()) {
      for (Attempt.Part part : attempt.parts) {
        if (tookEffect(attempt)
            && openings.getOrDefault(part.owner(), List.of()).stream()
                .anyMatch(o -> o.epoch() > part.epoch() && o.until() < attempt.invokedAt)) {
          report(
              Kind.RESURRECTED,
              "%s took effect under session %d of %s, after a newer one was opened"
                  .formatted(attempt, part.epoch(), part.owner()));
        }
      }
    }
  }

  /**
   * On a primary that was cut off a session goes on that was superseded on the other side: nobody
   * sees what it writes.
   */
  private boolean tookEffect(Attempt attempt) {
    return history.windows.stream().anyMatch(window -> window.holds(attempt.invokedAt))
        ? attempt.seen
        : attempt.knownAt != Long.MAX_VALUE;
  }

  private void report(Kind kind, String what) {
    if (violations.size() < MOST_VIOLATIONS) {
      violations.add(new Violation(kind, what));
    }
  }
}
