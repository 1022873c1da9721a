package io.gameq.writer.flush;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** Timers that do not keep the process alive. Stateless. */
public final class DaemonTimer {
  private DaemonTimer() {}

  /** A timer of one thread with this name, which starts with the first task. */
  public static ScheduledExecutorService named(String threadName) {
    return Executors.newSingleThreadScheduledExecutor(
        task -> {
          Thread thread = new Thread(task, threadName);
          thread.setDaemon(true);
          return thread;
        });
  }
}
