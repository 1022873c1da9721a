package io.gameq.writer.flushnow;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.WaitingOwners;
import io.gameq.redis.script.WaitingOwners.Unwritten;
import io.gameq.terminal.Shown;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * What of all owners is not in MySQL yet: slot by slot, since all slots are written meanwhile, and
 * of a slot those who were found waiting. A slot is done when a fresh look at all who wait in it
 * finds nobody with rows that count.
 */
final class SlotsLeft implements FlushProgress {
  /** Of one look: whoever waits wants to be told meanwhile. */
  private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  /** Of an owner, to tell from their tables why he waits. */
  private static final int MOST_ROWS = 1_000;

  private final ControlConnection redis;
  private final Slots slots;
  private final long newest;
  private int slot;
  private Set<String> waiting = Set.of();
  private boolean isFresh;

  /**
   * Of all slots.
   *
   * @param newest the highest version that counts
   */
  SlotsLeft(ControlConnection redis, Slots slots, long newest) {
    this.redis = redis;
    this.slots = slots;
    this.newest = newest;
  }

  @Override
  public Left look() {
    long began = System.nanoTime();
    boolean goesOn = true;
    while (slot < slots.count() && goesOn && System.nanoTime() - began < MOST_NANOS) {
      goesOn = step(slots.get(slot));
    }
    return new Left(
        slot == slots.count(),
        String.format(
            Locale.ROOT,
            "%,d of %s are written; in slot %d %s may wait",
            slot,
            Shown.count(slots.count(), "slot"),
            slot,
            Shown.count(waiting.size(), "owner")));
  }

  /** Looks at some owners of a slot; false when none of them has been written since. */
  private boolean step(SlotKeys of) {
    if (waiting.isEmpty()) {
      waiting = new LinkedHashSet<>(redis.ask(connection -> WaitingOwners.of(connection, of)));
      isFresh = true;
      if (waiting.isEmpty()) {
        slot++;
        return true;
      }
    }
    List<String> some = waiting.stream().limit(WaitingOwners.MOST_AT_ONCE).toList();
    List<Unwritten> found =
        redis.ask(connection -> WaitingOwners.unwritten(connection, of, newest, 1, some));
    Set<String> left = found.stream().map(one -> one.owner().encoded()).collect(Collectors.toSet());
    Set<String> written = new HashSet<>(some);
    written.removeIf(one -> left.contains(one.substring(0, one.lastIndexOf(':'))));
    waiting.removeAll(written);
    if (!left.isEmpty()) {
      isFresh = false;
    } else if (waiting.isEmpty() && isFresh) {
      slot++;
    }
    return !written.isEmpty();
  }

  @Override
  public List<Unwritten> some() {
    Set<Unwritten> some = new LinkedHashSet<>(); // whoever is due and claimed comes twice
    for (int number = slot; number < slots.count(); number++) {
      SlotKeys of = slots.get(number);
      some.addAll(
          redis.ask(
              connection ->
                  WaitingOwners.unwritten(
                      connection, of, newest, MOST_ROWS, WaitingOwners.some(connection, of))));
    }
    return List.copyOf(some);
  }
}
