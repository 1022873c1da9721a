package io.gameq.redis.topic;

import io.gameq.redis.RedisConnector;
import io.gameq.redis.Subscribed;
import java.util.Set;

/**
 * Listens to what scripts say is due soon, {@code ns:t:<topic>}. Thread-safe. A notice can be lost
 * while the connection is away: whoever waits for one also looks now and then.
 */
public final class TopicNotices implements AutoCloseable {
  private final Subscribed subscribed;

  /** Told of each notice, on a thread of the Redis client: must not block. */
  public interface Listener {
    /** In a slot of a topic something is due sooner than all before it, within five seconds. */
    void due(String topic, int slot);
  }

  public TopicNotices(
      RedisConnector connector, String namespace, Set<String> topics, Listener listener) {
    String prefix = namespace + ":t:";
    this.subscribed =
        new Subscribed(
            connector,
            (channel, slot) ->
                listener.due(channel.substring(prefix.length()), Integer.parseInt(slot)),
            topics.stream().map(topic -> prefix + topic).toArray(String[]::new));
  }

  /** As {@link Subscribed#keep}. */
  public void keepSubscribed() {
    subscribed.keep();
  }

  @Override
  public void close() {
    subscribed.close();
  }
}
