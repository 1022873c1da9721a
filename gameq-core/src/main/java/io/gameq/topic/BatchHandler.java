package io.gameq.topic;

import java.util.List;

/**
 * The game's code that handles messages of a topic several at a time, see {@link
 * SubscribeOptions#batch}. Must be thread-safe.
 */
@FunctionalInterface
public interface BatchHandler<T> {
  /**
   * Handles messages, of different keys and groups. To return acknowledges those that were not
   * {@linkplain Delivery#fail failed}; to throw has all tried again that were not acknowledged.
   *
   * @throws Exception whatever: its class and message are kept with dead letters
   */
  void handle(List<Delivery<T>> deliveries) throws Exception;
}
