package io.gameq.writer.topics;

import io.gameq.GameQueueException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.TopicMessages;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import org.jspecify.annotations.Nullable;

/**
 * One message, as lists and traces show it. Immutable.
 *
 * @param group null when it has none
 * @param millis when it is due, its lease ends, or it died, Redis TIME in ms; of one that is sorted
 *     in by priority when it was due
 * @param behind how many of its group wait behind it, where that is known
 * @param attempts that failed; of one that is held this one counted
 * @param node that holds it, else empty
 * @param error of a dead one, or of the last attempt of one that is tried again; else empty
 * @param content null when its value was removed meanwhile, or cannot be read
 */
public record ListedMessage(
    @Nullable String group,
    String key,
    MessageState state,
    long millis,
    long behind,
    int attempts,
    String node,
    String error,
    @Nullable Content content) {

  /**
   * What its value holds.
   *
   * @param version as text: a browser's numbers lose digits
   * @param sinceMillis when it was first published, Redis TIME in ms
   * @param schedule how it recurs; empty when it does not
   * @param payload null where it is not to be shown
   */
  public record Content(
      String version,
      long sinceMillis,
      int priority,
      String schedule,
      int payloadBytes,
      @Nullable PayloadText payload) {
    static @Nullable Content of(byte @Nullable [] value, boolean withPayload) {
      if (value == null) {
        return null;
      }
      try {
        MessageValue.Decoded of = MessageValue.decode(value);
        return new Content(
            Long.toUnsignedString(of.version()),
            of.sinceMillis(),
            of.priority(),
            of.schedule(),
            of.payload().length,
            withPayload ? PayloadText.of(of.payload()) : null);
      } catch (GameQueueException e) { // somebody else's value
        return null;
      }
    }
  }

  /**
   * One of a list.
   *
   * @param ageMillis of the topic, where it is sorted in by priority, else 0
   */
  static ListedMessage of(
      TopicMessages.Listed of, MessageState state, long ageMillis, boolean withPayload) {
    Content content = Content.of(of.value(), withPayload);
    return new ListedMessage(
        of.id().group(),
        of.id().key(),
        state,
        of.millis() + (content == null ? 0 : content.priority() * ageMillis),
        of.behind(),
        of.attempts(),
        of.node(),
        of.error(),
        content);
  }

  static ListedMessage of(MessageId id, FoundMessage.Pending of, boolean withPayload) {
    Content content = Content.of(of.value(), withPayload);
    return of(id, MessageState.PENDING, of.dueMillis(), of.attempts(), "", of.error(), content);
  }

  static ListedMessage of(MessageId id, FoundMessage.Held of, boolean withPayload) {
    Content content = Content.of(of.value(), withPayload);
    return of(id, MessageState.HELD, of.leaseEndMillis(), of.attempts(), of.node(), "", content);
  }

  static ListedMessage of(MessageId id, FoundMessage.Dead of, boolean withPayload) {
    Content content = Content.of(of.value(), withPayload);
    return of(id, MessageState.DEAD, of.diedMillis(), of.attempts(), "", of.error(), content);
  }

  private static ListedMessage of(
      MessageId id,
      MessageState state,
      long millis,
      int attempts,
      String node,
      String error,
      @Nullable Content content) {
    return new ListedMessage(
        id.group(), id.key(), state, millis, 0, attempts, node, error, content);
  }
}
