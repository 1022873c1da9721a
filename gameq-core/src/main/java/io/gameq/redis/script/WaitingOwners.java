package io.gameq.redis.script;

import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Who waits in a slot, page by page, so that Redis goes on meanwhile; {@code rows.lua}: their rows
 * of one table. Stateless.
 */
public final class WaitingOwners {
  /** Owners that a script may be asked for: Redis does nothing else meanwhile. */
  public static final int MOST_AT_ONCE = 100;

  private static final LuaScript ROWS = LuaScript.of(WaitingOwners.class, "rows.lua");
  private static final int PAGE = 500;
  private static final ScanArgs SCAN = ScanArgs.Builder.limit(PAGE);

  private WaitingOwners() {}

  /**
   * All of a slot who wait, due, next or claimed: {@code owner:session}, of claimed ones {@code
   * owner:}. Claimed ones are looked for first and last: whoever is given back or claimed meanwhile
   * is found at one of the places.
   *
   * @throws io.gameq.GameQueueException when Redis does not answer, or one of the keys holds
   *     somebody else's value
   */
  public static Set<String> of(RedisConnection redis, SlotKeys slot) {
    Set<String> members = new LinkedHashSet<>();
    return RedisReply.await(
        () -> {
          addClaimed(redis, slot, members);
          ScanIterator.zscan(redis.sync(), slot.due(), SCAN)
              .forEachRemaining(of -> members.add(LuaScript.string(of.getValue())));
          addReady(redis, slot, members);
          addClaimed(redis, slot, members);
          return members;
        });
  }

  private static String claimed(byte[] owner) {
    return LuaScript.string(owner) + ":";
  }

  private static void addClaimed(RedisConnection redis, SlotKeys slot, Set<String> members) {
    ScanIterator.zscan(redis.sync(), slot.lease(), SCAN)
        .forEachRemaining(of -> members.add(claimed(of.getValue())));
  }

  /** It grows at its head and shrinks at its end: from page to page nobody is missed. */
  private static void addReady(RedisConnection redis, SlotKeys slot, Set<String> members) {
    List<byte[]> page;
    for (long from = 0; ; from += PAGE) {
      page = redis.sync().lrange(slot.ready(), from, from + PAGE - 1);
      page.forEach(of -> members.add(LuaScript.string(of)));
      if (page.size() < PAGE) {
        return;
      }
    }
  }

  /**
   * The rows of one table that wait of owners of a slot.
   *
   * @param members as {@link #of} names them, {@value #MOST_AT_ONCE} at most
   * @return the rows in no order, perhaps a row in two versions
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<EncodedRow> rows(
      RedisConnection redis, SlotKeys slot, String table, List<String> members) {
    return LuaScript.rows(ROWS.call(redis, slot, PercentEncoding.percent(table), members));
  }
}
