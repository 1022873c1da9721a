package io.gameq.writer.explorer;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A replica is promoted, and the primary before it goes on serving whoever does not leave it: two
 * primaries. What the replica has not got are the writes that come after this step; nobody is on it
 * before somebody goes over.
 */
record Promotion() implements Actor {
  /**
   * What happened.
   *
   * @param former what the former primary holds; null before the promotion
   */
  record Memory(@Nullable RedisImage former) implements Local {
    @Override
    public String text() {
      return former == null ? "one primary" : "two primaries"; // State adds the former one
    }
  }

  @Override
  public Memory start() {
    return new Memory(null);
  }

  @Override
  public List<Step> steps(State state, Local local) {
    return state.former() != null
        ? List.of()
        : List.of(Step.redisRead("A REPLICA IS PROMOTED", world -> new Memory(state.redis())));
  }
}
