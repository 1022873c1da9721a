package io.gameq.redis.topic;

import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnector;
import io.lettuce.core.RedisException;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens to what scripts say is due soon, {@code ns:t:<topic>}. Thread-safe. A notice can be lost
 * while the connection is away: whoever waits for one also looks now and then.
 */
public final class TopicNotices implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TopicNotices.class);

  private final RedisConnector connector;
  private final String prefix;
  private final String[] channels;
  private final Listener listener;
  private @Nullable StatefulRedisPubSubConnection<String, String> connection;

  /** Told of each notice, on a thread of the Redis client: must not block. */
  public interface Listener {
    /** In a slot of a topic something is due sooner than all before it, within five seconds. */
    void due(String topic, int slot);
  }

  public TopicNotices(
      RedisConnector connector, String namespace, Set<String> topics, Listener listener) {
    this.connector = connector;
    this.prefix = namespace + ":t:";
    this.channels = topics.stream().map(topic -> prefix + topic).toArray(String[]::new);
    this.listener = listener;
  }

  /**
   * Subscribes, again when the connection broke; to be called now and then. Throws
   * GameQueueException when Redis is away.
   */
  public synchronized void keepSubscribed() {
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
      throw new GameQueueException("cannot subscribe to notices of topics: " + e.getMessage(), e);
    }
    connection = fresh;
  }

  private void take(String channel, String slot) {
    try {
      listener.due(channel.substring(prefix.length()), Integer.parseInt(slot));
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
