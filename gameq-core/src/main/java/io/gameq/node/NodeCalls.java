package io.gameq.node;

import io.gameq.CallTimeoutException;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.RedisUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The calls of the game that wait for servers, each for as long as {@code callTimeout} at most.
 * Thread-safe.
 */
final class NodeCalls {
  private static final int MOST_CLOSES = 8;

  /** Enough that those at the same step go to MySQL in large groups. */
  private static final int MOST_STARTED = 64;

  private final Duration timeout;
  private final TimedCalls mysql;

  /** Of those that nobody waits for: they do not stand in the way of those that somebody does. */
  private final TimedCalls started;

  /** Of those that need Redis only, and so do not wait for calls that wait for MySQL. */
  private final TimedCalls redis;

  private volatile Known known = new Known(() -> true, () -> true, () -> true);

  NodeCalls(GameQueueConfig config, ResourceStack opened) {
    timeout = config.callTimeout();
    redis = opened.add(new TimedCalls(MOST_CLOSES, this::late));
    mysql = opened.add(new TimedCalls(2 * config.poolSize(), this::late));
    started = opened.add(new TimedCalls(MOST_STARTED, this::late));
  }

  /**
   * What is known of the servers.
   *
   * @param redis whether it answered last
   * @param mysql whether it answered last
   * @param mysqlConnections whether there are any
   */
  record Known(BooleanSupplier redis, BooleanSupplier mysql, BooleanSupplier mysqlConnections) {}

  /** From now on calls that fail since a server is away say so. */
  void know(Known of) {
    known = of;
  }

  private GameQueueException late(String what) {
    if (!known.redis.getAsBoolean()) {
      return new RedisUnavailableException(
          what + ", since Redis does not answer; it may still be done");
    }
    if (!known.mysql.getAsBoolean() || !known.mysqlConnections.getAsBoolean()) {
      return new MySqlUnavailableException(
          what + ", since MySQL does not answer; it may still be done");
    }
    return new CallTimeoutException(
        what + ": Redis or MySQL does not answer, or is slow; it may still be done");
  }

  Duration timeout() {
    return timeout;
  }

  /** The end of the time that a call has that begins now, by System.nanoTime. */
  long deadline() {
    return System.nanoTime() + timeout.toNanos();
  }

  /** A call that waits for MySQL; as {@link TimedCalls#call}. */
  <T> T ofMySql(String what, TimedCalls.Work<T> work, Consumer<T> unused) {
    return ofMySql(what, timeout.toNanos(), work, unused);
  }

  /** The same for what is left of the caller's time. */
  <T> T ofMySql(String what, long nanos, TimedCalls.Work<T> work, Consumer<T> unused) {
    return mysql.call(what, nanos, unlessMySqlIsAway(what, work), unused);
  }

  /** The same, which nobody waits for; as {@link TimedCalls#start}. */
  <T> CompletableFuture<T> startOfMySql(
      String what, TimedCalls.Work<T> work, Consumer<T> unused, Executor on) {
    return started.start(what, timeout.toNanos(), unlessMySqlIsAway(what, work), unused, on);
  }

  /**
   * A call that waits for MySQL and whose result several wait for, with {@link #await}: it has no
   * time of its own, and what came too late for one of them is there for the next.
   */
  <T> CompletableFuture<T> shareOfMySql(String what, TimedCalls.Work<T> work) {
    return mysql.share(what, unlessMySqlIsAway(what, work));
  }

  /**
   * What a shared call returns; throws what it throws.
   *
   * @param deadlineNanos as {@link #deadline} gave it
   * @throws GameQueueException when the time is up, or the caller is interrupted; the call goes on
   */
  <T> T await(String what, long deadlineNanos, CompletableFuture<T> shared) {
    return mysql.await(what, deadlineNanos - System.nanoTime(), shared);
  }

  /** Fails at once while a connection could neither be had lately nor is there now. */
  private <T> TimedCalls.Work<T> unlessMySqlIsAway(String what, TimedCalls.Work<T> work) {
    return isAwaited -> {
      if (!known.mysql.getAsBoolean() && !known.mysqlConnections.getAsBoolean()) {
        throw new MySqlUnavailableException(what + ": MySQL does not answer; nothing was begun");
      }
      return work.run(isAwaited);
    };
  }

  /** A call that waits for Redis only, for what is left of the caller's time. */
  <T> T ofRedis(String what, long nanos, TimedCalls.Work<T> work) {
    return redis.call(what, nanos, work, late -> {});
  }

  /** Nobody waits any more. */
  void close() {
    mysql.close();
    started.close();
    redis.close();
  }
}
