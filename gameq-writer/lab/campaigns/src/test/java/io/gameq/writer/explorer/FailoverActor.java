package io.gameq.writer.explorer;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Redis fails over to a replica that has not got the newest writes, and every connection of a node
 * breaks. The replica falls behind at some moment; what is written from then on is lost.
 *
 * @param most how often it happens
 * @param lostWrites how many writes are lost at most
 * @param empty whether, instead, Redis comes back with nothing
 */
record FailoverActor(int most, int lostWrites, boolean empty) implements Actor {
  /**
   * What happened.
   *
   * @param outages how often every connection broke
   * @param replica what the replica has, once it is behind
   * @param behind how many writes it has not got
   */
  record Memory(int outages, @Nullable RedisImage replica, int behind) implements Local {
    @Override
    public String text() {
      return outages + " " + behind; // State adds the replica
    }

    /** After a step that changed what Redis holds. */
    Memory wrote() {
      return replica == null ? this : new Memory(outages, replica, behind + 1);
    }
  }

  @Override
  public Memory start() {
    return new Memory(0, null, 0);
  }

  @Override
  public List<Step> steps(State state, Local local) {
    Memory me = (Memory) local;
    if (me.outages == most) {
      return List.of();
    }
    if (empty) {
      return List.of(
          Step.redis(
              "REDIS RESTARTS EMPTY",
              world -> {
                world.emptyRedis();
                return new Memory(me.outages + 1, null, 0);
              }));
    }
    RedisImage replica = me.replica;
    if (replica == null) {
      return List.of(
          Step.redisRead("FAILOVER, nothing is lost", world -> new Memory(me.outages + 1, null, 0)),
          Step.redisRead(
              "(a replica falls behind)", world -> new Memory(me.outages, state.redis(), 0)));
    }
    return me.behind == 0
        ? List.of()
        : List.of(
            Step.redis(
                "FAILOVER, " + me.behind + " writes are lost",
                world -> {
                  world.redisBecomes(replica);
                  return new Memory(me.outages + 1, null, 0);
                }));
  }

  /**
   * Whether another actor's step is worth taking: while a replica is behind, nothing but the
   * failover ends that, and steps that write nothing could have come before it fell behind.
   */
  boolean allows(Memory me, Step step) {
    boolean writes = step.server() == Step.Server.REDIS && step.changes();
    return me.replica == null || (writes ? me.behind < lostWrites : me.behind > 0);
  }

  /** Whether another one may come. */
  boolean mayCome(Memory me) {
    return me.outages < most;
  }
}
