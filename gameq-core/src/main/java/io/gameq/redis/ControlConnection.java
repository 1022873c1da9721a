package io.gameq.redis;

import io.gameq.RedisUnavailableException;
import io.gameq.term.Term;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection for scripts of many threads, opened again when it broke. Thread-safe; not for
 * MULTI.
 */
public final class ControlConnection implements AutoCloseable {
  private final Supplier<PrimaryConnector.Opened> opens;
  private PrimaryConnector.@Nullable Opened connection;
  private long sinceNanos;

  /**
   * A connection.
   *
   * @param runId the server's: another one after a failover or a restart
   * @param term the number of its primary's term; {@link Term#NOT_KNOWN} of a connection that does
   *     not ask MySQL for it
   * @param sinceNanos when it was asked for, by System.nanoTime
   */
  public record Connected(
      StatefulRedisConnection<byte[], byte[]> redis,
      String runId,
      String address,
      long term,
      long sinceNanos) {}

  /** A connection to whatever primary the address leads to. */
  public ControlConnection(RedisConnector connector) {
    this.opens = () -> anyPrimary(connector);
  }

  /** A connection to the primary that counts: it needs MySQL to be opened. */
  public ControlConnection(PrimaryConnector connector) {
    this.opens = connector::open;
  }

  private static PrimaryConnector.Opened anyPrimary(RedisConnector connector) {
    StatefulRedisConnection<byte[], byte[]> fresh = connector.open();
    try {
      return new PrimaryConnector.Opened(
          fresh, RedisServerCheck.check(fresh).runId(), "", Term.NOT_KNOWN);
    } catch (RuntimeException e) {
      fresh.closeAsync();
      throw e;
    }
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
    if (connection == null || !connection.redis().isOpen()) {
      close();
      sinceNanos = System.nanoTime();
      connection = opens.get();
    }
    return new Connected(
        connection.redis(),
        connection.runId(),
        connection.address(),
        connection.term(),
        sinceNanos);
  }

  /**
   * Runs a call on the connection; one that does not answer is given up, so that the next call
   * takes a new one.
   *
   * @throws RedisUnavailableException when Redis does not answer; the call may have been applied
   */
  public <T> T call(Function<StatefulRedisConnection<byte[], byte[]>, T> call) {
    return call(get(), call);
  }

  /** The same on a connection that {@link #get} returned; others may have a newer one by now. */
  <T> T call(
      StatefulRedisConnection<byte[], byte[]> redis,
      Function<StatefulRedisConnection<byte[], byte[]>, T> call) {
    try {
      return call.apply(redis);
    } catch (RedisUnavailableException e) {
      giveUp(redis);
      throw e;
    }
  }

  /** As {@link #call}, of what changes nothing: once more when the connection had broken. */
  public <T> T ask(Function<StatefulRedisConnection<byte[], byte[]>, T> question) {
    return RedisReply.againIfBroken(() -> call(question));
  }

  /** Closes this connection, unless it has been replaced by now. */
  synchronized void giveUp(StatefulRedisConnection<byte[], byte[]> old) {
    if (connection != null && connection.redis() == old) {
      close();
    }
  }

  @Override
  public synchronized void close() {
    if (connection != null) {
      connection.redis().close();
      connection = null;
    }
  }
}
