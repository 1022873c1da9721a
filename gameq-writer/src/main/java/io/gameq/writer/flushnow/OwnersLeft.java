package io.gameq.writer.flushnow;

import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.WaitingOwners;
import io.gameq.redis.script.WaitingOwners.Unwritten;
import io.gameq.terminal.Shown;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What of some owners is not in MySQL yet. */
final class OwnersLeft implements FlushProgress {
  private static final int MOST_ROWS = 1_000_000; // an owner has fewer: all are counted

  private final ControlConnection redis;
  private final long newest;
  private final Map<SlotKeys, List<String>> members = new LinkedHashMap<>();

  /**
   * Of these owners.
   *
   * @param newest the highest version that counts
   * @param members {@code owner:session}
   */
  OwnersLeft(ControlConnection redis, Slots slots, long newest, List<String> members) {
    this.redis = redis;
    this.newest = newest;
    this.members.putAll(
        slots.grouped(members, of -> OwnerId.ofEncoded(of.substring(0, of.lastIndexOf(':')))));
  }

  @Override
  public List<Unwritten> some() {
    Map<OwnerId, Unwritten> left = new LinkedHashMap<>(); // by several sessions the same rows
    members.forEach(
        (slot, all) -> {
          for (int from = 0; from < all.size(); from += WaitingOwners.MOST_AT_ONCE) {
            List<String> some =
                all.subList(from, Math.min(all.size(), from + WaitingOwners.MOST_AT_ONCE));
            redis
                .ask(of -> WaitingOwners.unwritten(of, slot, newest, MOST_ROWS, some))
                .forEach(of -> left.putIfAbsent(of.owner(), of));
          }
        });
    return List.copyOf(left.values());
  }

  @Override
  public Left look() {
    List<Unwritten> left = some();
    long rows = left.stream().mapToLong(Unwritten::rows).sum();
    long claimed = left.stream().mapToLong(Unwritten::claimed).sum();
    return new Left(
        left.isEmpty(),
        String.format(
            Locale.ROOT,
            "%s of %s, %,d of them claimed by a writer",
            Shown.count(rows, "row"),
            Shown.count(left.stream().map(of -> of.owner().base()).distinct().count(), "owner"),
            claimed));
  }
}
