package io.gameq.writer.redis;

import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.SlotBacklog.WaitingOwners;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** {@code unwritten.lua}: who has rows of before a time that are not in MySQL yet. Stateless. */
public final class UnwrittenOwners {
  private static final LuaScript UNWRITTEN =
      LuaScript.of(UnwrittenOwners.class, "claims.lua", "unwritten.lua");

  private UnwrittenOwners() {}

  /**
   * Some of them, as {@link WaitingOwners#of} names them: those who are first, at most a hundred.
   */
  public static List<String> some(RedisConnection redis, SlotKeys slot) {
    long last = WaitingOwners.MOST_AT_ONCE / 4 - 1;
    return RedisReply.await(
        () -> {
          RedisCommands<byte[], byte[]> on = redis.sync();
          Set<String> some = new LinkedHashSet<>();
          on.zrange(slot.lease(), 0, last).forEach(of -> some.add(LuaScript.string(of) + ":"));
          on.lrange(slot.ready(), 0, last).forEach(of -> some.add(LuaScript.string(of)));
          on.zrange(slot.due(), 0, last).forEach(of -> some.add(LuaScript.string(of)));
          return List.copyOf(some);
        });
  }

  /**
   * An owner with rows of before a time that are not in MySQL yet. Immutable.
   *
   * @param dirty rows that no writer has, as far as they were counted
   * @param claimed rows that a writer has, as far as they were counted
   * @param refusedForMillis how long ago MySQL first refused one of them; 0 if it never did
   * @param tables of the rows that were counted
   */
  public record OwnerBacklog(
      OwnerId owner, long dirty, long claimed, long refusedForMillis, Set<String> tables) {
    public long rows() {
      return dirty + claimed;
    }
  }

  /**
   * Which owners of one slot have such rows.
   *
   * @param newest the highest version that counts
   * @param mostRows of each owner that are counted
   * @param members as {@link WaitingOwners#of} names them, {@value WaitingOwners#MOST_AT_ONCE} at
   *     most
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<OwnerBacklog> unwritten(
      RedisConnection redis, SlotKeys slot, long newest, int mostRows, List<String> members) {
    return UNWRITTEN.call(redis, slot, LuaScript.version(newest), mostRows, members).stream()
        .map(of -> unwritten((List<?>) of, members))
        .toList();
  }

  private static OwnerBacklog unwritten(List<?> reply, List<String> members) {
    String member = members.get(Math.toIntExact((Long) reply.get(0)));
    return new OwnerBacklog(
        OwnerId.ofEncoded(member.substring(0, member.lastIndexOf(':'))),
        (Long) reply.get(1),
        (Long) reply.get(2),
        (Long) reply.get(3),
        ((List<?>) reply.get(4))
            .stream()
                .map(name -> PercentEncoding.unpercent(LuaScript.string(name)))
                .collect(Collectors.toSet()));
  }
}
