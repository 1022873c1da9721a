package io.gameq.topic;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.config.GameQueueConfigBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BinaryOperator;

/**
 * Work for later, or for whichever node has time: messages of one kind, each with a key and a
 * payload. From {@link GameQueue#topic}. Thread-safe.
 *
 * <p>A message is pending until it is due, held while a handler has it, and gone once it was
 * acknowledged. Of each key at most one message is pending: a later one replaces its payload. A key
 * is never handled by two at a time; one that arrives meanwhile is handled afterwards. Messages of
 * one group are handled one after another, by due time.
 *
 * <p>Each message is handled at least once: again when its handler fails, and when its lease runs
 * out. Rows that a handler commits by {@link Delivery#ackWith} are changed exactly once.
 *
 * <p>Pending messages live in Redis, and for {@link GameQueueConfigBuilder#messageKeep} in the WAL
 * of the node that published them, from which a healing puts back what Redis lost.
 *
 * <p>What operators do with a topic is in {@link TopicAdmin}.
 *
 * @param <T> the payload: a record, or bytes
 */
public interface Topic<T> extends TopicAdmin<T> {
  /** The topic's name. */
  String name();

  /** What it was opened with; the same on all nodes. */
  TopicOptions options();

  /**
   * Publishes a message that is due at once, or after the topic's {@link TopicOptions#window}.
   * Returns at once. In a handler it happens again with each attempt: see {@link Delivery#ackWith}.
   *
   * @return {@code durable} ends as {@code queued} does: messages do not go to MySQL
   * @throws QueueFullException when too much waits for Redis; nothing was published
   * @throws RedisUnavailableException when Redis is away and the policy is not to wait; nothing was
   *     published
   * @throws GameQueueException when the key is empty or too long, or the payload too large; nothing
   *     was published
   */
  default CommitReceipt publish(String key, T payload) {
    return publish(Publish.of(key, payload));
  }

  /** Publishes a message as it says; throws as {@link #publish(String, Object)}. */
  default CommitReceipt publish(Publish<T> message) {
    return publish(List.of(message));
  }

  /**
   * Publishes all or none, in one commit; of several with one key the last one counts. Throws as
   * {@link #publish(String, Object)}, and when there are more than a commit may hold ({@link
   * GameQueueConfigBuilder#maxCommit}).
   */
  CommitReceipt publish(List<Publish<T>> messages);

  /**
   * Publishes a message whose payload is combined with that of the pending one, if there is one:
   * {@code combine} gets the pending payload and the new one, and is called again when another
   * publisher was faster. Waits until Redis has it, at most {@link
   * GameQueueConfigBuilder#callTimeout}.
   *
   * @param combine must do nothing else
   * @throws RedisUnavailableException when Redis does not answer; the message may be published
   * @throws GameQueueException as {@link #publish(String, Object)}, or when others changed it each
   *     time until the time was up: nothing was published then
   */
  void merge(Publish<T> message, BinaryOperator<T> combine);

  /**
   * Publishes a message unless one of its key is pending or held: so each node may publish at its
   * start what recurs for all. Waits until Redis has it, at most {@link
   * GameQueueConfigBuilder#callTimeout}.
   *
   * @return whether it was published
   * @throws RedisUnavailableException when Redis does not answer; the message may be published
   * @throws GameQueueException as {@link #publish(String, Object)}
   */
  boolean publishIfAbsent(Publish<T> message);

  /**
   * The pending message of a key without a group; else the one that is held, else its dead letter.
   * Asks Redis, for at most {@link GameQueueConfigBuilder#callTimeout}.
   *
   * @throws RedisUnavailableException when Redis does not answer
   */
  Optional<Message<T>> get(String key);

  /** The message of a key in a group; see {@link #get(String)}. */
  Optional<Message<T>> get(String group, String key);

  /**
   * Deletes the pending message of a key without a group; one that is being handled is finished,
   * and does not recur. Returns at once; no message is no error. Throws as {@link #publish(String,
   * Object)}.
   */
  CommitReceipt delete(String key);

  /** Deletes the pending message of a key in a group; see {@link #delete(String)}. */
  CommitReceipt delete(String group, String key);

  /**
   * Gives the pending message of a key without a group another due time, earlier or later. Returns
   * at once; without a pending message nothing happens. Throws as {@link #publish(String, Object)}.
   */
  CommitReceipt retime(String key, Instant due);

  /** Gives a message another due time, from now on by the clock of Redis. */
  CommitReceipt retime(String key, Duration fromNow);

  /** Gives the pending message of a key in a group another due time; see {@link #retime}. */
  CommitReceipt retime(String group, String key, Instant due);

  /** Gives a message of a group another due time, from now on by the clock of Redis. */
  CommitReceipt retime(String group, String key, Duration fromNow);

  /**
   * Has this node handle messages, with {@link SubscribeOptions#DEFAULT}; on several nodes they
   * share the messages.
   *
   * @return to be closed by the game, or with the node
   * @throws GameQueueException when the node has as many subscriptions as it may (64)
   */
  default Subscription subscribe(MessageHandler<T> handler) {
    return subscribe(handler, SubscribeOptions.DEFAULT);
  }

  /** Has this node handle messages; see {@link #subscribe(MessageHandler)}. */
  default Subscription subscribe(MessageHandler<T> handler, SubscribeOptions options) {
    return subscribeBatch(
        deliveries -> handler.handle(deliveries.get(0)),
        new SubscribeOptions(options.concurrency(), 1, options.perSecond()));
  }

  /** Has this node handle messages several at a time; see {@link #subscribe(MessageHandler)}. */
  Subscription subscribeBatch(BatchHandler<T> handler, SubscribeOptions options);

  /**
   * Has this node handle messages of owners that nobody handles, in a topic {@linkplain
   * TopicOptions#ofOwners of owners}: with {@link SubscribeOptions#DEFAULT}.
   */
  default Subscription subscribeOwners(OwnerHandler<T> handler) {
    return subscribeOwners(handler, SubscribeOptions.DEFAULT);
  }

  /**
   * The same. For each message it opens the owner, unless a live node has it ({@link
   * io.gameq.config.Takeover#UNLESS_ALIVE}), has the handler run, commits and closes the session. A
   * node that opens the owner meanwhile takes it over as from any other node, and the message is
   * handled again. Where a live node has the owner and does not handle the topic, it is looked at
   * again every 5 s or so.
   *
   * @param options of which the batch does not count
   * @throws GameQueueException when the topic is not of owners, or the node has as many
   *     subscriptions as it may (64)
   */
  Subscription subscribeOwners(OwnerHandler<T> handler, SubscribeOptions options);

  /** Takes messages by hand, without a subscription; costs nothing until it is used. */
  Claims<T> claims();
}
