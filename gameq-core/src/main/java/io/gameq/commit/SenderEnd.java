package io.gameq.commit;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether a sender is to end or has ended, and what it died of. Thread-safe. */
final class SenderEnd {
  private static final Logger LOG = LoggerFactory.getLogger(SenderEnd.class);

  private final Path wal;
  private final Consumer<Throwable> tell;
  private volatile boolean stopping;
  private volatile boolean abandoned;
  private volatile boolean ended;
  private volatile @Nullable Throwable death;

  /**
   * Of a sender that goes on.
   *
   * @param wal named when it dies
   * @param tell is told what it died of
   */
  SenderEnd(Path wal, Consumer<Throwable> tell) {
    this.wal = wal;
    this.tell = tell;
  }

  /** Nothing new is taken; what was taken is still sent. */
  void stop() {
    stopping = true;
  }

  boolean isStopping() {
    return stopping;
  }

  /** Nothing is sent any more. */
  void abandon() {
    abandoned = true;
  }

  boolean isAbandoned() {
    return abandoned;
  }

  /** It met an error that nothing helps against. */
  void died(Throwable cause) {
    death = cause;
    tell.accept(cause);
    LOG.error(
        "the sender of this node died: it takes no further commit, and WAL {} is needed for"
            + " recovery",
        wal,
        cause);
  }

  /** What it died of; null when it did not. */
  @Nullable Throwable death() {
    return death;
  }

  /** Its thread does nothing any more. */
  void ended() {
    ended = true;
  }

  boolean hasEnded() {
    return ended;
  }

  /** Why nothing is taken. */
  GameQueueException whyNot() {
    Throwable cause = death;
    return cause == null
        ? new ClosedException("the queue is closed: open a GameQueue anew")
        : new GameQueueException(
            ("the sender of this node died (%s): close the node and start it again; what"
                    + " it had is in WAL %s")
                .formatted(cause, wal),
            cause);
  }
}
