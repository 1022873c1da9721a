package io.gameq.node;

import io.gameq.ClosedException;
import io.gameq.GameQueueConfig;
import io.gameq.GameQueueException;
import io.gameq.durability.Callbacks;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Whether a node runs, has died or was closed. Thread-safe. */
final class NodeState {
  private final GameQueueConfig config;
  private final Callbacks callbacks;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Why the node cannot go on; null while it can. */
  private volatile @Nullable Throwable death;

  NodeState(GameQueueConfig config, Callbacks callbacks) {
    this.config = config;
    this.callbacks = callbacks;
  }

  /** Nothing is committed here any more: owners are not to look taken by this node. */
  void died(Throwable cause) {
    death = cause;
    callbacks.execute(() -> config.onFailure().accept(cause));
  }

  boolean isAlive() {
    return death == null;
  }

  void requireAlive() {
    Throwable cause = death;
    if (cause != null) {
      throw new GameQueueException(
          "node %s cannot go on, since its sender died (%s): close it and start it again"
              .formatted(config.node(), cause),
          cause);
    }
  }

  /** Whether the game has closed the node. */
  boolean isClosed() {
    return closed.get();
  }

  /** Throws ClosedException once the game has closed the node. */
  void requireOpen() {
    if (isClosed()) {
      throw new ClosedException("node " + config.node() + " is closed: open a GameQueue anew");
    }
  }

  /** True for the first caller only. */
  boolean close() {
    return !closed.getAndSet(true);
  }
}
