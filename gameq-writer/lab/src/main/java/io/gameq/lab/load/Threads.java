package io.gameq.lab.load;

import io.gameq.lab.workload.BenchException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs the same work on some threads. Stateless. */
public final class Threads {
  private Threads() {}

  /** What each thread does. */
  public interface Work {
    void run(int thread) throws Exception;
  }

  /** Runs what is due on one thread, which keeps no process alive. */
  public static ScheduledExecutorService timer(String name) {
    return Executors.newSingleThreadScheduledExecutor(
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  /**
   * Runs and waits for all.
   *
   * @throws BenchException with what the first one that failed threw; the others end by themselves
   */
  public static void run(int threads, String name, Work work) throws InterruptedException {
    AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int number = i;
      Thread thread =
          new Thread(
              () -> {
                try {
                  work.run(number);
                } catch (Throwable e) { // an Error must not pass for success
                  failed.compareAndSet(null, e);
                }
              },
              name + "-" + i);
      thread.setDaemon(true);
      all.add(thread);
      thread.start();
    }
    for (Thread thread : all) {
      thread.join();
    }
    Throwable error = failed.get();
    if (error != null) {
      throw new BenchException(name + ": " + error.getMessage(), error);
    }
  }
}
