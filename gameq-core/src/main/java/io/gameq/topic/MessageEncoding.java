package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.Publish;
import io.gameq.TopicOptions;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageId;
import io.gameq.message.MessageValue;
import io.gameq.redis.topic.TopicDefinition;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Turns what the game publishes into changes of messages, checked. Thread-safe. */
final class MessageEncoding<T> {
  /** Far beyond any game; and a double in Redis holds it to the millisecond. */
  private static final long LAST_MILLIS = Instant.parse("9999-12-31T00:00:00Z").toEpochMilli();

  /** Priority times ageing: added to any time, a double in Redis holds it to the millisecond. */
  private static final long MOST_PRIORITY_MILLIS = 1L << 52;

  private final TopicDefinition definition;
  private final TopicOptions options;
  private final Payloads<T> payloads;
  private final LongSupplier clock;

  /** When a message is due. */
  private record Due(long millis, boolean keepsTime, long sinceMillis, String schedule) {}

  /** With {@code clock} for Redis TIME, ms. */
  MessageEncoding(
      TopicDefinition definition, TopicOptions options, Payloads<T> payloads, LongSupplier clock) {
    this.definition = definition;
    this.options = options;
    this.payloads = payloads;
    this.clock = clock;
  }

  /** Throws GameQueueException when key or group are empty or too long. */
  MessageId id(@Nullable String group, String key) {
    return MessageId.of(definition.topic(), group, key);
  }

  int slot(MessageId id) {
    return id.slot(definition.slots());
  }

  /** Throws GameQueueException when the message is not fit for the topic. */
  MessageChange.Publish publish(Publish<T> message) {
    MessageId id = id(message.group(), message.key());
    checkPriority(id, message.priority());
    byte[] payload = payload(id, message.payload());
    Due due = due(message);
    if (due.millis() < 0 || due.millis() > LAST_MILLIS) {
      throw new GameQueueException(
          "message %s is due at %d ms since 1970, before that year or after 9999"
              .formatted(id, due.millis()));
    }
    Duration cap = message.timing().cap();
    return new MessageChange.Publish(
        id,
        slot(id),
        due.millis(),
        due.keepsTime(),
        cap == null ? 0 : cap.toMillis(),
        MessageValue.encode(due.sinceMillis(), message.priority(), due.schedule(), payload));
  }

  private void checkPriority(MessageId id, int priority) {
    if (priority == 0) {
      return;
    }
    if (options.ageing().isZero()) {
      throw new GameQueueException(
          "message %s has a priority, and topic '%s' has none: open it with priorities(...)"
              .formatted(id, definition.topic()));
    }
    long most = MOST_PRIORITY_MILLIS / options.ageing().toMillis();
    if (Math.abs((long) priority) > most) {
      throw new GameQueueException(
          ("message %s has priority %d: with an ageing of %s, topic '%s' takes priorities from -%d"
                  + " to %d; use smaller ones, or a shorter ageing")
              .formatted(id, priority, options.ageing(), definition.topic(), most, most));
    }
  }

  /** Throws GameQueueException when a payload cannot be encoded, or is too large. */
  byte[] payload(MessageId id, T of) {
    byte[] payload = payloads.encode(of);
    if (payload.length > options.payloadBytes()) {
      throw new GameQueueException(
          "the payload of message %s takes %d bytes, the limit of topic '%s' is %d: payloadBytes"
              .formatted(id, payload.length, definition.topic(), options.payloadBytes()));
    }
    return payload;
  }

  private Due due(Publish<T> message) {
    long now = clock.getAsLong();
    Publish.Timing timing = message.timing();
    Instant at = timing.at();
    Duration after = timing.after();
    if (message.recurrence() != null) {
      long from = at != null ? millis(at) : after != null ? now + after.toMillis() : -1;
      Schedule.Begun begun = Schedule.begin(message.recurrence(), from, now);
      return new Due(begun.firstMillis(), false, begun.firstMillis(), begun.schedule().text());
    }
    if (at != null) {
      return new Due(millis(at), false, now, "");
    }
    if (after != null) {
      return new Due(now + after.toMillis(), false, now, "");
    }
    Duration window = timing.window() == null ? options.window() : timing.window();
    return new Due(now + window.toMillis(), true, now, "");
  }

  MessageChange retime(MessageId id, Instant due) {
    long millis = millis(due);
    if (millis < 0 || millis > LAST_MILLIS) {
      throw new GameQueueException(
          "message %s cannot be due at %s: before 1970 or after 9999".formatted(id, due));
    }
    return new MessageChange.Retime(id, slot(id), millis);
  }

  MessageChange retime(MessageId id, Duration fromNow) {
    return retime(id, Instant.ofEpochMilli(clock.getAsLong()).plus(fromNow));
  }

  private static long millis(Instant of) {
    try {
      return of.toEpochMilli();
    } catch (ArithmeticException e) { // beyond the year 292,000,000
      return of.getEpochSecond() < 0 ? -1 : Long.MAX_VALUE;
    }
  }
}
