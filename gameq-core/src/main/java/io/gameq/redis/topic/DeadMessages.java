package io.gameq.redis.topic;

import io.gameq.message.MessageId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.lettuce.core.KeyValue;
import io.lettuce.core.MapScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Dead letters of a topic: {@code revive.lua} and plain commands. Stateless. */
public final class DeadMessages {
  /** So many a slot and topic at most, as {@code lanes.lua} says. */
  public static final int MOST_IN_SLOT = 10_000;

  private static final LuaScript REVIVE = ConsumerScripts.script("revive.lua");

  /** Entries that Redis looks at in one go. */
  private static final int PAGE = 100;

  private DeadMessages() {}

  /** What became of a retry, by the number that {@code revive.lua} answers. */
  public enum Retried {
    /** There is no such dead letter any more, or a newer one. */
    GONE,
    /** It is due now. */
    RETRIED,
    /** A message of its key is pending or held: nothing was changed. */
    OVERTAKEN
  }

  /**
   * Tells of the dead letters of a slot, in no order, until it is enough: each at least once if it
   * was there all the time.
   *
   * @param each answers whether to go on
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static void each(
      RedisConnection redis, SlotKeys slot, String topic, Predicate<FoundMessage> each) {
    ScanCursor at = ScanCursor.INITIAL;
    do {
      ScanCursor from = at;
      MapScanCursor<byte[], byte[]> page =
          RedisReply.await(
              () ->
                  redis
                      .sync()
                      .hscan(
                          TopicReads.key(slot, topic, "why"), from, ScanArgs.Builder.limit(PAGE)));
      for (FoundMessage found : found(redis, slot, topic, page.getMap())) {
        if (!each.test(found)) {
          return;
        }
      }
      at = page;
    } while (!at.isFinished());
  }

  private static List<FoundMessage> found(
      RedisConnection redis, SlotKeys slot, String topic, Map<byte[], byte[]> why) {
    List<FoundMessage> found = new ArrayList<>();
    for (List<Map.Entry<byte[], byte[]>> some :
        LuaScript.pieces(List.copyOf(why.entrySet()), PAGE)) {
      byte[][] ids = some.stream().map(Map.Entry::getKey).toArray(byte[][]::new);
      List<KeyValue<byte[], byte[]>> values =
          RedisReply.await(() -> redis.sync().hmget(TopicReads.key(slot, topic, "dead"), ids));
      for (int i = 0; i < some.size(); i++) {
        if (values.get(i).hasValue()) {
          MessageId id = new MessageId(topic, LuaScript.string(ids[i]));
          byte[] value = values.get(i).getValue();
          String words = ConsumerScripts.text(some.get(i).getValue());
          found.add(new FoundMessage(id, null, null, FoundMessage.Dead.of(value, words)));
        }
      }
    }
    return found;
  }

  /**
   * Has a dead letter handled again, at once, with all its attempts.
   *
   * @param version of the dead letter that is meant
   * @param payload in place of its own; null for the same
   * @throws io.gameq.GameQueueException when Redis reached maxmemory; nothing was changed then
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; it may be done
   */
  public static Retried retry(
      RedisConnection redis, SlotKeys slot, MessageId id, long version, byte @Nullable [] payload) {
    return revive(redis, slot, id, version, "retry", payload);
  }

  /**
   * Removes a dead letter; false when it is not there any more, or a newer one is. Throws
   * RedisUnavailableException when Redis does not answer; it may be gone then.
   */
  public static boolean discard(RedisConnection redis, SlotKeys slot, MessageId id, long version) {
    return revive(redis, slot, id, version, "discard", null) == Retried.RETRIED;
  }

  private static Retried revive(
      RedisConnection redis,
      SlotKeys slot,
      MessageId id,
      long version,
      String what,
      byte @Nullable [] payload) {
    Object given = payload == null ? "" : payload;
    String hex = HexFormat.of().toHexDigits(version);
    List<Object> reply =
        REVIVE.call(redis, slot, id.topic(), id.id(), hex, what, given, payload != null);
    return Retried.values()[((Long) reply.get(0)).intValue()];
  }
}
