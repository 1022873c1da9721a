package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.agent.DaemonThreads;
import io.gameq.durability.DurableTracker;
import io.gameq.redis.script.JournalMarks;
import io.gameq.sign.NodeSign;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes a node: within the time of a call, and what takes longer in the background. */
final class NodeClosing {
  /** What waits for Redis may still be sent, though nobody waits for the close. */
  private static final long LEAST_MILLIS = 10_000;

  private static final Logger LOG = LoggerFactory.getLogger(NodeClosing.class);

  private final GameNode node;

  NodeClosing(GameNode node) {
    this.node = node;
  }

  void close() {
    long deadline = node.calls().deadline();
    node.callbacks().closeSoon();
    CompletableFuture<Void> ended =
        CompletableFuture.runAsync(
            this::end, task -> DaemonThreads.named("gameq-close", task).start());
    try {
      ended.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      LOG.warn(
          "node {} is not closed within {} ms, since Redis or MySQL does not answer; it goes on in"
              + " the background",
          node.config().node(),
          node.calls().timeout().toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new GameQueueException("node %s did not close well".formatted(node.config().node()), e);
    } finally {
      node.callbacks().runLeft(deadline);
    }
  }

  private void end() {
    node.calls().close();
    boolean answered =
        node.sender().close(Math.max(LEAST_MILLIS, node.calls().timeout().toMillis() * 2 / 3));
    if (answered && !node.upkeep().hadConflicts() && node.sessions().isDrained()) {
      if (node.sender().hasRecentMessages()) { // the next start puts back what Redis loses of them
        node.wal().complete(System.currentTimeMillis() + node.config().messageKeep().toMillis());
      } else {
        forgetJournal();
        node.wal().complete();
      }
      node.stateSigns().leave();
    } else {
      LOG.warn(
          "not everything is known to be in MySQL: the WAL {} is kept for recovery",
          node.wal().directory());
      node.upkeep().noteOldest();
      node.stateSigns().endWith(node.figures().sign(NodeSign.CLOSED));
    }
    node.signs().takeBack(node.redis().control());
    node.sessions().all().forEach(DurableTracker::closed);
    node.opened().close();
  }

  /** A WAL that is gone needs no marks. */
  private void forgetJournal() {
    String walId = node.wal().id();
    try {
      node.redis().control().call(redis -> JournalMarks.forget(redis, node.redis().slots(), walId));
    } catch (GameQueueException e) {
      LOG.debug("cannot remove the journal marks of {}: {}", walId, e.getMessage());
    }
  }
}
