package io.gameq.redis.script;

import io.gameq.change.Commit;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The journal marks of a node's own WAL, as its sender knows them: what each call expects of Redis,
 * and whether the answer fits. Used by the sender's thread.
 */
public final class SlotMarks {
  private static final long LOST = -1;

  /** As Redis told last; {@link #LOST} once it has told another one than it should. */
  private final long[] told;

  /** As they will be once all that is on its way has arrived. */
  private final long[] expected;

  /** The newest sequence that was answered, whatever the answer. */
  private final long[] answered;

  /**
   * Up to which Redis holds all, or it is decided, while its mark is as told: as far as was
   * answered, but for what a healing has found missing and not put back yet.
   */
  private final long[] held;

  private JournalMarks read;

  /** Of a WAL of which nothing was sent. */
  public SlotMarks(int slots) {
    told = new long[slots];
    expected = new long[slots];
    answered = new long[slots];
    held = new long[slots];
    read = JournalMarks.none(slots);
  }

  /** The same as another, from then on apart from it. */
  public SlotMarks(SlotMarks other) {
    told = other.told.clone();
    expected = other.expected.clone();
    answered = other.answered.clone();
    held = other.held.clone();
    read = other.read;
  }

  /**
   * A WAL begins: up to this sequence it holds nothing for Redis. Once the marks that are settled
   * then are written, a Redis that is emptied shows it by what comes first.
   */
  public void begin(long sequence) {
    Arrays.fill(answered, sequence);
    Arrays.fill(held, sequence);
  }

  /**
   * What a call expects of a slot.
   *
   * @param least mark before it: what Redis has told by now; with less it has lost something
   * @param before the mark once all before it has arrived; with more the call comes too late
   * @param delta by how much the call moves the mark
   * @param last the newest sequence of the call in that slot
   */
  public record Move(int slot, long least, long before, long delta, long last) {
    void write(List<byte[]> to) {
      to.add(LuaScript.number(least));
      to.add(LuaScript.number(before));
      to.add(LuaScript.number(delta));
    }
  }

  /** Marks in the answer of a script. */
  static List<Long> marks(Object reply) {
    return ((List<?>) reply).stream().map(mark -> Long.parseLong(LuaScript.string(mark))).toList();
  }

  /** Sends a call to a slot, whose newest commit is {@code last}. */
  public Move next(int slot, long last) {
    long before = expected[slot];
    long delta = Math.max(0, JournalMarks.of(last) - before);
    expected[slot] = before + delta;
    return new Move(slot, told[slot], before, delta, last);
  }

  /** The same of what overtakes others, and so may not move the mark past them. */
  public Move aside(int slot, long last) {
    return new Move(slot, told[slot], expected[slot], 0, last);
  }

  /**
   * Redis took a call, and told the mark before it. Returns whether that is the one that it told
   * last: else it has lost something beneath this connection.
   */
  public boolean taken(Move of, long before) {
    boolean fits = before == told[of.slot];
    told[of.slot] = fits ? before + of.delta : LOST;
    answered(of);
    return fits;
  }

  /** Redis refused all of a call: it did not move the mark. The next call makes up for it. */
  public void refused(Move of) {
    expected[of.slot] -= of.delta;
    answered(of);
  }

  private void answered(Move of) {
    boolean isAllHeld = held[of.slot] >= answered[of.slot];
    answered[of.slot] = Math.max(answered[of.slot], of.last);
    if (isAllHeld) {
      held[of.slot] = answered[of.slot];
    }
  }

  /**
   * A healing has read, or written, the marks; nothing is on its way. A mark that is as Redis told
   * last proves that it has all that it had then, also where refused calls left it without a
   * checksum.
   */
  public void read(JournalMarks marks) {
    long[] proven = new long[told.length];
    Arrays.setAll(
        proven,
        slot ->
            marks.mark(slot) == told[slot]
                ? Math.max(held[slot], marks.sequence(slot))
                : marks.sequence(slot));
    read = marks.proving(proven);
    for (int slot = 0; slot < told.length; slot++) {
      told[slot] = marks.mark(slot);
      expected[slot] = told[slot];
      held[slot] = proven[slot];
    }
  }

  /** Notes which commits without an answer Redis has not taken, by the marks that were read. */
  public void noteNotTaken(JournalMarks marks, Collection<Commit> unanswered) {
    for (Commit commit : unanswered) {
      if (slotsOf(commit).stream().anyMatch(slot -> marks.lacks(slot, commit.sequence()))) {
        commit.setNotTaken();
      }
    }
  }

  /** The marks as a healing has read, or written, them last. */
  public JournalMarks read() {
    return read;
  }

  /**
   * The sequence up to which all of each slot is in Redis or decided, once what was lost is put
   * back; or has no answer, and is known not to be taken.
   */
  public long[] settled() {
    long[] settled = new long[told.length];
    Arrays.setAll(settled, slot -> Math.max(answered[slot], read.sequence(slot)));
    return settled;
  }

  /** By slot: the newest sequence that was answered; 0 for none. */
  public long[] answered() {
    return answered.clone();
  }

  /** The slots in which a commit changes rows or messages, in order. */
  static Set<Integer> slotsOf(Commit commit) {
    Set<Integer> slots = new TreeSet<>();
    commit.parts().forEach(of -> slots.add(of.session().slot()));
    commit.messages().forEach(of -> slots.add(of.slot()));
    return slots;
  }

  @Override
  public String toString() {
    return Arrays.toString(told)
        + Arrays.toString(expected)
        + Arrays.toString(answered)
        + Arrays.toString(held)
        + read;
  }
}
