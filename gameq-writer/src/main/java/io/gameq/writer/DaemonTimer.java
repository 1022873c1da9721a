package io.gameq.writer;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** Timers that do not keep the process alive. Stateless. */
final class DaemonTimer {
  private DaemonTimer() {}

  /** A timer of one thread with this name, which starts with the first task. */
  static ScheduledExecutorService named(String threadName) {
    return Executors.newSingleThreadScheduledExecutor(
        task -> {
          Thread thread = new Thread(task, threadName);
          thread.setDaemon(true);
          return thread;
        });
  }
}
