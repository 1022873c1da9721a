package io.gameq.redis;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.RedisCommand;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A connection to Redis. Outside the {@code redis} packages it is a handle that scripts take and
 * that is closed; only these packages know the client behind it. Thread-safe.
 */
public final class RedisConnection implements AutoCloseable {
  private final StatefulRedisConnection<byte[], byte[]> client;

  /** The client warns of each further close. */
  private final AtomicBoolean closed = new AtomicBoolean();

  public RedisConnection(StatefulRedisConnection<byte[], byte[]> client) {
    this.client = client;
  }

  public boolean isOpen() {
    return client.isOpen();
  }

  /** Closes it, and waits for that. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      client.close();
    }
  }

  /** Closes it, and returns at once. */
  public void closeSoon() {
    if (closed.compareAndSet(false, true)) {
      client.closeAsync();
    }
  }

  /** Whether what is sent leaves at once, as it does at first, or with {@link #flush}. */
  public void flushesByItself(boolean now) {
    client.setAutoFlushCommands(now);
  }

  /** Sends what waits. */
  public void flush() {
    client.flushCommands();
  }

  /**
   * Has leave in one go what {@code sends} sends; no other thread uses the connection meanwhile.
   * Throws RedisUnavailableException when it is not connected.
   */
  public void inOneGo(Runnable sends) {
    flushesByItself(false);
    try {
      sends.run();
      flush();
    } catch (RedisException e) {
      throw RedisReply.exception(e);
    } finally {
      flushesByItself(true);
    }
  }

  /** This connection's number on its server. */
  public long id() {
    return RedisReply.await(() -> client.sync().clientId());
  }

  /** Ends another connection to the same server; once this returns, nothing of it is applied. */
  public void end(long otherId) {
    long unused = RedisReply.await(() -> client.sync().clientKill(KillArgs.Builder.id(otherId)));
  }

  // --- for the redis packages

  public RedisCommands<byte[], byte[]> sync() {
    return client.sync();
  }

  public RedisAsyncCommands<byte[], byte[]> async() {
    return client.async();
  }

  public Collection<RedisCommand<byte[], byte[], ?>> dispatch(
      Collection<? extends RedisCommand<byte[], byte[], ?>> commands) {
    return client.dispatch(commands);
  }

  public StatefulRedisConnection<byte[], byte[]> client() {
    return client;
  }
}
