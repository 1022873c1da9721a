package io.gameq.redis.topic;

import io.gameq.redis.RedisConnection;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Topics that are paused: consumers take nothing of them; what is held is finished. {@code
 * ns:topics:paused}: topic to when, who and reason, tabs between them. Stateless.
 */
public final class TopicPauses {
  private static final SaidOfTopics PAUSED = new SaidOfTopics("paused");

  private TopicPauses() {}

  /**
   * Why a topic is paused.
   *
   * @param sinceMillis Redis TIME in ms
   * @param who paused it
   */
  public record Pause(long sinceMillis, String who, String reason) {
    /** Reads it; what is no such text is all reason. */
    static Pause of(String text) {
      String[] words = text.split("\t", 3);
      return words.length < 3
          ? new Pause(0, "", text)
          : new Pause(Long.parseLong(words[0]), words[1], words[2]);
    }
  }

  /** Pauses, or gives another reason; throws RedisUnavailableException, then it may be paused. */
  public static void pause(
      RedisConnection redis, String namespace, String topic, String reason, String who) {
    PAUSED.say(redis, namespace, topic, SaidOfTopics.by(redis, who, reason));
  }

  /** Ends a pause; whether there was one. Throws RedisUnavailableException. */
  public static boolean resume(RedisConnection redis, String namespace, String topic) {
    return PAUSED.end(redis, namespace, topic);
  }

  /** Whether a topic is paused. Throws RedisUnavailableException when Redis does not answer. */
  public static boolean isPaused(RedisConnection redis, String namespace, String topic) {
    return PAUSED.find(redis, namespace, topic) != null;
  }

  /** Why a topic is paused; null when it is not. Throws RedisUnavailableException. */
  public static @Nullable Pause find(RedisConnection redis, String namespace, String topic) {
    String text = PAUSED.find(redis, namespace, topic);
    return text == null ? null : Pause.of(text);
  }

  /** All that are paused, by topic. Throws RedisUnavailableException. */
  public static Map<String, Pause> all(RedisConnection redis, String namespace) {
    Map<String, Pause> all = new TreeMap<>();
    PAUSED.all(redis, namespace).forEach((topic, text) -> all.put(topic, Pause.of(text)));
    return all;
  }
}
