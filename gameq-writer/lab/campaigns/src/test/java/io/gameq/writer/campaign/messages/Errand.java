package io.gameq.writer.campaign.messages;

import io.gameq.GameQueue;
import io.gameq.topic.Retry;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.time.Duration;
import java.util.List;

/**
 * What the campaign's messages carry; immutable.
 *
 * @param id that no other publish has
 * @param kind what its handler does
 */
public record Errand(String id, Kind kind) {
  /** Short, so that stalls run out; shorter than the wait after a failover. */
  static final Duration LEASE = Duration.ofMillis(1_500);

  private static final TopicOptions OPTIONS =
      TopicOptions.DEFAULT.lease(LEASE).retry(Retry.fixed(Duration.ofMillis(150)).attempts(10));

  private static final String PLAIN = "errand";
  private static final String SERIAL = "serial";
  static final String OWNED = "owned";

  /** What a handler does with one. */
  public enum Kind {
    /** A few milliseconds of work. */
    QUICK,
    /** Commits a row together with the acknowledgement. */
    ROWS,
    /** Throws at its first attempt. */
    FLAKY,
    /** Throws always: a dead letter. */
    CURSED,
    /** Takes longer than its lease, and says so in time. */
    LONG,
    /** Takes longer than its lease at its first attempt, and some of it at the second. */
    SLOW
  }

  /** The topic of errands without a group. */
  public static Topic<Errand> plain(GameQueue queue) {
    return queue.topic(PLAIN, Errand.class, OPTIONS);
  }

  /** The topic of errands in groups, each of one publisher. */
  public static Topic<Errand> serial(GameQueue queue) {
    return queue.topic(SERIAL, Errand.class, OPTIONS);
  }

  /** The topic of errands of owners, which their sessions handle. */
  public static Topic<Errand> owned(GameQueue queue) {
    return queue.topic(OWNED, Errand.class, OPTIONS.ofOwners());
  }

  /** All topics that are played. */
  static List<Topic<Errand>> topics(GameQueue queue) {
    return List.of(plain(queue), serial(queue), owned(queue));
  }
}
