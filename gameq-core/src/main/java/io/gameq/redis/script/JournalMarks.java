package io.gameq.redis.script;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Journal marks: how far into a WAL Redis holds it, in one slot. Plain commands. Stateless.
 *
 * <p>Only the node process itself reads its marks, recovery goes by versions: what processes that
 * are gone left behind is removed. A node that was thought dead and comes back without its marks
 * replays more than it had to.
 */
public final class JournalMarks {
  private static final Logger LOG = LoggerFactory.getLogger(JournalMarks.class);

  private JournalMarks() {}

  /**
   * Removes the marks of processes that give no sign of life; returns how many.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; what was removed stays
   *     removed
   */
  public static int forgetDead(ControlConnection control, String namespace, SlotKeys[] slots) {
    int removed = 0;
    for (SlotKeys slot : slots) {
      removed += control.call(redis -> RedisReply.await(() -> forgetDead(redis, namespace, slot)));
      removed +=
          control.call(
              redis -> RedisReply.await(() -> MessageMarks.forgetDead(redis, namespace, slot)));
    }
    if (removed > 0) {
      LOG.info("removed {} journal marks of nodes that are gone", removed);
    }
    return removed;
  }

  /** The newest sequence of a WAL that Redis holds in a slot; 0 when it knows none. */
  public static long read(RedisConnection redis, SlotKeys slot, String walId) {
    byte[] mark = RedisReply.await(() -> redis.sync().hget(slot.journal(), SlotKeys.bytes(walId)));
    return mark == null ? 0 : Long.parseLong(LuaScript.string(mark));
  }

  /** Removes the journal marks of a WAL; returns how many there were. */
  public static int forget(RedisConnection redis, SlotKeys[] slots, String walId) {
    List<CompletionStage<Long>> removed = new ArrayList<>();
    for (SlotKeys slot : slots) {
      removed.add(redis.async().hdel(slot.journal(), SlotKeys.bytes(walId)));
    }
    return removed.stream().mapToInt(of -> RedisReply.await(of).intValue()).sum();
  }

  private static int forgetDead(RedisConnection redis, String namespace, SlotKeys slot) {
    List<byte[]> walIds = redis.sync().hkeys(slot.journal());
    int removed = 0;
    for (byte[] walId : walIds) {
      String id = LuaScript.string(walId);
      String process = NodeSigns.processOfWal(id);
      if (redis.sync().exists(NodeSigns.key(namespace, process)) == 0) {
        removed += redis.sync().hdel(slot.journal(), walId).intValue();
      }
    }
    return removed;
  }
}
