package io.gameq.redis.topic;

import io.gameq.message.MessageId;
import org.jspecify.annotations.Nullable;

/** Where one message is: it can be pending, held and dead at a time, in different versions. */
public record FoundMessage(
    MessageId id, @Nullable Pending pending, @Nullable Held held, @Nullable Dead dead) {

  /**
   * It waits.
   *
   * @param value see {@link io.gameq.message.MessageValue}
   * @param dueMillis Redis TIME in ms
   * @param attempts that failed so far
   * @param error why it was given back last; empty when it was not
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record Pending(byte[] value, long dueMillis, int attempts, String error) {}

  /**
   * Somebody has taken it.
   *
   * @param attempts this one counted
   * @param lapses leases of it that ran out before
   * @param node who has it
   * @param leaseEndMillis Redis TIME in ms
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record Held(byte[] value, int attempts, int lapses, String node, long leaseEndMillis) {}

  /**
   * It was set aside.
   *
   * @param diedMillis when, Redis TIME in ms
   * @param attempts that failed
   * @param error of the last one
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record Dead(byte[] value, long diedMillis, int attempts, String error) {
    static Dead of(byte[] value, String why) {
      String[] words = why.split(" ", 3);
      return words.length < 3
          ? new Dead(value, 0, 0, why)
          : new Dead(value, Long.parseLong(words[0]), Integer.parseInt(words[1]), words[2]);
    }
  }
}
