package io.gameq.writer.redis;

import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.SessionScripts;
import io.gameq.writer.mysql.OldOwners.OldOwner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@code unused.lua}: owners of which Redis holds nothing. Stateless. */
public final class UnusedOwners {
  /** A node tells a Redis that was emptied of its sessions within seconds: this leaves room. */
  private static final long SOUND_MILLIS = 3_600_000;

  private static final LuaScript UNUSED = LuaScript.of(UnusedOwners.class, "unused.lua");

  /** A script holds Redis for about 10 us an owner. */
  private static final int AT_ONCE = 200;

  private static final long NOTHING = 1;
  private static final long NOT_CLOSED = 2;

  private UnusedOwners() {}

  /**
   * Those of which Redis holds nothing, whose nodes are gone for good, or alive and have told Redis
   * of all that they have open. A session that its node left without a close is closed: its owner
   * is among them an hour later.
   *
   * @return nobody, unless nodes have given signs of life for an hour and Redis lost nothing
   *     meanwhile
   * @throws io.gameq.GameQueueException when Redis does not answer
   */
  public static List<OldOwner> among(RedisConnection redis, Slots slots, List<OldOwner> owners) {
    Set<String> processes =
        owners.stream().flatMap(of -> of.processes().stream()).collect(Collectors.toSet());
    Set<String> alive = new HashSet<>(processes);
    alive.removeIf(of -> NodeSigns.aliveNode(redis, slots.namespace(), of) == null);
    Set<String> healed = new HashSet<>(alive);
    healed.removeIf(of -> !NodeSigns.isHealed(redis, slots.namespace(), of));
    List<OldOwner> unused = new ArrayList<>();
    slots
        .grouped(owners, OldOwner::owner)
        .forEach(
            (slot, all) -> {
              for (List<OldOwner> some : LuaScript.pieces(all, AT_ONCE)) {
                List<Object> reply =
                    UNUSED.call(redis, slot, some.stream().map(UnusedOwners::arguments).toList());
                for (int i = 0; i < some.size(); i++) {
                  OldOwner of = some.get(i);
                  long state = (Long) reply.get(i);
                  if (state == NOTHING && (!of.hasNode() || healed.containsAll(of.processes()))) {
                    unused.add(of);
                  } else if (state == NOT_CLOSED
                      && !of.hasNode()
                      && Collections.disjoint(alive, of.processes())) {
                    boolean unusedReply =
                        SessionScripts.close(redis, slot, of.owner(), of.sessions().newest());
                  }
                }
              }
            });
    // Last: Redis has lost nothing between the look at a node and that at its owner.
    return NodeSigns.soundMillis(redis, slots.namespace()) < SOUND_MILLIS ? List.of() : unused;
  }

  private static List<Object> arguments(OldOwner of) {
    OwnerId owner = of.owner();
    return Stream.concat(
            Stream.of(owner), Stream.concat(of.sessions().all().stream(), Stream.of("")).limit(2))
        .toList();
  }
}
