package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** {@code unwritten.lua}: which owners have rows of before a time. Stateless. */
public final class UnwrittenScript {
  /** Redis does nothing else meanwhile. */
  public static final int MOST_OWNERS = 100;

  private static final LuaScript SCRIPT =
      LuaScript.of(UnwrittenScript.class, "claims.lua", "unwritten.lua");

  private UnwrittenScript() {}

  /**
   * Looks at owners of one slot.
   *
   * @param newest the highest version that counts
   * @param mostRows of each owner that are counted
   * @param members as {@link WaitingOwners} names them, {@value #MOST_OWNERS} at most
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<Unwritten> call(
      RedisConnection redis, SlotKeys slot, long newest, int mostRows, List<String> members) {
    List<String> args = new ArrayList<>();
    args.add(HexFormat.of().toHexDigits(newest));
    args.add(Integer.toString(mostRows));
    args.addAll(members);
    return SCRIPT.call(redis, slot, args).stream()
        .map(reply -> unwritten((List<?>) reply, members))
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
