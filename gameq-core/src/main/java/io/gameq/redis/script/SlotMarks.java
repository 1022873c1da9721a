package io.gameq.redis.script;

import java.util.Arrays;

/**
 * By slot, the newest WAL sequence with rows that Redis has acknowledged since the last healing: a
 * Redis that has less has forgotten something. Used by the sender's thread.
 */
public final class SlotMarks {
  private final long[] newest;

  /** Nothing yet. */
  public SlotMarks(int slots) {
    newest = new long[slots];
  }

  /** For who sends no rows to inboxes: notes nothing. */
  static SlotMarks none() {
    return new SlotMarks(0);
  }

  void acknowledged(int slot, long sequence) {
    if (slot < newest.length) {
      newest[slot] = Math.max(newest[slot], sequence);
    }
  }

  /** 0 for none. */
  long reached(int slot) {
    return slot < newest.length ? newest[slot] : 0;
  }

  /** What Redis had is put back: its marks need not say so. */
  public void forget() {
    Arrays.fill(newest, 0);
  }
}
