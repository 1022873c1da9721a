package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;

/** How claims go on and end: renew.lua, ack.lua, nack.lua, reap.lua. Stateless. */
public final class FinishScripts {
  private static final LuaScript ACK = LuaScript.of(FinishScripts.class, "claims.lua", "ack.lua");
  private static final LuaScript NACK = LuaScript.of(FinishScripts.class, "claims.lua", "nack.lua");
  private static final LuaScript REAP = LuaScript.of(FinishScripts.class, "claims.lua", "reap.lua");

  private static final LuaScript RENEW =
      LuaScript.of(FinishScripts.class, "claims.lua", "renew.lua");

  /** Owners whose claims ran out and are taken back in one call. */
  public static final int MOST_REAPED = 100;

  private FinishScripts() {}

  /**
   * A claim that was flushed.
   *
   * @param version up to which all of it is in MySQL, set aside, or kept
   * @param setAside rows that are dead letters now
   * @param kept rows that go back to wait
   */
  public record Flushed(
      Claim claim, long version, List<VersionedKey> setAside, List<VersionedKey> kept) {}

  /** A row, by its key {@code table:parts}, in a version. */
  public record VersionedKey(String key, long version) {}

  /**
   * A claim that its writer let run out.
   *
   * @param lapses how often that happened to the owner's rows since they were last flushed
   */
  public record Reaped(OwnerId owner, String writer, int lapses) {}

  /**
   * Ends claims and tells their nodes. Returns how many were still ours.
   *
   * @param keptDelayMillis until owners with kept rows are due again
   */
  public static int ack(
      RedisConnection redis,
      SlotKeys slot,
      String namespace,
      long keptDelayMillis,
      List<Flushed> flushed) {
    List<String> args =
        new ArrayList<>(
            List.of(
                namespace,
                Long.toString(SessionScripts.OWN_KEPT_MILLIS),
                Long.toString(keptDelayMillis)));
    for (Flushed f : flushed) {
      args.add(f.claim().owner().encoded());
      args.add(f.claim().token());
      args.add(hex(f.version()));
      addRows(args, f.setAside());
      addRows(args, f.kept());
    }
    return stillOurs(ACK.call(redis, slot, args));
  }

  private static void addRows(List<String> args, List<VersionedKey> rows) {
    args.add(Integer.toString(rows.size()));
    for (VersionedKey row : rows) {
      args.add(row.key());
      args.add(hex(row.version()));
    }
  }

  private static String hex(long version) {
    return HexFormat.of().toHexDigits(version);
  }

  /** Moves the deadline of claims to a lease from now. Returns how many were still ours. */
  public static int renew(
      RedisConnection redis, SlotKeys slot, long leaseMillis, Collection<Claim> claims) {
    List<String> args = new ArrayList<>(List.of(Long.toString(leaseMillis)));
    addTokens(args, claims);
    return ((Long) RENEW.call(redis, slot, args).get(0)).intValue();
  }

  private static void addTokens(List<String> args, Collection<Claim> claims) {
    for (Claim claim : claims) {
      args.add(claim.owner().encoded());
      args.add(claim.token());
    }
  }

  /**
   * Gives claims back. Returns how many were still ours.
   *
   * @param countsAsAttempt false for an outage, which is not the rows' fault
   */
  public static int nack(
      RedisConnection redis,
      SlotKeys slot,
      long delayMillis,
      boolean countsAsAttempt,
      List<Claim> claims) {
    List<String> args =
        new ArrayList<>(List.of(Long.toString(delayMillis), countsAsAttempt ? "1" : "0"));
    addTokens(args, claims);
    return stillOurs(NACK.call(redis, slot, args));
  }

  /** Takes back claims of writers that are gone or stalled, at most {@link #MOST_REAPED}. */
  public static List<Reaped> reap(RedisConnection redis, SlotKeys slot) {
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
