package io.gameq.backlog;

import io.gameq.redis.topic.TopicCounts;
import io.gameq.redis.topic.TopicSurvey;

/**
 * What waits in a topic. Immutable.
 *
 * @param overdueMillis for how long the message waits that has been due for longest, at least; 0
 *     when none is due
 * @param isPaused whether an operator wants it to wait
 */
public record TopicBacklog(String topic, TopicCounts counts, long overdueMillis, boolean isPaused) {
  static TopicBacklog of(TopicSurvey.OfTopic of, long nowMillis) {
    return new TopicBacklog(
        of.topic(), of.counts(), of.overdueMillis(nowMillis), of.pause() != null);
  }
}
