package io.gameq.topic;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.topic.GrantScript;
import java.util.concurrent.TimeUnit;

/** What a subscription is granted of the rate that all nodes of its topic share. For one thread. */
final class TopicShare {
  /** The rate may be another one by then. */
  private static final long MOST_WAIT_MILLIS = 1_000;

  private final GrantScript grants;
  private long untilNanos = System.nanoTime();

  TopicShare(GrantScript grants) {
    this.grants = grants;
  }

  /**
   * How many messages may be taken now, at most so many.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  int ask(RedisConnection redis, double perSecond, int most) {
    if (most <= 0 || waitNanos() > 0) {
      return 0;
    }
    GrantScript.Grant grant = grants.call(redis, perSecond, most);
    if (grant.messages() == 0) {
      untilNanos =
          System.nanoTime()
              + TimeUnit.MILLISECONDS.toNanos(Math.min(MOST_WAIT_MILLIS, grant.waitMillis()));
    }
    return grant.messages();
  }

  /** Messages that were granted and not there: other nodes may take them; throws as the other. */
  void giveBack(RedisConnection redis, double perSecond, int unused) {
    if (unused > 0) {
      grants.giveBack(redis, perSecond, unused);
    }
  }

  /** Until it may ask again, ns. */
  long waitNanos() {
    return Math.max(0, untilNanos - System.nanoTime());
  }
}
