package io.gameq.agent;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes every thread of gameq: daemons, so that they do not keep a process alive, with a name, and
 * with a line in the log when one ends by an error. Stateless.
 */
public final class DaemonThreads {
  private static final Logger LOG = LoggerFactory.getLogger(DaemonThreads.class);

  private DaemonThreads() {}

  /** A thread that is not started. */
  public static Thread named(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(
        (ended, e) -> LOG.error("thread {} ended", ended.getName(), e));
    return thread;
  }

  /** An executor of one thread, which waits for tasks as long as it is open. */
  public static ExecutorService single(String name) {
    return pool(name, 1, new LinkedBlockingQueue<>(), new ThreadPoolExecutor.AbortPolicy());
  }

  /** One thread for at most so many tasks that wait; what there is no room for is not done. */
  public static ExecutorService bounded(String name, int mostWaiting) {
    return pool(
        name, 1, new LinkedBlockingQueue<>(mostWaiting), new ThreadPoolExecutor.DiscardPolicy());
  }

  /** So many threads at most, which end when there was nothing to do for so long. */
  public static ExecutorService pool(String name, int most, long idleSeconds) {
    ThreadPoolExecutor pool =
        pool(name, most, new LinkedBlockingQueue<>(), new ThreadPoolExecutor.AbortPolicy());
    pool.setKeepAliveTime(idleSeconds, TimeUnit.SECONDS);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private static ThreadPoolExecutor pool(
      String name, int threads, BlockingQueue<Runnable> tasks, RejectedExecutionHandler full) {
    return new ThreadPoolExecutor(
        threads, threads, 0, TimeUnit.SECONDS, tasks, task -> named(name, task), full);
  }
}
