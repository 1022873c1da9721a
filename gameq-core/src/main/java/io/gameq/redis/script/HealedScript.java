package io.gameq.redis.script;

import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@code healed.lua}: says that what Redis had lost of sessions is in it again. Stateless. */
public final class HealedScript {
  private static final LuaScript SCRIPT = LuaScript.of(HealedScript.class, "healed.lua");

  /** A script holds Redis for as long as it takes. */
  private static final int SESSIONS_AT_ONCE = 500;

  private HealedScript() {}

  /** Says so of sessions which own; over a connection that flushes by itself. */
  public static void call(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    Map<Integer, List<SessionRef>> bySlot =
        sessions.stream().collect(Collectors.groupingBy(SessionRef::slot));
    SCRIPT.load(redis);
    List<CompletionStage<List<Object>>> replies = new ArrayList<>();
    bySlot.forEach(
        (slot, all) -> {
          byte[][] keys = {SlotKeys.bytes(slots[slot].prefix())};
          for (int from = 0; from < all.size(); from += SESSIONS_AT_ONCE) {
            int to = Math.min(all.size(), from + SESSIONS_AT_ONCE);
            replies.add(SCRIPT.send(redis, keys, arguments(all.subList(from, to))));
          }
        });
    replies.forEach(RedisReply::await);
  }

  private static byte[][] arguments(List<SessionRef> sessions) {
    return sessions.stream()
        .flatMap(of -> Stream.of(of.owner().encoded(), of.text()))
        .map(SlotKeys::bytes)
        .toArray(byte[][]::new);
  }
}
