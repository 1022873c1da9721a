package io.gameq.writer.redis;

import static io.lettuce.core.Range.Boundary.excluding;
import static io.lettuce.core.Range.Boundary.unbounded;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.LuaScript;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.ZAddArgs;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * When sessions are due to be flushed, as the scores of {@code due} say it. Stateless.
 *
 * <pre>
 * below 0   urgent: before all others, in the order of their commits
 * 0         made due before its time
 * above 0   at this time, ms since 1970 of Redis TIME
 * </pre>
 */
public final class DueSlots {
  /** Who is due in more than this is due now, as {@code slot.lua} says. */
  public static final long LONGEST_WAIT_MILLIS = 660_000;

  /** Nothing is to come. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final LuaScript FIRSTS = LuaScript.of(DueSlots.class, "firsts.lua");
  private static final long NEVER_IN_LUA = 1L << 53;

  /** A ZADD holds Redis for as long as it takes. */
  private static final int AT_ONCE = 500;

  private static final ZAddArgs EARLIER = ZAddArgs.Builder.xx().lt();

  private DueSlots() {}

  /**
   * Makes who is due after a time due now, some at a time, so that Redis goes on meanwhile. Of
   * those who come while this lasts some may be left. Returns how many there were.
   *
   * @param nowMillis Redis TIME, ms since 1970
   * @throws io.gameq.GameQueueException when Redis does not answer, or refuses; some may be due by
   *     then
   */
  public static long pullForward(
      RedisConnection redis, SlotKeys slot, long afterMillis, long nowMillis) {
    return RedisReply.await(
        () -> {
          long all =
              redis.sync().zcount(slot.due(), Range.from(excluding(afterMillis), unbounded()));
          long moved = 0;
          for (int some = 1; moved < all && some > 0; moved += some) {
            some = advance(redis, slot.due(), afterMillis, nowMillis);
          }
          return moved;
        });
  }

  /**
   * Ends no lease later than at a time, some at a time: leases of a clock that was ahead. Whoever
   * is still at it prolongs his own.
   *
   * @param latestMillis Redis TIME, ms since 1970
   * @throws io.gameq.GameQueueException when Redis does not answer, or refuses
   */
  public static void cutLeases(RedisConnection redis, SlotKeys slot, long latestMillis) {
    RedisReply.await(
        () -> {
          int some;
          do {
            some = advance(redis, slot.lease(), latestMillis, latestMillis);
          } while (some > 0);
          return true;
        });
  }

  /** Moves some of what has a score after a time to another time; returns how many. */
  private static int advance(RedisConnection redis, byte[] key, long afterMillis, long toMillis) {
    Range<Number> later = Range.from(excluding(afterMillis), unbounded());
    List<byte[]> some = redis.sync().zrangebyscore(key, later, Limit.create(0, AT_ONCE));
    if (!some.isEmpty()) {
      Object[] scores = some.stream().flatMap(of -> Stream.of((double) toMillis, of)).toArray();
      long unused = redis.sync().zadd(key, EARLIER, scores);
    }
    return some.size();
  }

  /**
   * What there is to do in each slot. 0 where somebody else's value is in the way: whoever does
   * something there says what is wrong.
   *
   * @param due when the next owner of each is due, by Redis TIME, ms since 1970; 0 or less when he
   *     is urgent; or {@link #NEVER}
   * @param ready 0 where a claim left owners for the next one, else {@link #NEVER}; empty unless it
   *     was asked for
   * @param leases when the first lease of each ends, like due; empty unless it was asked for
   */
  public record EarliestTimes(long[] due, long[] ready, long[] leases) {}

  /**
   * Looks at all slots, one call for many.
   *
   * @param isWhole whether to look for what writers that are gone left, too
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static EarliestTimes firsts(RedisConnection redis, Slots slots, boolean isWhole) {
    int kinds = isWhole ? 3 : 1;
    long[][] found = new long[3][isWhole ? slots.count() : 0];
    found[0] = new long[slots.count()];
    for (int from = 0; from < slots.count(); from += AT_ONCE) {
      int some = Math.min(AT_ONCE, slots.count() - from);
      byte[][] keys =
          IntStream.range(from, from + some)
              .mapToObj(i -> SlotKeys.bytes(slots.get(i).prefix()))
              .toArray(byte[][]::new);
      List<Object> scores = FIRSTS.call(redis, keys, isWhole);
      for (int i = 0; i < kinds * some; i++) {
        long score = (Long) scores.get(i);
        found[i / some][from + i % some] = score == NEVER_IN_LUA ? NEVER : score;
      }
    }
    return new EarliestTimes(found[0], found[1], found[2]);
  }
}
