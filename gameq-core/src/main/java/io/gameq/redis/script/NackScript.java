package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;

/** {@code nack.lua}: gives claims back unflushed. Stateless. */
public final class NackScript {
  private static final LuaScript SCRIPT = LuaScript.of(NackScript.class, "claims.lua", "nack.lua");

  private NackScript() {}

  /**
   * Gives claims back. Returns how many were still ours.
   *
   * @param countsAsAttempt false for an outage, which is not the rows' fault
   */
  public static int call(
      RedisConnection redis,
      SlotKeys slot,
      long delayMillis,
      boolean countsAsAttempt,
      List<Claim> claims) {
    List<String> args = new ArrayList<>();
    args.add(Long.toString(delayMillis));
    args.add(countsAsAttempt ? "1" : "0");
    Claim.addTokens(args, claims);
    return Claim.stillOurs(SCRIPT.call(redis, slot, args));
  }
}
