package io.gameq.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.GameQueueException;
import io.gameq.term.QueueIdentity;
import io.lettuce.core.RedisException;
import io.lettuce.core.SetArgs;

/**
 * The identity of the queue in Redis, at {@code <namespace>:database}: whoever connects first notes
 * that of MySQL there, and others compare. A writer between the MySQL of one environment and the
 * Redis of another would write rows into the wrong database, and acknowledge them. Stateless.
 */
public final class RedisIdentity {
  private RedisIdentity() {}

  /**
   * Passes where Redis belongs to the database, or to none yet.
   *
   * @return whether it says so, or nobody is to be told
   * @throws GameQueueException naming both, with the remedy
   */
  public static boolean require(RedisConnection redis, QueueIdentity ours) {
    if (ours.namespace().isEmpty() || ours.database().isEmpty()) {
      return true;
    }
    byte[] value = RedisReply.await(() -> redis.sync().get(SlotKeys.bytes(key(ours))));
    String there = value == null ? null : new String(value, US_ASCII);
    if (there != null && !there.equals(ours.database())) {
      throw new GameQueueException(
          ("this Redis holds what is to be written into database %s, and MySQL is database %s,"
                  + " perhaps a clone: correct the address of one of them. Where MySQL takes the"
                  + " place of that database, as a restored backup does, run: gameq-writer schema"
                  + " new-identity --as %s. Where both are copies, and nobody else uses this Redis:"
                  + " redis-cli SET %s %s")
              .formatted(there, ours.database(), there, key(ours), ours.database()));
    }
    return there != null;
  }

  /**
   * Notes that Redis belongs to the database, unless somebody else was quicker: then as {@link
   * #require}. One that takes no writes now, since it is full or lacks replicas, notes it later.
   */
  static void note(RedisConnection redis, QueueIdentity ours) {
    try {
      String unused =
          redis
              .sync()
              .set(
                  SlotKeys.bytes(key(ours)), SlotKeys.bytes(ours.database()), SetArgs.Builder.nx());
    } catch (RedisException e) {
      if (RedisReply.answered(e) == null) {
        throw RedisReply.exception(e);
      }
    }
    boolean unused = require(redis, ours);
  }

  private static String key(QueueIdentity queue) {
    return queue.namespace() + ":database";
  }
}
