package io.gameq.lab.load;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What an action returns: completed once its changes are acknowledged. Thread-safe. */
public interface Acknowledgement {
  /** Of a contender that has acknowledged when it returns. */
  Acknowledgement DONE = of(CompletableFuture.completedFuture(null));

  /** Waits, in the way in which a game thread of this contender would. */
  void await(Duration limit) throws Exception;

  /** For game threads that do not wait. */
  CompletableFuture<Void> future();

  /** Of a contender that answers with futures. */
  static Acknowledgement of(CompletableFuture<Void> future) {
    return new Acknowledgement() {
      @Override
      public void await(Duration limit) throws Exception {
        future.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      }

      @Override
      public CompletableFuture<Void> future() {
        return future;
      }
    };
  }
}
