package io.gameq.redis.script;

import static io.lettuce.core.Range.Boundary.excluding;
import static io.lettuce.core.Range.Boundary.unbounded;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.ZAddArgs;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * When sessions are due to be flushed, as the scores of {@code due} say it. Plain commands.
 * Stateless.
 *
 * <pre>
 * below 0   urgent: before all others, in the order of their commits
 * 0         made due before its time
 * above 0   at this time, ms since 1970 of Redis TIME
 * </pre>
 */
public final class DueSessions {
  /** Who is due in more than this is due now, as {@code slot.lua} says. */
  public static final long LONGEST_WAIT_MILLIS = 660_000;

  /** Nothing is to come. */
  public static final long NEVER = Long.MAX_VALUE;

  /** A ZADD holds Redis for as long as it takes. */
  private static final int AT_ONCE = 500;

  /** In the year 2286: what is subtracted from a time until then leaves less than 0. */
  private static final long FAR_MILLIS = 10_000_000_000_000L;

  private static final ZAddArgs EARLIER = ZAddArgs.Builder.xx().lt();

  private DueSessions() {}

  /** The score of what would be due at a time, were it not urgent. */
  static long urgent(long dueMillis) {
    return dueMillis - FAR_MILLIS;
  }

  /**
   * Makes what sessions have dirty due now instead of at the end of their merge windows; over a
   * connection that flushes by itself.
   */
  public static void flushNow(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    List<CompletionStage<Long>> replies = new ArrayList<>();
    sessions.stream()
        .collect(Collectors.groupingBy(SessionRef::slot))
        .forEach(
            (slot, all) -> {
              for (List<SessionRef> some : LuaScript.pieces(all, AT_ONCE)) {
                Object[] urgent = some.stream().flatMap(of -> Stream.of(0d, member(of))).toArray();
                replies.add(redis.async().zadd(slots[slot].due(), EARLIER, urgent));
              }
            });
    replies.forEach(RedisReply::await);
  }

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

  private static byte[] member(SessionRef session) {
    return SlotKeys.bytes(session.owner().encoded() + ":" + session.text());
  }

  /**
   * In one round trip for all slots, over a connection that no other thread uses meanwhile: when
   * the next owner of each is due, by Redis TIME, ms since 1970; 0 or less when he is urgent; or
   * {@link #NEVER}. Where somebody else's value is in the way there is something to do, too: who
   * does it says what is wrong.
   *
   * @throws RedisUnavailableException when Redis does not answer
   */
  public static long[] due(RedisConnection redis, Slots slots) {
    return ask(
        redis, slots, (of, slot) -> of.zrangeWithScores(slot.due(), 0, 0), DueSessions::first);
  }

  /** When the first lease of each slot ends; otherwise as {@link #due}. */
  public static long[] leases(RedisConnection redis, Slots slots) {
    return ask(
        redis, slots, (of, slot) -> of.zrangeWithScores(slot.lease(), 0, 0), DueSessions::first);
  }

  /** 0 where a claim left owners for the next one, else {@link #NEVER}; otherwise as due. */
  public static long[] ready(RedisConnection redis, Slots slots) {
    return ask(redis, slots, (of, slot) -> of.llen(slot.ready()), size -> size > 0 ? 0 : NEVER);
  }

  private static long first(List<ScoredValue<byte[]>> members) {
    return members.isEmpty() ? NEVER : (long) members.get(0).getScore();
  }

  private static <T> long[] ask(
      RedisConnection redis,
      Slots slots,
      BiFunction<RedisAsyncCommands<byte[], byte[]>, SlotKeys, CompletionStage<T>> question,
      ToLongFunction<T> value) {
    List<CompletionStage<T>> sent = new ArrayList<>();
    redis.inOneGo(
        () -> {
          for (int i = 0; i < slots.count(); i++) {
            sent.add(question.apply(redis.async(), slots.get(i)));
          }
        });
    return sent.stream().mapToLong(of -> answer(of, value)).toArray();
  }

  private static <T> long answer(CompletionStage<T> sent, ToLongFunction<T> value) {
    try {
      return value.applyAsLong(sent.toCompletableFuture().join());
    } catch (CompletionException e) {
      GameQueueException error = RedisReply.exception(e);
      if (error instanceof RedisUnavailableException) {
        throw error;
      }
      return 0;
    }
  }
}
