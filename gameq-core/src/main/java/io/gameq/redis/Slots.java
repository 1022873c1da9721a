package io.gameq.redis;

import io.gameq.owner.OwnerId;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The slots of a namespace, in order. Immutable. */
public final class Slots {
  private final String namespace;
  private final SlotKeys[] slots;

  public Slots(String namespace, int count) {
    this.namespace = namespace;
    this.slots = SlotKeys.all(namespace, count);
  }

  public String namespace() {
    return namespace;
  }

  public int count() {
    return slots.length;
  }

  /** By number, from 0. */
  public SlotKeys get(int slot) {
    return slots[slot];
  }

  /** All, by number. */
  public SlotKeys[] all() {
    return slots.clone();
  }

  /** Where an owner's keys are. */
  public SlotKeys of(OwnerId owner) {
    return slots[owner.slot(slots.length)];
  }

  /** By slot, since a script has one slot at a time; keeps the order within each. */
  public <T> Map<SlotKeys, List<T>> grouped(Collection<T> all, Function<T, OwnerId> owner) {
    return all.stream()
        .collect(
            Collectors.groupingBy(
                one -> of(owner.apply(one)), LinkedHashMap::new, Collectors.toList()));
  }
}
