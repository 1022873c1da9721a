package io.gameq.redis.script;

import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.Symptom.Thing;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code mend.lua}: mends one thing in a slot, if it is still as it was found. Stateless. */
public final class MendScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(
          MendScript.class,
          "claims.lua",
          "inbox.lua",
          "topic.lua",
          "ailments.lua",
          "topicailments.lua",
          "mend.lua");

  private MendScript() {}

  /**
   * Mends it; deletes no row.
   *
   * @param suffix of the names that keys in the way get
   * @param durable the owner's session by MySQL, where Redis may not know it
   * @return false when it is not so any more, or cannot be mended: nothing was changed then
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; it may be mended then
   */
  public static boolean call(
      RedisConnection redis,
      String namespace,
      Symptom symptom,
      String suffix,
      @Nullable SessionId durable) {
    Thing thing = symptom.thing();
    List<Object> reply =
        SCRIPT.call(
            redis,
            new SlotKeys(namespace, thing.slot()),
            List.of(
                thing.place(),
                thing.name(),
                thing.more(),
                symptom.kind(),
                symptom.state(),
                suffix,
                durable == null ? "" : durable.text(),
                Long.toString(OwnKey.KEPT_MILLIS)));
    return (Long) reply.get(0) == 1;
  }
}
