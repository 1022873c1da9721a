package io.gameq.writer.redis;

import io.gameq.OwnerId;
import io.gameq.redis.LuaScript;
import io.gameq.redis.SessionScripts;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.List;

/** How claims end: ack.lua, nack.lua, reap.lua. Stateless. */
public final class FinishScripts {
  private static final LuaScript ACK = LuaScript.of(FinishScripts.class, "claims.lua", "ack.lua");
  private static final LuaScript NACK = LuaScript.of(FinishScripts.class, "claims.lua", "nack.lua");
  private static final LuaScript REAP = LuaScript.of(FinishScripts.class, "claims.lua", "reap.lua");

  /** Owners whose claims ran out and are taken back in one call. */
  private static final int MOST_REAPED = 100;

  private FinishScripts() {}

  /** A claim whose rows are in MySQL up to a version. */
  public record Flushed(Claim claim, long version) {}

  /** A claim that its writer let run out. */
  public record Reaped(OwnerId owner, String writer, int attempts) {}

  /** Ends claims and tells their nodes. Returns how many were still ours. */
  public static int ack(
      StatefulRedisConnection<byte[], byte[]> redis,
      SlotKeys slot,
      String namespace,
      List<Flushed> flushed) {
    List<String> args =
        new ArrayList<>(List.of(namespace, Long.toString(SessionScripts.OWN_KEPT_MILLIS)));
    for (Flushed f : flushed) {
      args.add(f.claim().owner().encoded());
      args.add(f.claim().token());
      args.add("%016x".formatted(f.version()));
    }
    return stillOurs(ACK.call(redis, slot, args));
  }

  /**
   * Gives claims back. Returns how many were still ours.
   *
   * @param countsAsAttempt false for an outage, which is not the rows' fault
   */
  public static int nack(
      StatefulRedisConnection<byte[], byte[]> redis,
      SlotKeys slot,
      long delayMillis,
      boolean countsAsAttempt,
      List<Claim> claims) {
    List<String> args =
        new ArrayList<>(List.of(Long.toString(delayMillis), countsAsAttempt ? "0" : "1"));
    for (Claim claim : claims) {
      args.add(claim.owner().encoded());
      args.add(claim.token());
    }
    return stillOurs(NACK.call(redis, slot, args));
  }

  /** Takes back claims of writers that are gone or stalled. */
  public static List<Reaped> reap(StatefulRedisConnection<byte[], byte[]> redis, SlotKeys slot) {
    List<Reaped> reaped = new ArrayList<>();
    for (Object entry : REAP.call(redis, slot, List.of(Integer.toString(MOST_REAPED)))) {
      List<?> parts = (List<?>) entry;
      reaped.add(
          new Reaped(
              OwnerId.ofEncoded(LuaScript.string(parts.get(0))),
              LuaScript.string(parts.get(1)),
              ((Long) parts.get(2)).intValue()));
    }
    return reaped;
  }

  private static int stillOurs(List<Object> reply) {
    return (int) reply.stream().filter(r -> (Long) r == 1).count();
  }
}
