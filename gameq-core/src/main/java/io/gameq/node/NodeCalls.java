package io.gameq.node;

import io.gameq.CallTimeoutException;
import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.config.GameQueueConfig;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The calls of the game that wait for servers, each for as long as {@code callTimeout} at most.
 * They run on threads of their own: no thread of the game waits for longer than it is told,
 * whatever a server does, and an interrupt of one disturbs no other. Thread-safe.
 */
final class NodeCalls implements AutoCloseable {
  private static final int MOST_CLOSES = 8;

  /** Enough that those at the same step go to MySQL in large groups. */
  private static final int MOST_STARTED = 64;

  private static final long IDLE_SECONDS = 30;

  final Duration timeout;
  private final Servers servers;
  private final ExecutorService mysql;

  /** Of those that nobody waits for: they do not stand in the way of those that somebody does. */
  private final ExecutorService started;

  /** Of those that need Redis only, and so do not wait for calls that wait for MySQL. */
  private final ExecutorService redis;

  private final Set<Call<?>> awaited = ConcurrentHashMap.newKeySet();

  /**
   * What is known of the servers: calls that fail since one is away say so.
   *
   * @param redis whether it answered last
   * @param mysql whether it answered last
   * @param mysqlConnections whether there are any
   */
  record Servers(BooleanSupplier redis, BooleanSupplier mysql, BooleanSupplier mysqlConnections) {}

  NodeCalls(GameQueueConfig config, Servers servers) {
    this.timeout = config.callTimeout();
    this.servers = servers;
    redis = DaemonThreads.pool("gameq-call", MOST_CLOSES, IDLE_SECONDS);
    mysql = DaemonThreads.pool("gameq-call", 2 * config.poolSize(), IDLE_SECONDS);
    started = DaemonThreads.pool("gameq-call", MOST_STARTED, IDLE_SECONDS);
  }

  /** What is done in time. */
  interface Work<T> {
    /**
     * Does it.
     *
     * @param isAwaited false once nobody waits for it any more: what cannot be undone is not to be
     *     begun then
     */
    T run(BooleanSupplier isAwaited);
  }

  /** The end of the time that a call has that begins now, by System.nanoTime. */
  long deadline() {
    return System.nanoTime() + timeout.toNanos();
  }

  /**
   * What a call returns that waits for MySQL; throws what it throws.
   *
   * @param what begins the message when the time is up
   * @param unused takes what came after that
   * @throws GameQueueException when the time is up, or the caller is interrupted; what was begun
   *     may go on
   */
  <T> T ofMySql(String what, Work<T> work, Consumer<T> unused) {
    return ofMySql(what, timeout.toNanos(), work, unused);
  }

  /** The same for what is left of the caller's time. */
  <T> T ofMySql(String what, long nanos, Work<T> work, Consumer<T> unused) {
    return await(
        what, nanos, begin(mysql, new Call<>(what, unlessMySqlIsAway(what, work), unused)));
  }

  /** A call that waits for Redis only, for what is left of the caller's time. */
  <T> T ofRedis(String what, long nanos, Work<T> work) {
    return await(what, nanos, begin(redis, new Call<>(what, work, late -> {})));
  }

  /** A call that waits for Redis only, and whose result several wait for. */
  <T> CompletableFuture<T> shareOfRedis(String what, Work<T> work) {
    return begin(redis, new Call<>(what, work, late -> {}));
  }

  /**
   * A call of MySQL that nobody waits for; its time begins when one of the threads takes it up.
   *
   * @param on where the future ends
   * @return ends as the call does; what comes after it was cancelled is {@code unused}
   */
  <T> CompletableFuture<T> startOfMySql(
      String what, Work<T> work, Consumer<T> unused, Executor on) {
    CompletableFuture<T> told = new CompletableFuture<>();
    Work<T> mine = unlessMySqlIsAway(what, work);
    Call<T> call =
        new Call<>(
            what, isAwaited -> mine.run(() -> isAwaited.getAsBoolean() && !told.isDone()), unused);
    call.whenComplete((value, error) -> on.execute(() -> tell(told, value, error, call)));
    begin(
        started,
        call,
        () -> {
          call.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
          call.run();
        });
    return told;
  }

