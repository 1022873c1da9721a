package io.gameq.change;

import io.gameq.message.MessageChange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a commit changes of the messages of one slot. Immutable but for the versions inside the
 * values, and for {@link #setBefore}, which only the sender's thread uses.
 */
public final class SlotMessages {
  private final int slot;
  private final List<MessageChange> changes;
  private long before;

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

  /**
   * The sequence of the commit before this one of its sender that changed messages of the slot; 0
   * for none. Redis notes what lies between that and its mark as not arrived.
   */
  public long before() {
    return before;
  }

  /** The same, sent again or replayed: what was sent before it says nothing then. */
  public SlotMessages withoutBefore() {
    return new SlotMessages(slot, changes);
  }

  public void setBefore(long sequence) {
    before = sequence;
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
