package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.Publish;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChangedException;
import io.gameq.message.MessageId;
import io.gameq.message.MessageValue;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Publishes a message combined with the pending one: reads it, combines, and commits if it is still
 * the same; else once more. Used by one thread.
 */
final class Merging<T> {
  /** Of the random rest before another try, so that publishers do not meet again and again. */
  private static final long MOST_REST_NANOS = 2_000_000;

  private final TopicNode node;
  private final TopicLook<T> look;
  private final MessageEncoding<T> encoding;

  Merging(TopicNode node, TopicLook<T> look, MessageEncoding<T> encoding) {
    this.node = node;
    this.look = look;
    this.encoding = encoding;
  }

  /** As {@link io.gameq.Topic#merge}. */
  void merge(Publish<T> message, BinaryOperator<T> combine) {
    long deadline = System.nanoTime() + node.callTimeout().toNanos();
    MessageId id = encoding.id(message.group(), message.key());
    for (int tries = 1; ; tries++) {
      MessageValue.Decoded pending = look.pending(id);
      MessageChange publish = encoding.publish(combined(message, pending, combine));
      long version = pending == null ? 0 : pending.version();
      try {
        node.commits()
            .commit(List.of(new MessageChange.Expect(id, publish.slot(), version), publish))
            .awaitQueued(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        return;
      } catch (MessageChangedException e) {
        if (deadline - System.nanoTime() < 0) {
          throw new GameQueueException(
              "message %s was changed by others each of %d times that it was to be merged"
                  .formatted(id, tries),
              e);
        }
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MOST_REST_NANOS));
      }
    }
  }

  private Publish<T> combined(
      Publish<T> message, MessageValue.@Nullable Decoded pending, BinaryOperator<T> combine) {
    if (pending == null) {
      return message;
    }
    T both = combine.apply(encoding.payloads().decode(pending.payload()), message.payload());
    return new Publish<>(
        message.key(),
        both,
        message.group(),
        message.priority(),
        message.timing(),
        message.recurrence());
  }
}
