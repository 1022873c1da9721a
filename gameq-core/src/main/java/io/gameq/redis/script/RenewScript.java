package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** {@code renew.lua}: moves the deadline of claims on. Stateless. */
public final class RenewScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(RenewScript.class, "claims.lua", "renew.lua");

  private RenewScript() {}

  /** Moves the deadline of claims to a lease from now. Returns how many were still ours. */
  public static int call(
      RedisConnection redis, SlotKeys slot, long leaseMillis, Collection<Claim> claims) {
    List<String> args = new ArrayList<>();
    args.add(Long.toString(leaseMillis));
    Claim.addTokens(args, claims);
    return ((Long) SCRIPT.call(redis, slot, args).get(0)).intValue();
  }
}
