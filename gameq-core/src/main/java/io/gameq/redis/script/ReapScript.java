package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;

/** {@code reap.lua}: takes back claims whose lease ran out. Stateless. */
public final class ReapScript {
  private static final LuaScript SCRIPT = LuaScript.of(ReapScript.class, "claims.lua", "reap.lua");

  /** Owners that are taken back in one call: a script holds Redis for as long as it takes. */
  public static final int MOST = 100;

  private ReapScript() {}

  /**
   * A claim that its writer let run out.
   *
   * @param lapses how often that happened to the owner's rows since they were last flushed
   */
  public record Reaped(OwnerId owner, String writer, int lapses) {}

  /** Takes back claims of writers that are gone or stalled, at most {@link #MOST}. */
  public static List<Reaped> call(RedisConnection redis, SlotKeys slot) {
    List<Reaped> reaped = new ArrayList<>();
    for (Object entry : SCRIPT.call(redis, slot, List.of(Integer.toString(MOST)))) {
      List<?> parts = (List<?>) entry;
      reaped.add(
          new Reaped(
              OwnerId.ofEncoded(LuaScript.string(parts.get(0))),
              LuaScript.string(parts.get(1)),
              ((Long) parts.get(2)).intValue()));
    }
    return reaped;
  }
}
