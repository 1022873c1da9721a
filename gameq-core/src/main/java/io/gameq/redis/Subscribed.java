package io.gameq.redis;

import io.gameq.GameQueueException;
import io.lettuce.core.RedisException;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens on channels, over a connection of its own. Thread-safe. A notice can be lost while the
 * connection is away: whoever waits for one also looks now and then.
 */
public final class Subscribed implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Subscribed.class);

  private final RedisConnector connector;
  private final String[] channels;
  private final BiConsumer<String, String> listener;
  private @Nullable StatefulRedisPubSubConnection<String, String> connection;

  /**
   * Not yet subscribed.
   *
   * @param listener told of channel and notice, on a thread of the Redis client: must not block; a
   *     notice that it throws at is logged as malformed
   */
  public Subscribed(
      RedisConnector connector, BiConsumer<String, String> listener, String... channels) {
    this.connector = connector;
    this.listener = listener;
    this.channels = channels.clone();
  }

  /**
   * Subscribes, again when the connection broke; to be called now and then. Throws
   * GameQueueException when Redis is away.
   */
  public synchronized void keep() {
    if (connection != null && connection.isOpen()) {
      return;
    }
    close();
    StatefulRedisPubSubConnection<String, String> fresh = connector.openPubSub();
    fresh.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String message) {
            take(channel, message);
          }
        });
    try {
      fresh.sync().subscribe(channels);
    } catch (RedisException e) {
      fresh.closeAsync();
      throw new GameQueueException(
          "cannot subscribe to " + String.join(", ", channels) + ": " + e.getMessage(), e);
    }
    connection = fresh;
  }

  private void take(String channel, String message) {
    try {
      listener.accept(channel, message);
    } catch (RuntimeException e) {
      LOG.warn("ignored a malformed notice on {}", channel);
    }
  }

  @Override
  public synchronized void close() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }
}
