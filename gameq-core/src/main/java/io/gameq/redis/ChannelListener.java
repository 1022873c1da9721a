package io.gameq.redis;

import io.gameq.GameQueueException;
import io.lettuce.core.RedisException;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens on channels, over a connection of its own. Thread-safe. A notice can be lost while the
 * connection is away: whoever waits for one also asks now and then.
 */
public final class ChannelListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ChannelListener.class);

  private final RedisConnector connector;
  private final String[] channels;
  private final BiConsumer<String, String> listener;
  private @Nullable StatefulRedisPubSubConnection<String, String> connection;

  /** Told of each notice to a process, on a thread of the Redis client: must not block. */
  public interface Notices {
    /**
     * Everything of a session up to a version is in MySQL, but for some rows.
     *
     * @param setAside rows that are dead letters, with the version in which they were refused
     * @param kept rows that go on waiting, with the version in which they do
     */
    void durable(
        String owner,
        String session,
        long version,
        Map<String, Long> setAside,
        Map<String, Long> kept);

    /** Another session took the owner over, as far as Redis knew then. */
    default void lost(String owner, String session) {}

    /** Another node takes the owner for open here, by what Redis says. */
    default void held(String owner, String session) {}

    /** The same of one that asks for the owner to be closed. */
    default void asked(String owner, String session) {}

    /** Rows were sent to owners of this slot. */
    default void sent(int slot) {}
  }

  /**
   * Not yet subscribed.
   *
   * @param listener told of channel and notice, on a thread of the Redis client: must not block; a
   *     notice that it throws at is logged as malformed
   */
  public ChannelListener(
      RedisConnector connector, BiConsumer<String, String> listener, String... channels) {
    this.connector = connector;
    this.listener = listener;
    this.channels = channels.clone();
  }

  /**
   * Listens to what writers say is in MySQL now, and to what other nodes say of a process'
   * sessions.
   *
   * @param process 8 hex digits
   */
  public static ChannelListener ofProcess(
      RedisConnector connector, String namespace, String process, Notices told) {
    String durable = SlotKeys.durableChannel(namespace, process);
    return new ChannelListener(
        connector,
        (channel, lines) ->
            lines
                .lines()
                .map(line -> line.split(" ", -1))
                .forEach(
                    words -> {
                      if (channel.equals(durable)) {
                        tellDurable(channel, words, told);
                      } else {
                        tellOfSession(words, told);
                      }
                    }),
        durable,
        SlotKeys.sessionChannel(namespace, process));
  }

  /** A line that is malformed holds up no other. */
  private static void tellDurable(String channel, String[] words, Notices told) {
    try {
      Map<String, Long> setAside = new HashMap<>();
      Map<String, Long> kept = new HashMap<>();
      for (int i = 3; i < words.length; i += 2) {
        (words[i].charAt(0) == '!' ? setAside : kept)
            .put(words[i].substring(1), Long.parseUnsignedLong(words[i + 1], 16));
      }
      told.durable(words[0], words[1], Long.parseUnsignedLong(words[2], 16), setAside, kept);
    } catch (RuntimeException e) {
      LOG.warn("ignored a malformed notice on {}", channel);
    }
  }

  /** {@code lost}, {@code asked} or {@code held owner session}, or {@code sent slot}. */
  private static void tellOfSession(String[] words, Notices told) {
    switch (words[0]) {
      case "lost" -> told.lost(words[1], words[2]);
      case "asked" -> told.asked(words[1], words[2]);
      case "held" -> told.held(words[1], words[2]);
      case "sent" -> told.sent(Integer.parseInt(words[1]));
      default -> LOG.debug("a notice of a newer version of gameq: {}", words[0]);
    }
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
            try {
              listener.accept(channel, message);
            } catch (RuntimeException e) {
              LOG.warn("ignored a malformed notice on {}", channel);
            }
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

  @Override
  public synchronized void close() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }
}
