package io.gameq.durability;

import java.util.concurrent.CompletableFuture;

/**
 * What happens to a session that its holder is to know of at once. Thread-safe; not for the game:
 * the futures end on gameq's threads.
 *
 * @param lost another session took the owner over
 * @param asked another node asks for the owner to be closed
 */
public record SessionNews(CompletableFuture<Void> lost, CompletableFuture<Void> asked) {
  /** Nothing yet. */
  public SessionNews() {
    this(new CompletableFuture<>(), new CompletableFuture<>());
  }

  /** Whether anybody waits to be told that it is lost. */
  public boolean isLossAwaited() {
    return !lost.isDone() && lost.getNumberOfDependents() > 0;
  }

  public void tellLost() {
    lost.complete(null);
  }

  public void tellAsked() {
    asked.complete(null);
  }
}
