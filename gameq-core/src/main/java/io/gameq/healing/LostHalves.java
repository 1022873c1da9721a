package io.gameq.healing;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import java.util.Map;

/**
 * Finds out what became of the half of a commit whose session this node has lost, when Redis has
 * lost it too. Thread-safe.
 */
public interface LostHalves {
  /** What is known of a half. */
  enum Place {
    /** The session that owns now had adopted it: Redis or MySQL holds it, or its node's WAL. */
    THERE,
    /** The session that owns now may have adopted it: its node has not put back yet what it had. */
    MAY_COME,
    /** Nobody holds it, or only newer changes of its rows, which do not tell. */
    NOWHERE
  }

  /**
   * Asks Redis, then MySQL: what is no longer in Redis is in MySQL by then.
   *
   * @param lost the session that committed it
   * @param versions of the half's rows
   * @throws io.gameq.GameQueueException when one of them does not answer
   */
  Place find(RedisConnection redis, OwnerId owner, SessionId lost, Map<String, Long> versions);
}
