package io.gameq.recovery.plan;

import java.util.BitSet;

/**
 * WALs, by number, whose nodes put back by themselves what is missing.
 *
 * @param alive those whose nodes gave a sign of life
 * @param written those that a process on this host writes
 */
record HealingWals(BitSet alive, BitSet written) {
  boolean heals(int wal, boolean includeLive) {
    return written.get(wal) || (alive.get(wal) && !includeLive);
  }

  /** Those of either kind. */
  BitSet all() {
    BitSet all = (BitSet) alive.clone();
    all.or(written);
    return all;
  }
}
