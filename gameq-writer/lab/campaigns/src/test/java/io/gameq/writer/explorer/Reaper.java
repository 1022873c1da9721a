package io.gameq.writer.explorer;

import io.gameq.writer.flush.Stage;
import io.gameq.writer.flush.Stage.Reap;
import java.util.List;

/**
 * Takes back claims whose lease ran out, which any lease may do at any moment.
 *
 * @param most how often it happens
 */
record Reaper(int most) implements Actor {
  /** No worker is its own. */
  private static final int NOBODY = -1;

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
                  Stage unused = world.turn(NOBODY, "R", 1, Reached.FIRST).next(new Reap(0));
                  return new Memory(me.reaps + 1);
                }));
  }
}
