package io.gameq.topic;

import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.config.GameQueueConfigBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A topic's messages taken by hand, without a {@link Subscription}: for a loop of one's own, and
 * for whoever hands them on to another process. From {@link Topic#claims}. Thread-safe.
 *
 * <p>A message that was taken is held by a claim, which ends when it is acknowledged, when it
 * failed, or when its lease runs out. Whoever has the claim may end it, on any node. What holds for
 * handlers holds here: at least once, one at a time for each key and group.
 *
 * <p>Futures complete on the executor that {@link GameQueueConfigBuilder#callbacks} names.
 */
public interface Claims<T> {
  /** Most messages of one take, and claims of one call. */
  int MOST = 1_000;

  /**
   * Takes messages that are due; waits for the first one. What is taken is held for the topic's
   * {@link TopicOptions#lease}. While a topic is paused, and for three seconds after a failover,
   * there are none.
   *
   * @param most how many, 1 to {@value #MOST}
   * @param wait for the first one: 0 to an hour
   * @return an empty list when the time was up; fails with {@link RedisUnavailableException} when
   *     Redis could not be asked meanwhile. Cancelled, it takes nothing more; what comes at that
   *     moment is given back, which counts as no attempt
   * @throws QueueFullException when 1,000 wait already
   * @throws GameQueueException when an argument is out of range, the node is closed, or has as many
   *     subscriptions as it may, of which a topic that is taken from so is one (64)
   */
  CompletableFuture<List<Claimed<T>>> take(int most, Duration wait);

  /**
   * Acknowledges messages: they have been handled. It goes into the WAL first, as that of a handler
   * does. Each is acknowledged, or its claim was lost.
   *
   * @return the claims that were lost: those messages were, or will be, handled again; fails as
   *     {@link CommitReceipt#queued} does, and then some may be acknowledged
   * @throws GameQueueException when a text is no claim of this topic, or there are too many:
   *     nothing was changed; or as {@link Topic#publish(String, Object)}
   */
  CompletableFuture<List<String>> acknowledge(List<String> claims);

  /**
   * Has leases end so long from now: 100 ms to a day. Waits for Redis.
   *
   * @return the claims that were lost
   * @throws RedisUnavailableException when Redis does not answer; some may be prolonged
   * @throws GameQueueException when a text is no claim of this topic, or a value out of range
   */
  List<String> extend(List<String> claims, Duration fromNow);

  /**
   * Has messages tried again, or set aside as dead letters where this was their last attempt. Waits
   * for Redis.
   *
   * @param why kept with a dead letter, 500 characters at most
   * @param after until the next attempt, 0 to a year; null for what {@link TopicOptions#retry} says
   * @return the claims that were lost
   * @throws RedisUnavailableException when Redis does not answer; some may have failed
   * @throws GameQueueException when a text is no claim of this topic, or a value out of range
   */
  List<String> fail(List<String> claims, String why, @Nullable Duration after);

  /**
   * Gives messages back, for instance in an {@linkplain GameQueueException#isOutage outage}: they
   * are tried again, and the attempt does not count. Waits for Redis.
   *
   * @param after until the next attempt, 0 to a year; null for what {@link TopicOptions#retry} says
   * @return the claims that were lost
   * @throws RedisUnavailableException when Redis does not answer; some may be given back
   * @throws GameQueueException when a text is no claim of this topic, or a value out of range
   */
  List<String> giveBack(List<String> claims, @Nullable Duration after);
}
