package io.gameq.topic;

import io.gameq.ClosedException;
import io.gameq.Subscription;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A node's share in handling a topic's messages. Thread-safe. */
final class RunningSubscription implements Subscription {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Parts parts;
  private final Duration closeTimeout;
  private final Runnable closed;
  private boolean isClosing;

  /** What it consists of. */
  record Parts(
      AgentRunner runner,
      TakingWay way,
      Workers workers,
      Outcomes outcomes,
      SubscriptionCounts counts) {}

  /** With {@code closed} to be told once it is. */
  RunningSubscription(Parts parts, Duration closeTimeout, Runnable closed) {
    this.parts = parts;
    this.closeTimeout = closeTimeout;
    this.closed = closed;
  }

  @Override
  public synchronized void pause() {
    requireOpen();
    parts.way().pause(true);
  }

  @Override
  public synchronized void resume() {
    requireOpen();
    parts.way().pause(false);
    parts.runner().wake();
  }

  private void requireOpen() {
    if (isClosing) {
      throw new ClosedException("the subscription is closed: subscribe anew");
    }
  }

  @Override
  public Counts counts() {
    return parts.counts().now();
  }

  @Override
  public void close() {
    boolean unused = close(closeTimeout);
  }

  @Override
  public boolean close(Duration timeout) {
    synchronized (this) {
      if (isClosing) {
        return !isBusy();
      }
      isClosing = true;
    }
    parts.way().pause(true);
    if (parts.workers().isHandler()) { // it cannot wait for its own end
      DaemonThreads.named("gameq-close", () -> end(timeout)).start();
      return false;
    }
    return end(timeout);
  }

  private boolean end(Duration timeout) {
    boolean ended = awaitEnd(System.nanoTime() + timeout.toNanos());
    if (ended) {
      parts.workers().close();
    } else {
      parts.workers().interrupt();
    }
    parts.runner().close();
    closed.run();
    return ended;
  }

  private boolean isBusy() {
    return parts.way().isTaking() || parts.workers().busy() > 0 || parts.outcomes().open() > 0;
  }

  private boolean awaitEnd(long deadlineNanos) {
    while (isBusy()) {
      if (deadlineNanos - System.nanoTime() <= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      parts.runner().wake();
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
    return true;
  }
}
