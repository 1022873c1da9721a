package io.gameq.healing;

import io.gameq.redis.script.MessageMarks.Hole;
import io.gameq.redis.script.MessageMarks.Marks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which message changes of a WAL Redis lacks, by its marks before anything was replayed. Immutable.
 * A replay that does not come to its end leaves them owed: the marks, which it moved, may say
 * nothing of them any more.
 */
public final class LackingMessages {
  /** Nothing is known to be lacking. */
  public static final LackingMessages NONE = new LackingMessages(List.of(), Set.of());

  private static final Marks ALL_THERE = new Marks(Long.MAX_VALUE, List.of());

  private final List<Marks> bySlot;
  private final Set<Long> without;

  private LackingMessages(List<Marks> bySlot, Set<Long> without) {
    this.bySlot = bySlot;
    this.without = without;
  }

  /** Leaves out the messages of records whose rows are lost for good. */
  LackingMessages without(Set<Long> sequences) {
    if (sequences.isEmpty()) {
      return this;
    }
    Set<Long> all = new HashSet<>(without);
    all.addAll(sequences);
    return new LackingMessages(bySlot, Set.copyOf(all));
  }

  boolean isWithout(long sequence) {
    return without.contains(sequence);
  }

  /** Adds what marks, one for each slot, tell to be lacking. */
  public LackingMessages plus(Marks[] marks) {
    List<Marks> all = new ArrayList<>(marks.length);
    for (int slot = 0; slot < marks.length; slot++) {
      all.add(bySlot.isEmpty() ? marks[slot] : lower(bySlot.get(slot), marks[slot]));
    }
    return new LackingMessages(all, without);
  }

  private static Marks lower(Marks a, Marks b) {
    long mark = Math.min(a.mark(), b.mark());
    List<Hole> holes = new ArrayList<>(a.holes());
    b.holes().stream().filter(hole -> !holes.contains(hole)).forEach(holes::add);
    holes.removeIf(hole -> hole.after() >= mark);
    holes.sort(Comparator.comparingLong(Hole::after));
    return new Marks(mark, List.copyOf(holes));
  }

  private Marks of(int slot) {
    return slot < bySlot.size() ? bySlot.get(slot) : ALL_THERE;
  }

  /** Whether Redis lacks what a record changes in a slot. */
  boolean has(int slot, long sequence) {
    return of(slot).lacks(sequence);
  }

  /**
   * The sequence after which the first lacking record may be; {@link Long#MAX_VALUE} when none is
   * lacking.
   *
   * @param newest by slot: the newest record that changes messages there, 0 for none
   */
  long after(long[] newest) {
    long after = Long.MAX_VALUE;
    for (int slot = 0; slot < newest.length; slot++) {
      long from = of(slot).lacksAfter();
      if (newest[slot] > from) {
        after = Math.min(after, from);
      }
    }
    return after;
  }
}
