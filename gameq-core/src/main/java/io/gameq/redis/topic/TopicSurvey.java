package io.gameq.redis.topic;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One look at all topics of a namespace: seven short commands for each slot of each topic, however
 * many messages there are. The slots are looked at one after another: what moves meanwhile may be
 * missed or seen twice. Immutable.
 *
 * @param nowMillis when it began, Redis TIME in ms
 * @param topics by name
 * @param left how many more there are, which were not looked at
 */
public record TopicSurvey(long nowMillis, List<OfTopic> topics, int left) {
  /** More are not looked at: topics are few, and made by no player. */
  public static final int MOST_TOPICS = 200;

  public TopicSurvey {
    topics = List.copyOf(topics);
  }

  /**
   * One topic.
   *
   * @param definition null when it cannot be read
   * @param pause null when it is not paused
   * @param rate null when it has none
   * @param error why the topic could not be looked at, and its counts are zero; empty when it could
   */
  public record OfTopic(
      String topic,
      @Nullable TopicDefinition definition,
      TopicCounts counts,
      DefinedTopic.@Nullable Pause pause,
      DefinedTopic.@Nullable Rate rate,
      String error) {
    /**
     * For how long the message waits that has been due for longest, at least; 0 when none is due.
     * Those that are sorted in by priority are not looked at.
     *
     * @param nowMillis of the survey
     */
    public long overdueMillis(long nowMillis) {
      long first = counts.firstDueMillis();
      return first < 0 ? 0 : Math.max(0, nowMillis - first);
    }
  }

  /**
   * Looks, over a connection that no other thread uses meanwhile. What is wrong with one topic is
   * told of that topic.
   *
   * @throws GameQueueException when the list of topics cannot be read
   * @throws RedisUnavailableException when Redis does not answer
   */
  public static TopicSurvey of(RedisConnection redis, Slots slots) {
    long nowMillis = RedisClock.now(redis);
    Map<String, String> texts = DefinedTopic.texts(redis, slots.namespace());
    List<OfTopic> topics =
        texts.entrySet().stream()
            .limit(MOST_TOPICS)
            .map(of -> look(redis, slots, nowMillis, of.getKey(), of.getValue()))
            .toList();
    return new TopicSurvey(nowMillis, topics, texts.size() - topics.size());
  }

  /**
   * Looks at one topic; null when there is none of that name. Throws as the other, but for {@link
   * #MOST_TOPICS}.
   */
  public static @Nullable OfTopic of(RedisConnection redis, Slots slots, String topic) {
    String text = DefinedTopic.texts(redis, slots.namespace()).get(topic);
    return text == null ? null : look(redis, slots, RedisClock.now(redis), topic, text);
  }

  private static OfTopic look(
      RedisConnection redis, Slots slots, long nowMillis, String topic, String text) {
    DefinedTopic of = null;
    TopicCounts counts = TopicCounts.NONE;
    String error = "";
    try {
      MessageId.checkTopic(topic);
      of = DefinedTopic.ofText(topic, text);
      counts = TopicMessages.counts(redis, slots(of.definition(), slots), topic, nowMillis);
    } catch (RedisUnavailableException e) {
      throw e;
    } catch (GameQueueException e) {
      error = String.valueOf(e.getMessage());
    }
    return of == null
        ? new OfTopic(topic, null, counts, null, null, error)
        : new OfTopic(topic, of.definition(), counts, of.pause(), of.rate(), error);
  }

  /** Those that a topic has of the namespace's. */
  public static List<SlotKeys> slots(TopicDefinition definition, Slots slots) {
    return IntStream.range(0, Math.min(definition.slots(), slots.count()))
        .mapToObj(slots::get)
        .toList();
  }
}
