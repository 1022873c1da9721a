package io.gameq.redis.script;

import io.gameq.RedisUnavailableException;
import io.gameq.owner.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.Slots;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * {@code waiting.lua}: what waits in each slot, at a cost that grows with the number of slots
 * alone. Stateless.
 */
public final class WaitingScript {
  private static final LuaScript SCRIPT = LuaScript.of(WaitingScript.class, "waiting.lua");

  /** Some of each slot are many together. */
  private static final String MOST_COUNTED = "4";

  private WaitingScript() {}

  /**
   * Looks at all slots, over a connection that no other thread uses meanwhile.
   *
   * @param paused tables whose rows are to wait: they do not count as old
   * @throws RedisUnavailableException when Redis does not answer
   * @throws io.gameq.GameQueueException when Redis refuses, as a replica does
   */
  public static List<Waiting> call(RedisConnection redis, Slots slots, Set<String> paused) {
    List<String> args = new ArrayList<>(List.of(MOST_COUNTED));
    paused.forEach(table -> args.add(PercentEncoding.percent(table)));
    List<LuaScript.Call> calls = new ArrayList<>();
    for (int i = 0; i < slots.count(); i++) {
      calls.add(new LuaScript.Call(slots.get(i), args));
    }
    List<LuaScript.Answer> answers = SCRIPT.callEach(redis, calls);
    List<Waiting> waiting = new ArrayList<>();
    for (int i = 0; i < slots.count(); i++) {
      waiting.add(waiting(i, answers.get(i).get()));
    }
    return waiting;
  }

  private static Waiting waiting(int slot, List<Object> reply) {
    long[] of = reply.stream().mapToLong(Long.class::cast).toArray();
    return new Waiting(
        slot, of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8], of[9], of[10], of[11],
        of[12]);
  }
}
