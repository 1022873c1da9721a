package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.Slots;
import java.util.ArrayList;
import java.util.List;

/** {@code nack.lua}: gives claims back unflushed. Stateless. */
public final class NackScript {
  private static final LuaScript SCRIPT = LuaScript.of(NackScript.class, "claims.lua", "nack.lua");

  private NackScript() {}

  /**
   * Gives claims back, in one round trip. Returns how many were still ours.
   *
   * @param countsAsAttempt false for an outage, which is not the rows' fault
   */
  public static int call(
      RedisConnection redis,
      Slots slots,
      long delayMillis,
      boolean countsAsAttempt,
      List<Claim> claims) {
    List<LuaScript.Call> calls = new ArrayList<>();
    slots
        .grouped(claims, Claim::owner)
        .forEach(
            (slot, some) -> {
              List<String> args = new ArrayList<>();
              args.add(Long.toString(delayMillis));
              args.add(countsAsAttempt ? "1" : "0");
              Claim.addTokens(args, some);
              calls.add(new LuaScript.Call(slot, args));
            });
    return Claim.stillOurs(SCRIPT.callEach(redis, calls));
  }
}
