package io.gameq.message;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.PercentEncoding;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which message of a topic: its key, and the group that it belongs to, if any. Immutable.
 *
 * <p>Keys and groups are untrusted: in Redis both stand percent-encoded, as owner ids do, so that
 * the colon between them is the only one.
 *
 * @param topic a name as {@link #checkTopic} takes it
 * @param id {@code key} or {@code group:key}, both encoded
 */
public record MessageId(String topic, String id) {
  /** Longest encoded id, in bytes. */
  public static final int MAX_ENCODED_BYTES = 512;

  private static final Pattern TOPIC = Pattern.compile("[a-z][a-z0-9_-]{0,31}");

  /**
   * The message of a key.
   *
   * @param group of messages that are handled one after another; null for none
   * @throws GameQueueException when key or group is empty, holds a lone surrogate, or both together
   *     take more than {@link #MAX_ENCODED_BYTES} encoded
   */
  public static MessageId of(String topic, @Nullable String group, String key) {
    if (key.isEmpty() || (group != null && group.isEmpty())) {
      throw new GameQueueException(
          "the %s of a message of topic '%s' is empty"
              .formatted(key.isEmpty() ? "key" : "group", topic));
    }
    String encoded = PercentEncoding.percent(key);
    String id = group == null ? encoded : PercentEncoding.percent(group) + ":" + encoded;
    if (id.length() > MAX_ENCODED_BYTES) {
      throw new GameQueueException(
          "key and group of a message of topic '%s' take %s bytes encoded, the limit is %s"
              .formatted(topic, id.length(), MAX_ENCODED_BYTES));
    }
    return new MessageId(topic, id);
  }

  /**
   * Checks the name of a topic.
   *
   * @throws GameQueueException when it is not a lower-case letter and up to 31 of a-z 0-9 _ -
   */
  public static void checkTopic(String topic) {
    if (!TOPIC.matcher(topic).matches()) {
      throw new GameQueueException(
          "the name of a topic is a lower-case letter, then up to 31 of a-z 0-9 _ -; this one has"
              + " %s characters".formatted(topic.length()));
    }
  }

  /** The key as the game wrote it. */
  public String key() {
    return PercentEncoding.unpercent(id.substring(id.indexOf(':') + 1));
  }

  /** The group as the game wrote it; null when there is none. */
  public @Nullable String group() {
    int colon = id.indexOf(':');
    return colon < 0 ? null : PercentEncoding.unpercent(id.substring(0, colon));
  }

  /** What is handled one at a time: {@code group:} with its colon, or the id. */
  public String lane() {
    int colon = id.indexOf(':');
    return colon < 0 ? id : id.substring(0, colon + 1);
  }

  /**
   * The slot: CRC-32 of the lane without its colon, masked; that of the owner whose id is the
   * group.
   *
   * @param slots of the topic, a power of two
   */
  public int slot(int slots) {
    int colon = id.indexOf(':');
    return OwnerId.slotOf(colon < 0 ? id : id.substring(0, colon), slots);
  }

  @Override
  public String toString() {
    return topic + "/" + id;
  }
}
