package io.gameq.sign;

import io.gameq.CommitUnknownException;
import io.gameq.OwnershipLostException;
import io.gameq.PushBackException;
import io.gameq.QueueFullException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.WalException;
import io.gameq.WalFullException;
import java.util.Locale;

/** What became of a commit, as far as Redis. */
public enum CommitOutcome {
  /** Redis has it. */
  QUEUED,

  /** Another session owns. */
  OWNERSHIP_LOST,

  /** It was not taken: too much waits for Redis. */
  QUEUE_FULL,

  /** It was not taken: too much waits for MySQL. */
  PUSHED_BACK,

  /** It was not taken, or not sent: Redis is away. */
  REDIS_AWAY,

  /** Redis is at maxmemory. */
  REDIS_FULL,

  /** The WAL has no room, or cannot be written. */
  WAL_REFUSED,

  /** Nobody knows. */
  UNKNOWN,

  /** Anything else, such as a commit beyond the limits. */
  REFUSED;

  /** Of a commit that did not get to Redis. */
  static CommitOutcome of(RuntimeException reason) {
    if (reason instanceof CommitUnknownException) {
      return UNKNOWN;
    }
    if (reason instanceof OwnershipLostException) {
      return OWNERSHIP_LOST;
    }
    if (reason instanceof QueueFullException) {
      return QUEUE_FULL;
    }
    if (reason instanceof PushBackException) {
      return PUSHED_BACK;
    }
    if (reason instanceof RedisFullException) {
      return REDIS_FULL;
    }
    if (reason instanceof RedisUnavailableException) {
      return REDIS_AWAY;
    }
    return reason instanceof WalFullException || reason instanceof WalException
        ? WAL_REFUSED
        : REFUSED;
  }

  /** As it stands in a tag of a meter. */
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
