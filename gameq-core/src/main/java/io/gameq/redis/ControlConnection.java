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
  private String runId = "";
  private long sinceNanos;

  /**
   * A connection.
   *
   * @param runId the server's: another one after a failover or a restart
   * @param sinceNanos when it was asked for, by System.nanoTime
   */
  public record Connected(
      StatefulRedisConnection<byte[], byte[]> redis, String runId, long sinceNanos) {}

  public ControlConnection(RedisConnector connector) {
    this.connector = connector;
  }

  /**
   * A connection that was open a moment ago.
   *
   * @throws io.gameq.GameQueueException when Redis is away, or not one that gameq runs on
   */
  public StatefulRedisConnection<byte[], byte[]> get() {
    return connected().redis();
  }

  /** The same, with the server that it leads to; throws as {@link #get}. */
  public synchronized Connected connected() {
    if (connection == null || !connection.isOpen()) {
      close();
      sinceNanos = System.nanoTime();
      StatefulRedisConnection<byte[], byte[]> fresh = connector.open();
      try {
        runId = RedisServerCheck.check(fresh).runId();
      } catch (RuntimeException e) {
        fresh.closeAsync();
        throw e;
      }
      connection = fresh;
    }
    return new Connected(connection, runId, sinceNanos);
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

  /** Closes this connection, unless it has been replaced by now. */
  synchronized void giveUp(Connected old) {
    if (connection == old.redis()) {
      close();
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
