package io.gameq.redis.script;

import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.ZAddArgs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** When sessions are due to be flushed. Plain commands. Stateless. */
public final class DueSessions {
  /** A ZADD holds Redis for as long as it takes. */
  private static final int AT_ONCE = 500;

  private DueSessions() {}

  /**
   * Makes what sessions have dirty due now instead of at the end of their merge windows; over a
   * connection that flushes by itself.
   */
  public static void flushNow(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    Map<Integer, List<SessionRef>> bySlot =
        sessions.stream().collect(Collectors.groupingBy(SessionRef::slot));
    List<CompletionStage<Long>> replies = new ArrayList<>();
    bySlot.forEach(
        (slot, all) -> {
          for (int from = 0; from < all.size(); from += AT_ONCE) {
            List<SessionRef> some = all.subList(from, Math.min(all.size(), from + AT_ONCE));
            replies.add(
                redis
                    .async()
                    .zadd(
                        slots[slot].due(),
                        ZAddArgs.Builder.xx().lt(),
                        some.stream().flatMap(of -> Stream.of(0d, member(of))).toArray()));
          }
        });
    replies.forEach(RedisReply::await);
  }

  private static byte[] member(SessionRef session) {
    return SlotKeys.bytes(session.owner().encoded() + ":" + session.text());
  }
}
