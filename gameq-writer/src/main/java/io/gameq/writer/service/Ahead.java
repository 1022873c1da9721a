package io.gameq.writer.service;

import io.gameq.agent.DaemonThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * Opens something on a thread of its own before it is asked for, so that slow starts overlap. Used
 * by one thread.
 *
 * <p>Closing it closes what was opened ahead and never asked for, also when that is opened later.
 */
final class Ahead<T extends AutoCloseable> implements Supplier<T>, AutoCloseable {
  private final Supplier<T> open;
  private final CompletableFuture<T> first = new CompletableFuture<>();
  private boolean isTaken;

  private Ahead(Supplier<T> open) {
    this.open = open;
  }

  /** Begins at once, on a thread of that name. */
  static <T extends AutoCloseable> Ahead<T> begin(String thread, Supplier<T> open) {
    Ahead<T> ahead = new Ahead<>(open);
    DaemonThreads.named(thread, ahead::openFirst).start();
    return ahead;
  }

  private void openFirst() {
    try {
      first.complete(open.get());
    } catch (RuntimeException | Error e) { // for whoever asks
      first.completeExceptionally(e);
    }
  }

  /**
   * Waits for what was begun; each further time opens it again, on the caller's thread.
   *
   * @throws RuntimeException what opening it threw
   */
  @Override
  public T get() {
    if (isTaken) {
      return open.get();
    }
    isTaken = true;
    try {
      return first.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  @Override
  public void close() {
    if (isTaken) {
      return;
    }
    isTaken = true;
    CompletableFuture<Void> unused = first.thenAccept(Ahead::closeQuietly);
  }

  private static void closeQuietly(AutoCloseable opened) {
    try {
      opened.close();
    } catch (Exception e) {
      // Nobody asked for it, and the process ends.
    }
  }
}
