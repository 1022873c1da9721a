package io.gameq.node;

import io.gameq.Limits;
import io.gameq.QueueFullException;
import io.gameq.backlog.NodePressure;
import io.gameq.change.CommitPart;
import io.gameq.durability.Callbacks;
import io.gameq.durability.DurableTracker;
import java.util.List;

/**
 * Waits until a commit has room: among all that waits for MySQL, among callbacks that wait, and
 * among its owner's rows that wait for MySQL. Thread-safe.
 */
final class CommitRoom {
  private final Limits limits;
  private final Callbacks callbacks;
  private final SessionClosing flushes;
  private final NodePressure pressure;

  CommitRoom(Limits limits, Callbacks callbacks, SessionClosing flushes, NodePressure pressure) {
    this.limits = limits;
    this.callbacks = callbacks;
    this.flushes = flushes;
    this.pressure = pressure;
  }

  /**
   * Until when a commit waits for room; it has been slowed down by then, if it is to be.
   *
   * @throws io.gameq.PushBackException when it is refused, since too much waits for MySQL
   */
  long deadline(CommitTerms terms) {
    long deadline =
        Math.min(terms.deadlineNanos(), System.nanoTime() + limits.admissionMillis() * 1_000_000);
    if (terms.isPushedBack()) {
      pressure.admit(deadline);
    }
    return deadline;
  }

  /** The same of a commit of messages alone, which waits for nothing that MySQL has to take. */
  long deadline() {
    return System.nanoTime() + limits.admissionMillis() * 1_000_000;
  }

  void awaitCallbacks(long deadline) {
    if (!callbacks.awaitRoom(deadline)) {
      throw new QueueFullException(
          ("%,d callbacks of the game wait, and none ended within %d ms: what hangs on"
                  + " futures of commits takes too long, or blocks")
              .formatted(Callbacks.MOST_WAITING, limits.admissionMillis()));
    }
  }

  /** Has the owner flushed when it has no room: its rows are not to wait for the merge window. */
  void await(DurableTracker tracker, CommitPart part, long deadline) {
    try {
      if (tracker.awaitRoom(
          part.rows(),
          limits.dirtyRowsPerOwner(),
          limits.dirtyBytesPerOwner(),
          System.nanoTime())) {
        return;
      }
      flushes.flushNow(List.of(tracker.session()));
      if (tracker.awaitRoom(
          part.rows(), limits.dirtyRowsPerOwner(), limits.dirtyBytesPerOwner(), deadline)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new QueueFullException(
        ("%s has as many rows, or bytes of them, that wait for MySQL as it may, and found"
                + " no room within %d ms: MySQL or the writers are slow or away, or"
                + " maxDirtyRowsPerOwner (%d) or maxDirtyBytesPerOwner (%d) is too low")
            .formatted(
                part.session().owner(),
                limits.admissionMillis(),
                limits.dirtyRowsPerOwner(),
                limits.dirtyBytesPerOwner()));
  }
}
