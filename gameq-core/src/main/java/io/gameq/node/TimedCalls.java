package io.gameq.node;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.agent.DaemonThreads;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs what waits for servers on threads of its own, so that no thread of the game waits for longer
 * than it is told, whatever a server does, and an interrupt of one disturbs no other. Thread-safe.
 */
final class TimedCalls implements AutoCloseable {
  private static final long IDLE_SECONDS = 30;

  private final ExecutorService threads;
  private final Set<Call<?>> awaited = ConcurrentHashMap.newKeySet();

  private final Function<String, GameQueueException> late;

  /**
   * With so many at once; others wait for one of these, in their own time.
   *
   * @param late a call that was not done in time, from what begins the message
   */
  TimedCalls(int most, Function<String, GameQueueException> late) {
    threads = DaemonThreads.pool("gameq-call", most, IDLE_SECONDS);
    this.late = late;
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

  /**
   * What a call returns; throws what it throws.
   *
   * @param what begins the message when the time is up
   * @param unused takes what came after that
   * @throws GameQueueException when the time is up, or the caller is interrupted; what was begun
   *     may go on
   */
  <T> T call(String what, long nanos, Work<T> work, Consumer<T> unused) {
    Call<T> call = new Call<>(what, work, unused);
    awaited.add(call);
    try {
      threads.execute(call);
      return call.result.get(nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      return call.end(closed(call.what, "the node is closed"));
    } catch (ExecutionException e) {
      throw ofCaller(e);
    } catch (TimeoutException e) {
      return call.end(late.apply(notDoneWithin(call.what, nanos)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return call.end(interrupted(call.what));
    } finally {
      awaited.remove(call);
    }
  }

  /**
   * The same without waiting; the time begins when one of the threads takes the call up.
   *
   * @param on where the future ends
   * @return ends as the call does; what comes after it was cancelled is {@code unused}
   */
  <T> CompletableFuture<T> start(
      String what, long nanos, Work<T> work, Consumer<T> unused, Executor on) {
    CompletableFuture<T> told = new CompletableFuture<>();
    Call<T> call =
        new Call<>(
            what, isAwaited -> work.run(() -> isAwaited.getAsBoolean() && !told.isDone()), unused);
    awaited.add(call);
    call.result.whenComplete(
        (value, error) -> {
          awaited.remove(call);
          on.execute(() -> tell(told, value, error, call, nanos));
        });
    try {
      threads.execute(
          () -> {
            call.result.orTimeout(nanos, TimeUnit.NANOSECONDS);
            call.run();
          });
    } catch (RejectedExecutionException e) {
      call.fail(closed(call.what, "the node is closed"));
    }
    return told;
  }

  /** A call without a time of its own, for {@link #await} of several. */
  <T> CompletableFuture<T> share(String what, Work<T> work) {
    Call<T> call = new Call<>(what, work, late -> {});
    awaited.add(call);
    CompletableFuture<T> unused = call.result.whenComplete((value, error) -> awaited.remove(call));
    try {
      threads.execute(call);
    } catch (RejectedExecutionException e) {
      call.fail(closed(what, "the node is closed"));
    }
    return call.result;
  }

  /** Waits for a shared call as {@link #call} does, and ends it for nobody else. */
  <T> T await(String what, long nanos, CompletableFuture<T> shared) {
    try {
      return shared.get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw ofCaller(e);
    } catch (TimeoutException e) {
      throw late.apply(what + ": not done in time");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw interrupted(what);
    }
  }

  private <T> void tell(
      CompletableFuture<T> told, T value, @Nullable Throwable error, Call<T> call, long nanos) {
    if (error instanceof TimeoutException) {
      told.completeExceptionally(late.apply(notDoneWithin(call.what, nanos)));
    } else if (error != null) {
      told.completeExceptionally(error);
    } else if (!told.complete(value)) {
      call.unused.accept(value);
    }
  }

  private static String notDoneWithin(String what, long nanos) {
    return "%s: not done within %d ms".formatted(what, TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  private static ClosedException closed(String what, String why) {
    return new ClosedException(what + ": " + why);
  }

  private static GameQueueException interrupted(String what) {
    return new GameQueueException(what + ": interrupted; it may still be done");
  }

  private static final class Call<T> implements Runnable {
    private final String what;
    private final Work<T> work;
    private final Consumer<T> unused;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    Call(String what, Work<T> work, Consumer<T> unused) {
      this.what = what;
      this.work = work;
      this.unused = unused;
    }

    @Override
    public void run() {
      if (!isAwaited()) {
        return;
      }
      try {
        T value = work.run(this::isAwaited);
        if (!result.complete(value)) {
          unused.accept(value);
        }
      } catch (RuntimeException | Error e) {
        result.completeExceptionally(e);
      }
    }

    private boolean isAwaited() {
      return !result.isDone();
    }

    void fail(GameQueueException why) {
      result.completeExceptionally(why);
    }

    /** Its caller waits no longer: throws why, or returns what has come at this very moment. */
    T end(GameQueueException why) {
      fail(why);
      try {
        return result.join();
      } catch (CompletionException e) {
        throw ofCaller(e);
      }
    }
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
    threads.shutdown();
    awaited.forEach(
        call -> call.fail(closed(call.what, "the node was closed; it may still be done")));
  }
}
