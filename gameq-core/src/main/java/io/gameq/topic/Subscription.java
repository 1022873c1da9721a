package io.gameq.topic;

import io.gameq.config.GameQueueConfigBuilder;
import java.time.Duration;

/** A node's share in handling a topic's messages, from {@link Topic#subscribe}. Thread-safe. */
public interface Subscription extends AutoCloseable {
  /** Takes nothing more on this node; what is held is finished. */
  void pause();

  /** Ends {@link #pause()}. */
  void resume();

  /** What was done since it began. */
  Counts counts();

  /**
   * Takes nothing more, and waits until what is held is finished and acknowledged.
   *
   * @param timeout then handlers are interrupted; what they hold goes to others when its lease ends
   * @return whether all was finished in time; false as well when a handler itself calls it
   */
  boolean close(Duration timeout);

  /** Closes with {@link GameQueueConfigBuilder#callTimeout}; closing again does nothing. */
  @Override
  void close();

  /**
   * What a subscription has done. Immutable.
   *
   * @param handled messages whose handler returned and that Redis knows to be acknowledged
   * @param failed attempts whose handler threw, or that it failed
   * @param dead of these, the last attempts: dead letters now
   * @param lost leases that had run out before the acknowledgement came
   * @param running messages that handlers have now
   * @param concurrency handlers that may run now: fewer than wished for while they fail
   */
  record Counts(long handled, long failed, long dead, long lost, int running, int concurrency) {}
}
