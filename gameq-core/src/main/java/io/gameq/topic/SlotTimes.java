package io.gameq.topic;

import io.gameq.redis.topic.ConsumerScripts.Share;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * When to look into which slot of a topic: when its next message is due, when a notice came, and
 * every second in any case. One thread uses it; {@link #notice} and {@link #noticeAll} are for any.
 */
final class SlotTimes {
  /** A notice can be lost: so much later a message is found all the same. */
  private static final long POLL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** By System.nanoTime, relative to {@link #origin}; Long.MAX_VALUE for never. */
  private final long[] next;

  private final AtomicIntegerArray noticed;
  private final long origin = System.nanoTime();
  private long poll;

  SlotTimes(int slots) {
    next = new long[slots];
    Arrays.fill(next, Long.MAX_VALUE);
    noticed = new AtomicIntegerArray(slots);
  }

  private long now() {
    return System.nanoTime() - origin;
  }

  /** Something is due soon in a slot; numbers that are none are ignored. */
  void notice(int slot) {
    if (slot >= 0 && slot < next.length) {
      noticed.set(slot, 1);
    }
  }

  /** Something may be due in every slot. */
  void noticeAll() {
    for (int slot = 0; slot < next.length; slot++) {
      noticed.set(slot, 1);
    }
  }

  /**
   * Where to look now, those that have waited longest first.
   *
   * @param room how many messages may be taken in all
   */
  List<Share> due(int room) {
    long now = now();
    boolean isPoll = now >= poll;
    if (isPoll) {
      poll = now + POLL_NANOS;
    }
    List<Integer> slots = new ArrayList<>();
    for (int slot = 0; slot < next.length; slot++) {
      if (noticed.get(slot) != 0 || isPoll) {
        next[slot] = Math.min(next[slot], now);
      }
      if (next[slot] <= now) {
        slots.add(slot);
      }
    }
    slots.sort(Comparator.comparingLong(slot -> next[slot]));
    List<Share> shares = new ArrayList<>();
    int left = room;
    for (int i = 0; i < slots.size() && left > 0; i++) {
      int most = (left + slots.size() - i - 1) / (slots.size() - i);
      left -= most;
      noticed.set(slots.get(i), 0); // before the look: a notice that comes meanwhile counts
      shares.add(new Share(slots.get(i), most));
    }
    return shares;
  }

  /**
   * What a look showed.
   *
   * @param waitMillis until the next message is due; 0 when there may be more now, -1 for none
   */
  void looked(int slot, long waitMillis) {
    next[slot] =
        waitMillis < 0 ? Long.MAX_VALUE : now() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
  }

  /** Until something is to be looked at, ns; 0 for now. */
  long waitNanos() {
    long now = now();
    long first = poll;
    for (int slot = 0; slot < next.length; slot++) {
      first = Math.min(first, noticed.get(slot) != 0 ? now : next[slot]);
    }
    return Math.max(0, first - now);
  }
}
