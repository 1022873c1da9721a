package io.gameq.redis;

import io.gameq.RedisUnavailableException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One connection for scripts of many threads, opened again when it broke. Thread-safe; not for
 * MULTI.
 */
public final class ControlConnection implements AutoCloseable {
  private final RedisConnector connector;
  private @Nullable StatefulRedisConnection<byte[], byte[]> connection;

  public ControlConnection(RedisConnector connector) {
    this.connector = connector;
  }

  /**
   * A connection that was open a moment ago.
   *
   * @throws io.gameq.GameQueueException when Redis is away, or not one that gameq runs on
   */
  public synchronized StatefulRedisConnection<byte[], byte[]> get() {
    if (connection == null || !connection.isOpen()) {
      close();
      StatefulRedisConnection<byte[], byte[]> fresh = connector.open();
      try {
        RedisServerCheck.check(fresh);
      } catch (RuntimeException e) {
        fresh.closeAsync();
        throw e;
      }
      connection = fresh;
    }
    return connection;
  }

  /**
   * Runs a call on the connection; one that does not answer is given up, so that the next call
   * takes a new one.
   *
   * @throws RedisUnavailableException when Redis does not answer; the call may have been applied
   */
  public <T> T call(Function<StatefulRedisConnection<byte[], byte[]>, T> call) {
    try {
      return call.apply(get());
    } catch (RedisUnavailableException e) {
      close();
      throw e;
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
