package io.gameq.durability;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Whether the WAL has a commit; a future only for those who ask for one. Thread-safe. */
public final class JournaledFuture {
  static final JournaledFuture DONE = new JournaledFuture();

  static {
    DONE.reached();
  }

  private volatile boolean reached;
  private @Nullable CompletableFuture<Void> future;

  public void reached() {
    reached = true;
    CompletableFuture<Void> asked = asked();
    if (asked != null) {
      asked.complete(null);
    }
  }

  public void failed(RuntimeException reason) {
    if (!reached) {
      future().completeExceptionally(reason);
    }
  }

  private synchronized @Nullable CompletableFuture<Void> asked() {
    return future;
  }

  /** Not for the game: it ends on the sender's thread. */
  synchronized CompletableFuture<Void> future() {
    if (future == null) {
      future = reached ? CompletableFuture.completedFuture(null) : new CompletableFuture<>();
    }
    return future;
  }
}
