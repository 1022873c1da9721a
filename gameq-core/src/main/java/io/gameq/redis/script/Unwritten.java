package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * {@code unwritten.lua}: an owner with rows of before a time that are not in MySQL yet. Immutable.
 *
 * @param dirty rows that no writer has, as far as they were counted
 * @param claimed rows that a writer has, as far as they were counted
 * @param attempts how often these were claimed and not written, not counting outages
 * @param refusedForMillis how long ago MySQL first refused one of them; 0 if it never did
 * @param tables of the rows that were counted
 */
public record Unwritten(
    OwnerId owner,
    long dirty,
    long claimed,
    long attempts,
    long refusedForMillis,
    Set<String> tables) {
  private static final LuaScript SCRIPT =
      LuaScript.of(Unwritten.class, "claims.lua", "unwritten.lua");

  public Unwritten {
    tables = Set.copyOf(tables);
  }

  public long rows() {
    return dirty + claimed;
  }

  /**
   * Which owners of one slot have such rows.
   *
   * @param newest the highest version that counts
   * @param mostRows of each owner that are counted
   * @param members as {@link WaitingOwners} names them, {@value WaitingOwners#MOST_AT_ONCE} at most
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<Unwritten> among(
      RedisConnection redis, SlotKeys slot, long newest, int mostRows, List<String> members) {
    return SCRIPT.call(redis, slot, LuaScript.version(newest), mostRows, members).stream()
        .map(of -> unwritten((List<?>) of, members))
        .toList();
  }

  private static Unwritten unwritten(List<?> reply, List<String> members) {
    String member = members.get(Math.toIntExact((Long) reply.get(0)));
    return new Unwritten(
        OwnerId.ofEncoded(member.substring(0, member.lastIndexOf(':'))),
        (Long) reply.get(1),
        (Long) reply.get(2),
        (Long) reply.get(3),
        (Long) reply.get(4),
        ((List<?>) reply.get(5))
            .stream()
                .map(name -> PercentEncoding.unpercent(LuaScript.string(name)))
                .collect(Collectors.toSet()));
  }
}
