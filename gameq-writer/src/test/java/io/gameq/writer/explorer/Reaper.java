package io.gameq.writer.explorer;

import io.gameq.redis.script.ReapScript;
import java.util.List;

/**
 * Takes back claims whose lease ran out, which any lease may do at any moment.
 *
 * @param most how often it happens
 */
record Reaper(int most) implements Actor {
  /** How often it happened. */
  record Memory(int reaps) implements Local {
    @Override
    public String text() {
      return toString();
    }
  }

  @Override
  public Memory start() {
    return new Memory(0);
  }

  @Override
  public List<Step> steps(State state, Local local) {
    Memory me = (Memory) local;
    return me.reaps == most || state.redis().items("}:lease").isEmpty()
        ? List.of()
        : List.of(
            Step.redis(
                "a lease runs out, reap",
                world -> {
                  ReapScript.call(world.redis, world.slot);
                  return new Memory(me.reaps + 1);
                }));
  }
}
