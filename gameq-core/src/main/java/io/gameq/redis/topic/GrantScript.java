package io.gameq.redis.topic;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.List;

/**
 * {@code grant.lua}: how many messages a node may take of the rate that all nodes of a topic share.
 * A tenth of a second's messages may come at once after a rest, one at least. Immutable.
 */
public final class GrantScript {
  private static final LuaScript SCRIPT = TopicScript.of("grant.lua");

  private final String topic;
  private final SlotKeys first;

  /**
   * Of a topic.
   *
   * @param first slot of the namespace: one place for all nodes
   */
  public GrantScript(String topic, SlotKeys first) {
    this.topic = topic;
    this.first = first;
  }

  /**
   * What was granted.
   *
   * @param waitMillis until another message is granted
   */
  public record Grant(int messages, long waitMillis) {}

  /**
   * Asks for messages, over a connection that no other thread uses meanwhile.
   *
   * @param perSecond more than 0
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be granted
   */
  public Grant call(RedisConnection redis, double perSecond, int most) {
    List<Object> reply =
        SCRIPT.call(
            redis, first, List.of(topic, Double.toString(perSecond), Integer.toString(most)));
    return new Grant(((Long) reply.get(0)).intValue(), (Long) reply.get(1));
  }

  /** Gives grants back that were not used; throws as {@link #call}. */
  public void giveBack(RedisConnection redis, double perSecond, int messages) {
    Grant unused = call(redis, perSecond, -messages);
  }
}
