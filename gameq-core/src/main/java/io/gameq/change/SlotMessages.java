package io.gameq.change;

import io.gameq.message.MessageChange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a commit changes of the messages of one slot. Immutable but for the versions inside the
 * values.
 */
public final class SlotMessages {
  private final int slot;
  private final List<MessageChange> changes;

  public SlotMessages(int slot, List<MessageChange> changes) {
    this.slot = slot;
    this.changes = List.copyOf(changes);
  }

  /** The changes of one commit by their slots, each slot's in their order. */
  public static List<SlotMessages> bySlot(Collection<MessageChange> changes) {
    if (changes.size() == 1) { // nearly every commit
      MessageChange only = changes.iterator().next();
      return List.of(new SlotMessages(only.slot(), List.of(only)));
    }
    Map<Integer, List<MessageChange>> slots = new LinkedHashMap<>();
    changes.forEach(of -> slots.computeIfAbsent(of.slot(), slot -> new ArrayList<>()).add(of));
    List<SlotMessages> all = new ArrayList<>(slots.size());
    slots.forEach((slot, of) -> all.add(new SlotMessages(slot, of)));
    return List.copyOf(all);
  }

  /** The number of the slot. */
  public int slot() {
    return slot;
  }

  public List<MessageChange> changes() {
    return changes;
  }

  /** About what it takes in WAL and Redis, in bytes. */
  public int bytes() {
    int sum = 0;
    for (MessageChange change : changes) {
      sum += change.bytes();
    }
    return sum;
  }
}
