package io.gameq.writer.explorer;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Redis comes back empty, once, and every connection breaks. Acknowledged changes that were only
 * there are gone until nodes replay their WAL, which they do not do yet; everything else must hold.
 */
record RedisRestart() implements Actor {
  /**
   * What happened.
   *
   * @param lost changes that only Redis held
   */
  record Memory(int restarts, Set<String> lost) implements Local {
    @Override
    public String text() {
      return restarts + " " + new java.util.TreeSet<>(lost);
    }
  }

  @Override
  public Memory start() {
    return new Memory(0, Set.of());
  }

  @Override
  public List<Step> steps(State state, Local local) {
    if (((Memory) local).restarts > 0) {
      return List.of();
    }
    Set<String> lost =
        state
            .changes()
            .filter(change -> change.version() > state.tables().version(change.row()))
            .map(RedisRestart::name)
            .collect(Collectors.toSet());
    return List.of(
        Step.redis(
            "REDIS RESTARTS EMPTY",
            world -> {
              world.emptyRedis();
              return new Memory(1, lost);
            }));
  }

  static String name(Change change) {
    return change.row() + "@" + change.version();
  }

  /** Whether a change was only in Redis when it came back empty. */
  static boolean lost(State state, Change change) {
    return state.all(Memory.class).anyMatch(m -> m.lost.contains(name(change)));
  }
}
