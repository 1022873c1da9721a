package io.gameq.topic;

import io.gameq.GameQueue;

/**
 * Handlers of topics that run in the process of a gameq-writer: a class of a jar in the directory
 * that the writer's setting {@code node.plugins} names. The jar has a file {@code
 * META-INF/services/io.gameq.topic.TopicPlugin} with the name of the class, which has a public
 * constructor without parameters.
 *
 * <p>The jars of the directory share one class loader, beneath that of the writer: gameq and SLF4J
 * are there, all else comes with them.
 */
public interface TopicPlugin extends AutoCloseable {
  /**
   * Opens topics and subscribes to them. Called once, before the writer answers for messages.
   *
   * @param queue the writer's own node, which closes all subscriptions when it is closed; not to be
   *     closed here
   * @throws Exception anything: the writer does not start, and names the jar and the error
   */
  void start(GameQueue queue) throws Exception;

  /**
   * Gives up what it has beside subscriptions. Called once, after the node was closed: no handler
   * runs any more. What it throws is logged.
   */
  @Override
  default void close() throws Exception {}
}
