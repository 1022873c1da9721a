package io.gameq.writer.explorer;

import io.gameq.TrackerInSteps;
import io.gameq.catalog.RowCodec;
import io.gameq.commit.CountingSessions;
import io.gameq.commit.SessionRef;
import io.gameq.redis.SessionScripts;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;

/**
 * A node looks for what no notice told it of, as {@code GameNode.lookFor} does after its grace:
 * when nobody else has anything left to do. Rows that nobody holds are replayed where the session
 * still owns, else reported.
 */
record NodeLook(World world, GameNodeActor node) {
  NodeMemory look(NodeMemory memory) {
    NodeMemory me = memory;
    for (int player : List.copyOf(me.holds().keySet())) {
      TrackerInSteps tracker = Objects.requireNonNull(me.wal().trackers().get(player));
      SessionRef ref = tracker.session();
      if (!tracker.rows().isEmpty()
          && SessionScripts.holdsNothing(world.redis, world.slot, ref.owner(), ref.id())) {
        me = lookFor(me, player, tracker, ref);
      }
    }
    return me;
  }

  private NodeMemory lookFor(NodeMemory me, int player, TrackerInSteps tracker, SessionRef ref) {
    Map<String, Long> inRedis = new HashMap<>();
    SessionScripts.read(world.redis, world.slot, ref.owner())
        .forEach(row -> inRedis.merge(row.key(), RowCodec.version(row.image()), Math::max));
    TrackerInSteps now = tracker.found(inMySql(tracker.rows()));
    SortedMap<String, Long> missing = now.missing(inRedis);
    NodeMemory told = me.wal(me.wal().track(player, now));
    if (missing.isEmpty()) {
      return told;
    }
    boolean owns =
        !Objects.requireNonNull(me.holds().get(player)).lost()
            && CountingSessions.counts(
                world.sessions.current(List.of(ref.owner())).get(ref.owner()), ref.id());
    if (owns) {
      return told.doubtsRedis();
    }
    NodeMemory lost = node.settled(told.lose(player));
    return node.plant().has(Switch.LOST_NOT_REPORTED)
        ? lost
        : lost.conflict(ref, missing).wal(lost.wal().track(player, now.lost(missing)));
  }

  private Map<String, Long> inMySql(Collection<String> rows) {
    Map<String, Long> versions = new HashMap<>();
    world
        .reader
        .versions(rows.stream().map(world.catalog::rowKey).toList())
        .forEach((key, version) -> versions.put(key.text(), version));
    return versions;
  }
}
