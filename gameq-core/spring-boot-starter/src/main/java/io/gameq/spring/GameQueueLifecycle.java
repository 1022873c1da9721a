package io.gameq.spring;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.Duty;
import io.gameq.config.GameQueueConfig;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Opens the queue when the context starts, before web servers and other beans of a later phase;
 * when it stops, after them, waits until everything is in MySQL, and closes it. Thread-safe.
 */
final class GameQueueLifecycle implements SmartLifecycle {
  /** Web servers start at about Integer.MAX_VALUE, and stop before what has a lower phase. */
  static final int PHASE = 0;

  private static final Logger LOG = LoggerFactory.getLogger(GameQueueLifecycle.class);

  private final Supplier<GameQueueConfig> settings;
  private final Patience patience;
  private final QueueOfContext queue;
  private final List<GameQueueListener> listeners;
  private @Nullable AgentRunner retry;
  private volatile boolean running;

  /**
   * What it waits for.
   *
   * @param failFast whether a queue that cannot be opened fails the start; else it is tried again
   * @param drain at most, when it stops
   */
  record Patience(boolean failFast, Duration retryEvery, Duration drain) {}

  GameQueueLifecycle(
      Supplier<GameQueueConfig> settings,
      Patience patience,
      QueueOfContext queue,
      List<GameQueueListener> listeners) {
    this.settings = settings;
    this.patience = patience;
    this.queue = queue;
    this.listeners = listeners;
  }

  @Override
  public synchronized void start() {
    if (running) {
      return;
    }
    GameQueueConfig config = settings.get(); // what is wrong with it does not mend itself
    running = true;
    if (patience.failFast()) {
      try {
        open(config);
      } catch (RuntimeException | Error e) {
        running = false;
        throw e;
      }
    } else {
      retry = new AgentRunner("gameq-open");
      retry.start(
          Duty.every(
              Duration.ZERO,
              patience.retryEvery()::toNanos,
              "open the queue",
              () -> openUnlessOpen(config)));
    }
  }

  private void open(GameQueueConfig config) {
    GameQueue opened = GameQueue.open(config);
    queue.opened(opened);
    try {
      listeners.forEach(listener -> listener.opened(opened));
    } catch (RuntimeException | Error e) {
      queue.take();
      opened.close();
      throw e;
    }
  }

  /** What it throws is logged by the runner, not each time. */
  private void openUnlessOpen(GameQueueConfig config) {
    if (queue.now() == null) {
      open(config);
      if (!running) {
        drainAndClose(); // the context had no patience left
      }
    }
  }

  @Override
  public synchronized void stop() {
    running = false;
    if (retry != null) {
      retry.close(); // waits some seconds for an attempt that is under way
      retry = null;
    }
    drainAndClose();
  }

  private void drainAndClose() {
    GameQueue closing = queue.take();
    if (closing == null) {
      return;
    }
    try {
      GameQueue.Stopped left = closing.stop(patience.drain());
      if (!left.notDurable().isEmpty()) {
        LOG.warn(
            "{} rows are not known to be in MySQL after {} s: they are in the WAL, which is kept",
            left.notDurable().size(),
            patience.drain().toSeconds());
      }
    } catch (GameQueueException e) {
      LOG.warn("the queue did not end well: {}", e.getMessage());
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
