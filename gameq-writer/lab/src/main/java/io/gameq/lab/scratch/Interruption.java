package io.gameq.lab.scratch;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * On Ctrl-C, has the thread that made it clean up what lies on servers that were given: the JVM
 * ends once this is closed, or after 15 s. Thread-safe.
 */
public final class Interruption implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 15;

  private final Thread command = Thread.currentThread();
  private final CountDownLatch cleaned = new CountDownLatch(1);
  private final Thread hook = new Thread(this::interrupted, "gameq-interrupted");

  /** From now on, for the current thread. */
  public Interruption() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void interrupted() {
    command.interrupt();
    try {
      boolean unused = cleaned.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    cleaned.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shutdownBegan) {
      return; // the hook has done its work
    }
  }
}
