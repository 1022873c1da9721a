package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import java.time.Duration;

/**
 * What a topic is: kept in MySQL when it is first opened, and compared whenever a node opens it.
 * Immutable; each method returns a changed copy, and throws GameQueueException when a value is out
 * of range.
 *
 * @param slots in how many parts it lies, a power of two, at most those of the namespace; 0 for 16,
 *     or as many as the namespace has if these are fewer
 * @param payloadBytes of a payload, at most
 * @param ageing how long a message waits to be worth one priority more; zero for a topic without
 *     priorities
 * @param window what {@link Topic#publish(String, Object)} waits for later ones; zero for nothing
 * @param lease how long a handler has for a message before another one gets it
 * @param retry when a message that failed is tried again, and how often
 * @param hasOwners whether each message belongs to an owner and is handled where that is open
 */
public record TopicOptions(
    int slots,
    int payloadBytes,
    Duration ageing,
    Duration window,
    Duration lease,
    Retry retry,
    boolean hasOwners) {
  /** Most that {@link #payloadBytes(int)} takes: 1 MiB. */
  public static final int MOST_PAYLOAD_BYTES = 1 << 20;

  private static final Duration YEAR = Duration.ofDays(366); // DEFAULT is checked against it

  /**
   * 16 slots, payloads of 64 KiB, no priorities, no window, a lease of 30 s, {@link Retry#DEFAULT}.
   */
  public static final TopicOptions DEFAULT =
      new TopicOptions(
          0, 64 << 10, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(30), Retry.DEFAULT, false);

  /** Throws GameQueueException when a value is out of range. */
  public TopicOptions {
    if (slots != 0 && Integer.bitCount(slots) != 1) {
      throw new GameQueueException(
          "slots of a topic must be a power of two, or 0 for 16: " + slots);
    }
    if (payloadBytes < 1 || payloadBytes > MOST_PAYLOAD_BYTES) {
      throw new GameQueueException(
          "payloadBytes of a topic must be from 1 to %s: %s"
              .formatted(MOST_PAYLOAD_BYTES, payloadBytes));
    }
    check("ageing", ageing, Duration.ZERO, YEAR);
    check("window", window, Duration.ZERO, YEAR);
    check("lease", lease, Duration.ofMillis(100), Duration.ofDays(1));
    if (hasOwners && !ageing.isZero()) {
      throw new GameQueueException("a topic of owners has no priorities");
    }
  }

  private static void check(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new GameQueueException(
          "%s of a topic must be from %s to %s: %s".formatted(name, least, most, value));
    }
  }

  /**
   * In so many parts: a power of two, at most the namespace's slots. Each is looked at every second
   * by each subscription. With all slots of the namespace, a message whose group is an owner's id
   * lies beside the rows of that owner.
   */
  public TopicOptions slots(int parts) {
    return new TopicOptions(parts, payloadBytes, ageing, window, lease, retry, hasOwners);
  }

  /** With payloads of at most so many bytes, encoded: 1 to 1,048,576. */
  public TopicOptions payloadBytes(int most) {
    return new TopicOptions(slots, most, ageing, window, lease, retry, hasOwners);
  }

  /**
   * With priorities: of messages that are due, the highest is handled first. One that has waited
   * for this time counts as much as a fresh one with one priority more, so that none starves.
   *
   * <p>Priority times ageing is 2^52 ms at most, up or down: up to 34 minutes that is any integer,
   * with a year 142,418. A publish beyond it is refused.
   *
   * @param ageing 1 ms to a year
   */
  public TopicOptions priorities(Duration ageing) {
    if (ageing.toMillis() < 1) {
      throw new GameQueueException("ageing of a topic must be 1 ms at least: " + ageing);
    }
    return new TopicOptions(slots, payloadBytes, ageing, window, lease, retry, hasOwners);
  }

  /** With a merge window for messages that do not say when they are due: up to a year. */
  public TopicOptions window(Duration time) {
    return new TopicOptions(slots, payloadBytes, ageing, time, lease, retry, hasOwners);
  }

  /** With so much time for a handler: 100 ms to a day. */
  public TopicOptions lease(Duration time) {
    return new TopicOptions(slots, payloadBytes, ageing, window, time, retry, hasOwners);
  }

  /** With these attempts. */
  public TopicOptions retry(Retry policy) {
    return new TopicOptions(slots, payloadBytes, ageing, window, lease, policy, hasOwners);
  }

  /**
   * With messages that belong to owners: {@link Publish#owner} says whose each is. It is handled by
   * the owner's session ({@link OwnerSession#handle}), on whichever node has it open, one message
   * of an owner at a time. While nobody handles an owner's messages they wait, or a node that
   * called {@link Topic#subscribeOwners} opens the owner for each. Not with priorities.
   */
  public TopicOptions ofOwners() {
    return new TopicOptions(slots, payloadBytes, ageing, window, lease, retry, true);
  }
}
