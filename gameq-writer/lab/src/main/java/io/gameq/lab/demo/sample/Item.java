package io.gameq.lab.demo.sample;

import org.jspecify.annotations.Nullable;

/**
 * A row of table item: a stack in a slot of a player; immutable.
 *
 * @param attributes JSON as MySQL prints it, or null
 */
record Item(
    long playerId, int slot, int itemId, long count, Quality quality, @Nullable String attributes) {

  /** How good an item is: the members of the ENUM column. */
  enum Quality {
    common,
    rare,
    epic
  }

  Item counted(long newCount) {
    return new Item(playerId, slot, itemId, newCount, quality, attributes);
  }

  /** The same stack in a slot of somebody. */
  Item at(long newPlayerId, int newSlot) {
    return new Item(newPlayerId, newSlot, itemId, count, quality, attributes);
  }
}
