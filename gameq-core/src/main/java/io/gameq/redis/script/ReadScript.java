package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;

/** {@code read.lua}: what of an owner is not flushed, for who has no session. Stateless. */
public final class ReadScript {
  private static final LuaScript SCRIPT = LuaScript.of(ReadScript.class, "inbox.lua", "read.lua");

  private ReadScript() {}

  /** Everything of an owner that is not flushed: dirty, claimed and sent to it, in no order. */
  public static List<EncodedRow> call(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    List<Object> reply = SCRIPT.call(redis, slot, List.of(owner.encoded()));
    List<EncodedRow> rows = new ArrayList<>(OpenScript.rows(reply.get(0)));
    rows.addAll(OpenScript.rows(reply.get(1)));
    rows.addAll(OpenScript.rows(reply.get(2)));
    return rows;
  }
}
