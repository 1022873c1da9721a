package io.gameq.redis.topic;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.List;

/** {@code extend.lua}: prolongs leases of messages that were taken. Stateless. */
public final class ExtendScript {
  private static final LuaScript SCRIPT = TopicScript.of("extend.lua");

  private ExtendScript() {}

  /**
   * Has leases end so long from now, over a connection that no other thread uses meanwhile.
   *
   * @param slots of the namespace, by number
   * @param taken messages of one topic
   * @return for each whether it is still held by its token; else nothing was changed of it
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be prolonged
   */
  public static List<Boolean> call(
      RedisConnection redis, SlotKeys[] slots, List<TakenMessage> taken, long leaseMillis) {
    if (taken.isEmpty()) {
      return List.of();
    }
    List<TopicScript.Item> items =
        taken.stream()
            .map(of -> new TopicScript.Item(of, List.of(of.id().id(), of.token())))
            .toList();
    List<String> head = List.of(taken.get(0).id().topic(), Long.toString(leaseMillis));
    return TopicScript.callEach(SCRIPT, redis, slots, head, items).stream()
        .map(held -> held == 1)
        .toList();
  }
}
