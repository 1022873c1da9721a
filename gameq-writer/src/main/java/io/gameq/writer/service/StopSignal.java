package io.gameq.writer.service;

import io.gameq.agent.DaemonThreads;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * SIGTERM or SIGINT, which a process obeys at the pace of its service: the JVM ends when the
 * service has stopped and a second later at the latest, since a pool of connections to a server
 * that hangs takes long to close. A service that has not started yet has nothing to finish.
 * Thread-safe.
 */
final class StopSignal {
  private static final long MOST_CLOSE_MILLIS = 1_000;

  private final CountDownLatch told = new CountDownLatch(1);
  private final CountDownLatch drained = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean running;

  /** One that waits for the signal from now on. */
  static StopSignal hooked() {
    StopSignal signal = new StopSignal();
    Runtime.getRuntime().addShutdownHook(DaemonThreads.named("gameq-stop", signal::obey));
    return signal;
  }

  private void obey() {
    told.countDown();
    try {
      if (!isClosedSoon() && running) {
        drained.await();
        boolean unused = isClosedSoon();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isClosedSoon() throws InterruptedException {
    return closed.await(MOST_CLOSE_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** The service claims rows from now on. */
  void running() {
    running = true;
  }

  /** Opened when it came. */
  CountDownLatch told() {
    return told;
  }

  /** The service has stopped: nothing is left to wait for but connections. */
  void drained() {
    drained.countDown();
  }

  /** Everything is closed. */
  void closed() {
    drained.countDown();
    closed.countDown();
  }
}
