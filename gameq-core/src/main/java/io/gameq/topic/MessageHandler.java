package io.gameq.topic;

/**
 * The game's code that handles messages of a topic, one at a time on each thread of the
 * subscription. Must be thread-safe.
 */
@FunctionalInterface
public interface MessageHandler<T> {
  /**
   * Handles a message. To return acknowledges it; to throw has it tried again as {@link
   * TopicOptions#retry} says.
   *
   * @throws Exception whatever: its class and message are kept with a dead letter
   */
  void handle(Delivery<T> delivery) throws Exception;
}
