package io.gameq.topic;

import io.gameq.GameQueueException;

/**
 * How a node handles messages of a topic. Immutable; each method returns a changed copy, and throws
 * GameQueueException when a value is out of range.
 *
 * @param concurrency how many handlers run at a time, each on a thread of the subscription's own
 * @param batch how many messages a handler gets at most
 * @param perSecond how many messages this node takes a second at most; 0 for no limit
 */
public record SubscribeOptions(int concurrency, int batch, double perSecond) {
  /** Four handlers at a time, one message each, no limit of messages a second. */
  public static final SubscribeOptions DEFAULT = new SubscribeOptions(4, 1, 0);

  private static final int MOST_THREADS = 256;
  private static final int MOST_BATCH = 1_000;

  /** Throws GameQueueException when a value is out of range. */
  public SubscribeOptions {
    if (concurrency < 1 || concurrency > MOST_THREADS) {
      throw new GameQueueException(
          "concurrency must be from 1 to %s: %s".formatted(MOST_THREADS, concurrency));
    }
    if (batch < 1 || batch > MOST_BATCH) {
      throw new GameQueueException("batch must be from 1 to %s: %s".formatted(MOST_BATCH, batch));
    }
    if (!(perSecond >= 0 && perSecond <= 1e9)) {
      throw new GameQueueException("rate must be from 0 to 1e9 a second: " + perSecond);
    }
  }

  /** With so many handlers at a time: 1 to 256. While handlers fail, fewer run. */
  public SubscribeOptions concurrency(int threads) {
    return new SubscribeOptions(threads, batch, perSecond);
  }

  /** With up to so many messages in a {@link BatchHandler}'s list: 1 to 1,000. */
  public SubscribeOptions batch(int most) {
    return new SubscribeOptions(concurrency, most, perSecond);
  }

  /** With at most so many messages a second on this node; 0 for no limit. */
  public SubscribeOptions rate(double messagesPerSecond) {
    return new SubscribeOptions(concurrency, batch, messagesPerSecond);
  }
}
