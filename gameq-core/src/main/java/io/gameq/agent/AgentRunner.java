package io.gameq.agent;

import io.gameq.GameQueueException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

// Written by hand, after Agrona's AgentRunner, since that does not rest after an exception:
// Agrona 2.3.2 called an agent that fails 77,000 times a second, whatever its idle strategy. It
// cannot be woken either, a CompositeAgent skips the rest of a round when one agent fails, and
// 492 kB more would go into every game.
/**
 * A thread that runs agents in turn, until closed. What an agent throws ends neither the thread nor
 * the others' turn: it is logged, once a minute for each agent and kind. Thread-safe.
 */
public final class AgentRunner implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AgentRunner.class);

  private static final long CLOSE_MILLIS = 5_000;
  private static final long COMPLAIN_EVERY_SECONDS = 60;

  /** Whatever an agent says: nothing that fails is to take a whole core. */
  private static final long REST_AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Thread thread;
  private final RepeatedWarnings complaints = new RepeatedWarnings(COMPLAIN_EVERY_SECONDS);
  private List<Agent> agents = List.of();
  private boolean hasFailed;
  private volatile boolean woken;
  private volatile boolean stopped;

  /** A runner that does nothing until it is started. */
  public AgentRunner(String threadName) {
    this.thread = DaemonThreads.named(threadName, this::run);
  }

  /** Runs these agents, in this order; called once. */
  public void start(Agent... inTurn) {
    start(List.of(inTurn));
  }

  public void start(List<Agent> inTurn) {
    agents = List.copyOf(inTurn);
    thread.start();
  }

  private void run() {
    try {
      while (!stopped) {
        woken = false;
        if (round() == 0 && !woken && !stopped) {
          LockSupport.parkNanos(this, restNanos());
        }
        if (!stopped) {
          boolean unused = Thread.interrupted(); // else it would never rest again
        }
      }
    } finally {
      agents.forEach(this::close);
    }
  }

  /** One step of each agent; returns how much they did. */
  private int round() {
    hasFailed = false;
    int done = 0;
    for (Agent agent : agents) {
      if (stopped) {
        return done;
      }
      try {
        done += agent.doWork();
      } catch (RuntimeException | Error e) { // must not end the others
        hasFailed = true;
        report(agent, e);
      }
    }
    return hasFailed ? 0 : done;
  }

  private long restNanos() {
    long rest = Long.MAX_VALUE;
    for (Agent agent : agents) {
      rest = Math.min(rest, agent.idleNanos());
    }
    return hasFailed ? Math.max(rest, REST_AFTER_FAILURE_NANOS) : Math.max(1, rest);
  }

  private void report(Agent agent, Throwable e) {
    boolean isExpected = e instanceof GameQueueException; // a server is away: no trace is needed
    complaints.about(
        agent.name() + " " + e.getClass().getName(),
        isExpected ? LOG::warn : text -> LOG.warn(text, e),
        () -> "cannot " + agent.name() + ": " + (isExpected ? e.getMessage() : e));
  }

  private void close(Agent agent) {
    try {
      agent.close();
    } catch (RuntimeException | Error e) { // must not keep the others open
      report(agent, e);
    }
  }

  /** Ends a rest: there may be something to do. */
  public void wake() {
    woken = true;
    LockSupport.unpark(thread);
  }

  /** Takes no further step; waits at most 5 s for the one at hand, then interrupts it. */
  @Override
  public void close() {
    stop();
    if (Thread.currentThread().equals(thread)) {
      return;
    }
    try {
      join(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread.interrupt();
  }

  /** Takes no further step after the one at hand. */
  public void stop() {
    stopped = true;
    LockSupport.unpark(thread);
  }

  /** Whether its thread runs. */
  public boolean isAlive() {
    return thread.isAlive();
  }

  /** Waits until its agents are closed, for as long as is left until {@code deadlineNanos}. */
  public void join(long deadlineNanos) throws InterruptedException {
    thread.join(Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000));
  }

  /** Takes no further step, interrupts the one at hand and does not wait for its end. */
  public void closeNow() {
    stopped = true;
    thread.interrupt();
  }

  /**
   * Background work that is done in steps. Used by one thread: that of its {@link AgentRunner}, or
   * a test that takes the steps itself.
   */
  public interface Agent {
    /** What it does, as the log says it after "cannot": "follow the term". */
    String name();

    /**
     * Does one step of what there is to do now; returns how much it did, 0 for nothing. Waits for
     * more only in a queue that several agents take from, and less than a second. What it throws is
     * logged, and the next step is taken all the same.
     */
    int doWork();

    /** How long to rest after a step that did nothing, unless the runner is woken. */
    long idleNanos();

    /** Finishes and gives up what it holds; called once, after the last step. */
    default void close() {}
  }

  /**
   * Makes every thread of gameq: daemons, so that they do not keep a process alive, with a name,
   * and with a line in the log when one ends by an error. Stateless.
   */
  public static final class DaemonThreads {

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
}
