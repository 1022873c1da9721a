package io.gameq.redis.topic;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageId;

/**
 * A message in the hands of one consumer, under a lease. Immutable.
 *
 * @param slot of the namespace that it lies in
 * @param token of its claim
 * @param takenMillis when it was taken, Redis TIME in ms
 * @param fence higher each time that a message of this lane is taken, also when Redis' clock went
 *     back: it tells no time
 * @param attempts how often it was taken, this time counted
 * @param lapses how often its lease ran out before
 * @param dueMillis when it was due, Redis TIME in ms
 * @param value see {@link io.gameq.message.MessageValue}; not to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record TakenMessage(
    MessageId id,
    int slot,
    String token,
    long takenMillis,
    long fence,
    int attempts,
    int lapses,
    long dueMillis,
    byte[] value) {
  /** What publishes it again, due when it was. */
  public MessageChange.Publish publishedAgain() {
    return new MessageChange.Publish(id, slot, dueMillis, false, 0, value);
  }
}
