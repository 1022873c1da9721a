package io.gameq.writer.explorer;

import io.gameq.durability.TrackerInSteps;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.LookupResult;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A node looks for what no notice told it of, as {@code MissingRows} does: in Redis, then in MySQL.
 * Rows that nobody holds are replayed where the session still owns, else reported; at any moment
 * only if whoever may hold them has put back what it has, and in the end, when nobody has anything
 * left to do, as rows that may come back.
 */
record NodeLook(Servers world, GameNodeActor node) {
  /** The two steps of a look, which may come at any moment. */
  static List<Step> steps(GameNodeActor node, State state, NodeMemory me, int player) {
    TrackerInSteps tracker = me.wal().trackers().get(player);
    if (tracker == null || tracker.rows().isEmpty()) {
      return List.of(
          Step.redisRead(
              node.name() + " has nothing to look for",
              world -> node.settled(me.looked(null).op(me.op() + 1))));
    }
    LookupResult looked = me.looked();
    if (looked == null) {
      return List.of(
          Step.redisRead(
              node.name() + " looks for rows of " + player + " in Redis",
              world -> me.looked(look(world, tracker))));
    }
    if (FlushWorker.isLocked(state, tracker.session().owner())) { // it waits for the flush
      return List.of();
    }
    return List.of(
        Step.mysqlRead(
            node.name() + " looks for rows of " + player + " in MySQL",
            world ->
                node.settled(
                    new NodeLook(world, node)
                        .judge(me, player, looked, false)
                        .looked(null)
                        .op(me.op() + 1))));
  }

  /** All that is left to find, in the end. */
  NodeMemory look(NodeMemory memory) {
    NodeMemory me = memory;
    for (int player : List.copyOf(me.holds().keySet())) {
      TrackerInSteps tracker = Objects.requireNonNull(me.wal().trackers().get(player));
      SessionRef ref = tracker.session();
      if (!tracker.rows().isEmpty()
          && LookupScript.holdsNothing(world.redis, world.slot, ref.owner(), ref.id())) {
        me = judge(me, player, look(world, tracker), true);
      }
    }
    return me;
  }

  private static LookupResult look(Servers world, TrackerInSteps tracker) {
    return LookupScript.look(world.redis, world.slot, tracker.session().owner(), tracker.rows());
  }

  private NodeMemory judge(NodeMemory me, int player, LookupResult looked, boolean isTheEnd) {
    TrackerInSteps tracker = Objects.requireNonNull(me.wal().trackers().get(player));
    SessionRef ref = tracker.session();
    Set<String> rows = tracker.rows();
    OwnerReader.Settled settled =
        world.reader.settled(ref.owner().base(), rows.stream().map(world.catalog::rowKey).toList());
    Map<String, Long> versions = new HashMap<>();
    settled.versions().forEach((key, version) -> versions.put(key.text(), version));
    TrackerInSteps now = tracker.found(versions);
    SortedMap<String, Long> missing = now.missing(looked.versions());
    NodeMemory told = me.wal(me.wal().track(player, now));
    if (missing.isEmpty()) {
      return told;
    }
    boolean owns =
        !Objects.requireNonNull(me.holds().get(player)).lost()
            && CountingSessions.counts(
                world.sessions.current(List.of(ref.owner())).get(ref.owner()), ref.id());
    if (owns) {
      return isTheEnd ? told.doubtsRedis() : told;
    }
    boolean certain = isCertain(settled.open(), looked);
    NodeMemory lost = told.lose(player);
    return node.plant().has(Switch.LOST_NOT_REPORTED) || !(certain || isTheEnd)
        ? lost
        : lost.conflict(ref, missing, !certain).wal(lost.wal().track(player, now.lost(missing)));
  }

  private boolean isCertain(@Nullable SessionId open, LookupResult looked) {
    if (node.plant().has(Switch.REPORTED_WITHOUT_ASKING)) {
      return true;
    }
    return open != null && looked.isAllOf(open);
  }
}
