package io.gameq.redis.script;

import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/** {@code healed.lua}: says that what Redis had lost of sessions is in it again. Stateless. */
public final class HealedScript {
  private static final LuaScript SCRIPT = LuaScript.of(HealedScript.class, "healed.lua");

  /** A script holds Redis for as long as it takes. */
  private static final int SESSIONS_AT_ONCE = 500;

  private HealedScript() {}

  /** Says so of sessions which own; over a connection that flushes by itself. */
  public static void call(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    SCRIPT.load(redis);
    List<CompletionStage<List<Object>>> replies = new ArrayList<>();
    sessions.stream()
        .collect(Collectors.groupingBy(SessionRef::slot))
        .forEach(
            (slot, all) -> {
              byte[][] keys = {SlotKeys.bytes(slots[slot].prefix())};
              for (List<SessionRef> some : LuaScript.pieces(all, SESSIONS_AT_ONCE)) {
                List<Object> args = new ArrayList<>();
                some.forEach(of -> args.addAll(List.of(of.owner(), of.text())));
                replies.add(SCRIPT.send(redis, keys, LuaScript.args(args)));
              }
            });
    replies.forEach(RedisReply::await);
  }
}
