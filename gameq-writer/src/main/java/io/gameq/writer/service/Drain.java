package io.gameq.writer.service;

import io.gameq.agent.DaemonThreads;
import io.gameq.backlog.Backlog;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a writer stops within a time: it finishes what is claimed, gives back the rest, looks what
 * remains. Used once.
 */
final class Drain {
  /** Of the time, for giving back and looking; a script each, if Redis answers. */
  private static final long MOST_RESERVE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final int RESERVE_SHARE = 4;

  private static final Logger LOG = LoggerFactory.getLogger(Drain.class);

  private final long startNanos = System.nanoTime();
  private final long deadlineNanos;
  private final long finishNanos;

  Drain(Duration within) {
    this.deadlineNanos = startNanos + within.toNanos();
    this.finishNanos =
        deadlineNanos - Math.min(MOST_RESERVE_NANOS, within.toNanos() / RESERVE_SHARE);
  }

  /** Waits for what is claimed until a time; returns whether all of it is finished. */
  interface Finish {
    boolean until(long deadlineNanos) throws InterruptedException;
  }

  /**
   * Stops.
   *
   * @param giveBack gives back what is not finished; returns how many claims
   * @param look looks what waits
   */
  Remains of(Finish finish, Supplier<Integer> giveBack, Supplier<Backlog> look) {
    boolean isFinished = false;
    try {
      isFinished = finish.until(finishNanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Integer givenBack = isFinished ? Integer.valueOf(0) : inTime("give claims back", giveBack);
    Backlog backlog = inTime("look what waits", look);
    return new Remains(
        Duration.ofNanos(System.nanoTime() - startNanos),
        isFinished,
        givenBack == null ? 0 : givenBack,
        givenBack != null,
        backlog);
  }

  /** On another thread, since Redis may not answer; null when it does not. */
  private <T> @Nullable T inTime(String what, Supplier<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    DaemonThreads.named(
            "gameq-drain",
            () -> {
              try {
                result.complete(call.get());
              } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
              }
            })
        .start();
    try {
      long left = Math.max(1, Math.min(MOST_RESERVE_NANOS, deadlineNanos - System.nanoTime()));
      return result.get(left, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      LOG.warn("cannot {}: {}", what, String.valueOf(e.getCause()));
    } catch (TimeoutException e) {
      LOG.warn("cannot {}: Redis does not answer in time", what);
    }
    return null;
  }
}
