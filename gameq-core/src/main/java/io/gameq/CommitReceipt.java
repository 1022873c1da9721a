package io.gameq;

import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.WhenRedisIsAway;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * What {@code commit} returns at once: the futures of one commit. Thread-safe.
 *
 * <p>Futures complete one after another on the executor that {@link
 * GameQueueConfigBuilder#callbacks} names: a continuation that takes long holds up those after it,
 * and nothing of gameq itself. What is hung on a future that has ended already runs at once, on the
 * thread that hangs it on. The methods that wait do not wait for continuations.
 */
public interface CommitReceipt {
  /**
   * Completes when the WAL of this node has the commit: it survives the death of this process, and
   * is sent when Redis is back should it be away ({@link WhenRedisIsAway#JOURNAL}). No other node
   * sees it yet, and it still fails when another node has taken the owner over meanwhile. Fails
   * when the commit never got into the WAL.
   */
  CompletableFuture<Void> journaled();

  /**
   * Completes when Redis has the commit. Fails with {@link OwnershipLostException}, {@link
   * RedisFullException}, {@link CommitFailedException} or {@link WalException} when it is certain
   * that Redis does not have it, and with {@link CommitUnknownException} when nobody can know.
   */
  CompletableFuture<Void> queued();

  /**
   * Completes when MySQL has the commit (or a newer version of its rows); fails as {@link #queued}
   * does, with {@link DeadLetterException} when MySQL refused rows of it, and with {@link
   * ConflictException} when a Redis failover lost rows of it for good. When the node is closed
   * before that is known, it fails with a {@link GameQueueException}: its outcome is open then.
   */
  CompletableFuture<Void> durable();

  /**
   * Waits until Redis has the commit; while Redis is away and commits are journaled, until it is
   * back.
   *
   * @param timeout how long to wait at most
   * @throws CommitPendingException when the time was up, or the thread was interrupted
   * @throws GameQueueException what {@link #queued} failed with
   */
  void awaitQueued(Duration timeout);

  /**
   * Waits until MySQL has the commit; it is flushed at the end of the merge window, so wait for
   * longer than that, or have it flushed now by {@link OwnerSession#awaitDurable}.
   *
   * @param timeout how long to wait at most
   * @throws CommitPendingException when the time was up, or the thread was interrupted
   * @throws GameQueueException what {@link #durable} failed with
   */
  void awaitDurable(Duration timeout);
}
