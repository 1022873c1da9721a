package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code sign.lua}: a process says how it is. Stateless. */
final class SignScript {
  private static final LuaScript SCRIPT = LuaScript.of(SignScript.class, "sign.lua");

  private SignScript() {}

  /** Says it; what it said before is forgotten. */
  static void call(RedisConnection redis, byte[][] keys, String id, Map<String, String> fields) {
    List<byte[]> args = new ArrayList<>();
    args.add(LuaScript.utf8(id));
    args.add(SlotKeys.bytes(Integer.toString(ProcessSigns.KEPT_SECONDS)));
    args.add(SlotKeys.bytes(Integer.toString(ProcessSigns.MOST)));
    fields.forEach(
        (name, value) -> {
          args.add(LuaScript.utf8(name));
          args.add(LuaScript.utf8(value));
        });
    List<Object> unused = SCRIPT.call(redis, keys, args.toArray(byte[][]::new));
  }
}
