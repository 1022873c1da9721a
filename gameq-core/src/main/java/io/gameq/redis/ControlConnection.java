package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.redis.PrimaryConnector.Opened;
import io.gameq.term.Term;
import io.lettuce.core.RedisCommandInterruptedException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection for scripts of many threads, opened again when it broke: once for all who wait, on
 * a thread of its own, so that nobody waits for more than one attempt, and whoever is interrupted
 * disturbs nobody else. Thread-safe; not for MULTI.
 */
public final class ControlConnection implements AutoCloseable {
  private final Supplier<Opened> opens;

  /** Open, being opened, or failed; null before and after. */
  private @Nullable CompletableFuture<Opened> current;

  /** A connection to whatever primary the address leads to. */
  public ControlConnection(RedisConnector connector) {
    this.opens = () -> anyPrimary(connector);
  }

  /** A connection to the primary that counts: it needs MySQL to be opened. */
  public ControlConnection(PrimaryConnector connector) {
    this.opens = connector::open;
  }

  private static Opened anyPrimary(RedisConnector connector) {
    long sinceNanos = System.nanoTime();
    RedisConnection fresh = connector.open();
    try {
      return new Opened(
          fresh, RedisServerCheck.check(fresh).runId(), "", Term.NOT_KNOWN, sinceNanos);
    } catch (RuntimeException e) {
      fresh.closeSoon();
      throw e;
    }
  }

  /**
   * A connection that was open a moment ago.
   *
   * @throws io.gameq.GameQueueException when Redis is away, or not one that gameq runs on
   */
  public RedisConnection get() {
    return connected().redis();
  }

  /** The same, with the server that it leads to; throws as {@link #get}. */
  public Opened connected() {
    CompletableFuture<Opened> awaited;
    synchronized (this) {
      Opened open = connection();
      if (open != null && open.redis().isOpen()) {
        return open;
      }
      if (current == null || current.isDone()) {
        close();
        start();
      }
      awaited = Objects.requireNonNull(current);
    }
    return await(awaited);
  }

  /** When no thread can be had, as when memory is short, the next caller tries again. */
  private void start() {
    CompletableFuture<Opened> opening = new CompletableFuture<>();
    DaemonThreads.named("gameq-connect", () -> open(opening)).start();
    current = opening;
  }

  private void open(CompletableFuture<Opened> opening) {
    try {
      Opened fresh = opens.get();
      if (!keep(opening, fresh)) {
        fresh.redis().closeSoon();
        throw new RedisUnavailableException("the connection was closed while it was opened");
      }
    } catch (RuntimeException | Error e) {
      opening.completeExceptionally(e);
    }
  }

  /** False when the attempt was given up. */
  private synchronized boolean keep(CompletableFuture<Opened> opening, Opened opened) {
    return opening == current && opening.complete(opened);
  }

  private @Nullable Opened connection() {
    return current == null || !current.isDone() || current.isCompletedExceptionally()
        ? null
        : current.join();
  }

  private static Opened await(CompletableFuture<Opened> awaited) {
    try {
      return awaited.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RedisUnavailableException("interrupted while connecting to Redis", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException known) {
        throw known; // the same for all who wait
      }
      throw new GameQueueException("cannot connect to Redis: " + e.getCause(), e);
    }
  }

  /**
   * Runs a call on the connection; one that does not answer is given up, so that the next call
   * takes a new one.
   *
   * @throws RedisUnavailableException when Redis does not answer; the call may have been applied
   */
  public <T> T call(Function<RedisConnection, T> call) {
    return call(get(), call);
  }

  /** The same on a connection that {@link #get} returned; others may have a newer one by now. */
  public <T> T call(RedisConnection redis, Function<RedisConnection, T> call) {
    try {
      return RedisReply.await(() -> call.apply(redis)); // also what the client threw when it sent
    } catch (RedisUnavailableException e) {
      if (!(e.getCause() instanceof RedisCommandInterruptedException)) { // that is this caller's
        giveUp(redis);
      }
      throw e;
    }
  }

  /** As {@link #call}, of what answers nothing. */
  public void run(Consumer<RedisConnection> call) {
    boolean unused =
        call(
            redis -> {
              call.accept(redis);
              return true;
            });
  }

  /** As {@link #call}, of what changes nothing: once more when the connection had broken. */
  public <T> T ask(Function<RedisConnection, T> question) {
    return RedisReply.againIfBroken(() -> call(question));
  }

  /** Closes this connection, unless it has been replaced by now. */
  public synchronized void giveUp(RedisConnection old) {
    Opened open = connection();
    if (open != null && open.redis() == old) {
      close();
    }
  }

  @Override
  public synchronized void close() {
    Opened open = connection();
    current = null;
    if (open != null) {
      open.redis().close();
    }
  }
}
