package io.gameq.writer.flushnow;

import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.mysql.tables.PauseTable.Scope;
import io.gameq.redis.script.WaitingOwners.Unwritten;
import io.gameq.terminal.Shown;
import io.gameq.writer.pause.PauseText;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.process.Processes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Why rows are not written yet, as far as that can be seen from outside. Immutable. */
public final class WhyWaiting {
  private final Pauses pauses;
  private final Set<String> heldTables;
  private final int slots;
  private final boolean hasRoomForDeadLetters;
  private final Processes writers;

  /**
   * By what the servers say.
   *
   * @param heldTables of which rows wait: those that are paused, and those that refer to them
   * @param slots of the namespace
   * @param hasRoomForDeadLetters whether a row that MySQL refuses can be set aside
   * @param writers what those that run say of themselves
   */
  public WhyWaiting(
      Pauses pauses,
      Set<String> heldTables,
      int slots,
      boolean hasRoomForDeadLetters,
      Processes writers) {
    this.pauses = pauses;
    this.heldTables = Set.copyOf(heldTables);
    this.slots = slots;
    this.hasRoomForDeadLetters = hasRoomForDeadLetters;
    this.writers = writers;
  }

  /** Each reason in one line, with what it holds up; empty when nobody is given. */
  public List<String> of(List<Unwritten> owners) {
    List<String> why = new ArrayList<>();
    List<Unwritten> rest = new ArrayList<>(owners);
    take(rest, of -> slotPause(of) != null)
        .forEach(of -> addOnce(why, PauseText.line(Objects.requireNonNull(slotPause(of)))));
    List<Unwritten> held = take(rest, of -> heldTables.containsAll(of.tables()));
    if (!held.isEmpty()) {
      pauses.all().stream()
          .filter(of -> of.scope() == Scope.TABLE)
          .forEach(of -> addOnce(why, PauseText.line(of)));
      add(why, held, "nothing but rows of paused tables, or of tables that refer to them");
    }
    List<Unwritten> refused = take(rest, of -> of.refusedForMillis() > 0);
    if (!refused.isEmpty()) {
      long millis = refused.stream().mapToLong(Unwritten::refusedForMillis).max().orElse(0);
      add(
          why,
          refused,
          "MySQL refuses rows of them, since %s s: they are tried again%s"
              .formatted(
                  millis / 1_000,
                  hasRoomForDeadLetters
                      ? ", then set aside"
                      : "; there is no room for more dead letters (writer.deadLetters): see 'dead"
                          + " list'"));
    }
    add(why, take(rest, of -> of.claimed() > 0), "claimed by a writer that has yet to finish");
    if (!rest.isEmpty()) {
      pauses.all().stream()
          .filter(of -> of.scope() == Scope.WRITER)
          .forEach(of -> addOnce(why, PauseText.line(of)));
      writers.writers().stream()
          .flatMap(of -> of.toDo().stream())
          .forEach(line -> addOnce(why, line));
      add(
          why,
          rest,
          writers.writersThere() == 0
              ? "due, and no writer runs: start one"
              : "due and not claimed, or given back: the logs of the writers and their /ready say"
                  + " why");
    }
    return why;
  }

  private @Nullable Pause slotPause(Unwritten of) {
    return pauses.ofSlot(of.owner().slot(slots));
  }

  private static void add(List<String> why, List<Unwritten> owners, String reason) {
    if (!owners.isEmpty()) {
      why.add(
          "%s (%s%s): %s"
              .formatted(
                  Shown.count(owners.size(), "owner"),
                  Shown.text(owners.get(0).owner().id()),
                  owners.size() > 1 ? ", ..." : "",
                  reason));
    }
  }

  private static void addOnce(List<String> why, String line) {
    if (!why.contains(line)) {
      why.add(line);
    }
  }

  private static List<Unwritten> take(List<Unwritten> from, Predicate<Unwritten> which) {
    List<Unwritten> taken = new ArrayList<>();
    from.removeIf(of -> which.test(of) && taken.add(of));
    return taken;
  }
}
