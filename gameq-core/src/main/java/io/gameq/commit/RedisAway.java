package io.gameq.commit;

import io.gameq.Limits;
import io.gameq.RedisUnavailableException;
import io.gameq.WhenRedisIsAway;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Whether Redis is away, and whether commits are taken meanwhile: journaled for a limited time, or
 * refused at once. Thread-safe.
 */
final class RedisAway {
  private final WhenRedisIsAway policy;
  private final Limits limits;
  private final Admission admission;
  private final RecentMessages recent;
  private volatile @Nullable Long sinceNanos;

  RedisAway(WhenRedisIsAway policy, Limits limits, Admission admission, RecentMessages recent) {
    this.policy = policy;
    this.limits = limits;
    this.admission = admission;
    this.recent = recent;
  }

  void begin() {
    sinceNanos = System.nanoTime();
    recent.away();
    admission.journaling(!fails());
  }

  void end() {
    sinceNanos = null;
    recent.healed();
    admission.journaling(false);
  }

  /** Whether commits fail at once while Redis is away. */
  boolean fails() {
    return policy == WhenRedisIsAway.FAIL;
  }

  /** Why a commit is not taken now; null when it is. */
  @Nullable RedisUnavailableException refusal() {
    Long since = sinceNanos;
    if (since == null) {
      return null;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
    if (fails()) {
      return new RedisUnavailableException(
          "Redis has been away for %s ms: the commit was not taken (whenRedisIsAway is FAIL)"
              .formatted(millis));
    }
    return millis <= limits.journalMillis()
        ? null
        : new RedisUnavailableException(
            ("Redis has been away for %s ms, longer than the %s ms that commits are"
                    + " journaled: the commit was not taken")
                .formatted(millis, limits.journalMillis()));
  }
}
