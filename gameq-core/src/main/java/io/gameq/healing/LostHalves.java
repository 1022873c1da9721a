package io.gameq.healing;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of the half of a commit whose session has lost its owner, when Redis has
 * lost it too: half a trade would make something twice, or destroy it. Thread-safe.
 */
public interface LostHalves {
  /** How long other nodes that heal at the same time are waited for. */
  long MOST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

  long ASK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

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
   * @param redis null when it is gone for good
   * @param lost the session that committed it
   * @param versions of the half's rows
   * @throws io.gameq.GameQueueException when one of them does not answer
   */
  Place find(
      @Nullable RedisConnection redis, OwnerId owner, SessionId lost, Map<String, Long> versions);

  /** The same of a part of a WAL record. */
  default Place find(@Nullable RedisConnection redis, WalRecord.Part half) {
    Map<String, Long> versions = new HashMap<>();
    for (EncodedRow row : half.rows()) {
      versions.put(row.key(), row.version());
    }
    return find(redis, OwnerId.ofEncoded(half.owner()), SessionId.parse(half.session()), versions);
  }

  /** Whether somebody holds it, once other nodes had time to put it back. */
  default boolean isThere(@Nullable RedisConnection redis, WalRecord.Part half, long untilNanos) {
    while (true) {
      Place place = find(redis, half);
      if (place != Place.MAY_COME || System.nanoTime() - untilNanos >= 0) {
        return place == Place.THERE;
      }
      LockSupport.parkNanos(ASK_EVERY_NANOS);
    }
  }
}
