package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.ToLongFunction;

/**
 * When there is something to do in each slot: plain commands, in one round trip for all slots, over
 * a connection that no other thread uses meanwhile. Where somebody else's value is in the way there
 * is something to do, too: who does it says what is wrong. Stateless.
 */
public final class SlotHeads {
  /** Nothing is to come. */
  public static final long NEVER = Long.MAX_VALUE;

  private SlotHeads() {}

  /**
   * When the next owner of each slot is due, by Redis TIME, ms since 1970; 0 or less when he is
   * urgent, see {@link DueSessions}; or {@link #NEVER}.
   *
   * @throws RedisUnavailableException when Redis does not answer
   */
  public static long[] due(RedisConnection redis, Slots slots) {
    return ask(redis, slots, (of, slot) -> of.zrangeWithScores(slot.due(), 0, 0), SlotHeads::first);
  }

  /** When the first lease of each slot ends; otherwise as {@link #due}. */
  public static long[] leases(RedisConnection redis, Slots slots) {
    return ask(
        redis, slots, (of, slot) -> of.zrangeWithScores(slot.lease(), 0, 0), SlotHeads::first);
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