  private <T> void tell(
      CompletableFuture<T> told, T value, @Nullable Throwable error, Call<T> call) {
    if (error instanceof TimeoutException) {
      told.completeExceptionally(late(notDoneWithin(call.what, timeout.toNanos())));
    } else if (error != null) {
      told.completeExceptionally(error);
    } else if (!told.complete(value)) {
      call.unused.accept(value);
    }
  }

  /**
   * A call that waits for MySQL and whose result several wait for, with {@link #share}: it has no
   * time of its own, and what came too late for one of them is there for the next.
   */
  <T> CompletableFuture<T> shareOfMySql(String what, Work<T> work) {
    return begin(mysql, new Call<>(what, unlessMySqlIsAway(what, work), late -> {}));
  }

  /**
   * What a shared call returns; throws what it throws.
   *
   * @throws GameQueueException when the time is up, or the caller is interrupted; the call goes on
   */
  <T> T share(String what, long nanos, CompletableFuture<T> shared) {
    return await(what, nanos, shared.copy());
  }

  /** Its caller waits for so long; after that nobody does, and it ends. */
  private <T> T await(String what, long nanos, CompletableFuture<T> call) {
    try {
      return call.get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw ofCaller(e);
    } catch (TimeoutException e) {
      call.completeExceptionally(late(notDoneWithin(what, nanos)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      call.completeExceptionally(
          new GameQueueException(what + ": interrupted; it may still be done"));
    }
    try {
      return call.join(); // it may have come at this very moment
    } catch (CompletionException e) {
      throw ofCaller(e);
    }
  }

  private <T> Call<T> begin(ExecutorService threads, Call<T> call) {
    begin(threads, call, call);
    return call;
  }

  private void begin(ExecutorService threads, Call<?> call, Runnable task) {
    awaited.add(call);
    call.whenComplete((value, error) -> awaited.remove(call));
    try {
      threads.execute(task);
    } catch (RejectedExecutionException e) {
      call.completeExceptionally(new ClosedException(call.what + ": the node is closed"));
    }
  }

  /** Fails at once while a connection could neither be had lately nor is there now. */
  private <T> Work<T> unlessMySqlIsAway(String what, Work<T> work) {
    return isAwaited -> {
      if (!servers.mysql.getAsBoolean() && !servers.mysqlConnections.getAsBoolean()) {
        throw new MySqlUnavailableException(what + ": MySQL does not answer; nothing was begun");
      }
      return work.run(isAwaited);
    };
  }

  private static final class Call<T> extends CompletableFuture<T> implements Runnable {
    private final String what;
    private final Work<T> work;
    private final Consumer<T> unused;

    Call(String what, Work<T> work, Consumer<T> unused) {
      this.what = what;
      this.work = work;
      this.unused = unused;
    }

    @Override
    public void run() {
      if (isDone()) {
        return;
      }
      try {
        T value = work.run(() -> !isDone());
        if (!complete(value)) {
          unused.accept(value);
        }
      } catch (RuntimeException | Error e) {
        completeExceptionally(e);
      }
    }
  }

  private GameQueueException late(String what) {
    if (!servers.redis.getAsBoolean()) {
      return new RedisUnavailableException(
          what + ", since Redis does not answer; it may still be done");
    }
    if (!servers.mysql.getAsBoolean() || !servers.mysqlConnections.getAsBoolean()) {
      return new MySqlUnavailableException(
          what + ", since MySQL does not answer; it may still be done");
    }
    return new CallTimeoutException(
        what + ": Redis or MySQL does not answer, or is slow; it may still be done");
  }

  private static String notDoneWithin(String what, long nanos) {
    return "%s: not done within %s ms".formatted(what, TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  /** It was thrown on another thread: shows where the caller was as well. */
  private static RuntimeException ofCaller(Exception e) {
    Throwable cause = e.getCause();
    if (cause instanceof RuntimeException known) {
      known.addSuppressed(new IllegalStateException("called from here"));
      return known;
    }
    return new GameQueueException("failed: " + cause, e);
  }

  /** Nobody waits any more for what runs or waits; that is not waited for either. */
  @Override
  public void close() {
    redis.shutdown();
    mysql.shutdown();
    started.shutdown();
    awaited.forEach(
        call ->
            call.completeExceptionally(
                new ClosedException(call.what + ": the node was closed; it may still be done")));
  }
}
