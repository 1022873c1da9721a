package io.gameq.commit;

import io.gameq.GameQueueException;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What other threads have the sender do between two groups of commits. Thread-safe; {@link #runAll}
 * is called by the sender.
 */
final class SenderTasks {
  private static final long ANSWER_TIMEOUT_SECONDS = 30;

  private final SenderEnd end;
  private final Runnable wake;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

  /** Questions that are not answered yet. */
  private final Set<CompletableFuture<?>> asked = ConcurrentHashMap.newKeySet();

  SenderTasks(SenderEnd end, Runnable wake) {
    this.end = end;
    this.wake = wake;
  }

  /** Has a task run soon; returns at once. */
  void add(Runnable task) {
    tasks.add(task);
    wake.run();
  }

  /**
   * Has a question answered, and waits for that.
   *
   * @param failure what is said when there is no answer
   * @throws GameQueueException when there is none in time, or the question threw
   */
  @SuppressWarnings("CollectionUndefinedEquality") // identity is meant
  <T> T ask(Supplier<T> question, String failure) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    tasks.add(
        () -> {
          try {
            answer.complete(question.get());
          } catch (RuntimeException e) {
            answer.completeExceptionally(e);
          }
        });
    asked.add(answer);
    if (end.hasEnded()) {
      answer.completeExceptionally(end.whyNot());
    }
    wake.run();
    try {
      return answer.orTimeout(ANSWER_TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw new GameQueueException(failure + ": " + e.getCause(), e);
    } finally {
      asked.remove(answer);
    }
  }

  boolean isEmpty() {
    return tasks.isEmpty();
  }

  /** Runs what waits; returns how much that was. */
  int runAll() {
    int done = 0;
    for (Runnable task; (task = tasks.poll()) != null; done++) {
      task.run();
    }
    return done;
  }

  /** Answers whoever still waits: the sender has ended. */
  void failAll() {
    asked.forEach(answer -> answer.completeExceptionally(end.whyNot()));
  }
}
