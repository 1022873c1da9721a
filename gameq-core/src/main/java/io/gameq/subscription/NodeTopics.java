package io.gameq.subscription;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.commit.CommitSender;
import io.gameq.commit.MessageCommits;
import io.gameq.config.GameQueueConfig;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.records.PackedType;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.subscription.TopicClaims.ClaimPoller;
import io.gameq.topic.BatchHandler;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

/** The topics of a node, and its subscriptions to them. Thread-safe. */
public final class NodeTopics {
  /** Each has a connection, and a thread beside those of its handlers. */
  private static final int MOST_SUBSCRIPTIONS = 64;

  final Node node;
  private final List<Subscription> subscriptions = new ArrayList<>();
  private final Map<TopicDefinition, ClaimPoller> takings = new HashMap<>();
  private boolean isClosed;

  /**
   * What topics use of their node. Thread-safe.
   *
   * @param slots all of the namespace
   * @param commits take messages to Redis
   * @param sender says where this node has healed
   * @param asking for what threads of the game ask
   * @param topicIsMissing to be told when Redis has lost a topic
   * @param callbacks runs what the game hangs on futures
   */
  public record Node(
      GameQueueConfig config,
      SlotKeys[] slots,
      RedisConnector connector,
      MessageCommits commits,
      CommitSender sender,
      RedisClock clock,
      Asking asking,
      Runnable topicIsMissing,
      Executor callbacks) {}

  /** Asks servers for a thread of the game, for at most the time of a call. */
  public interface Asking {
    /**
     * What Redis answers.
     *
     * @param what begins the message when it does not
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    <T> T ask(String what, Function<RedisConnection, T> question);

    /**
     * The same of what MySQL knows of topics, and of Redis.
     *
     * @param nanos that the caller waits at most
     * @throws io.gameq.MySqlUnavailableException when MySQL does not answer
     * @throws io.gameq.RedisUnavailableException when Redis does not
     */
    <T> T ask(String what, long nanos, BiFunction<TopicTable, RedisConnection, T> question);
  }

  public NodeTopics(Node node) {
    this.node = node;
  }

  /** As {@link io.gameq.GameQueue#topic(String, TopicOptions)}. */
  public Topic<byte[]> open(String name, TopicOptions options) {
    return open(name, options, Payloads.BYTES);
  }

  /** As {@link io.gameq.GameQueue#topic(String, Class, TopicOptions)}. */
  public <T extends Record> Topic<T> open(String name, Class<T> payload, TopicOptions options) {
    return open(name, options, Payloads.ofRecord(payload));
  }

  private <T> Topic<T> open(String name, TopicOptions options, Payloads<T> payloads) {
    MessageId.checkTopic(name);
    TopicDefinition definition = TopicDefinition.of(name, options, node.slots().length);
    DefinedTopic kept =
        change("the definition of topic '" + name + "'", topics -> topics.define(definition));
    return new OpenTopic<>(this, kept.definition(), options, payloads);
  }

  /** As {@link io.gameq.GameQueue#definedTopic}. */
  public Optional<Topic<byte[]>> defined(String name) {
    MessageId.checkTopic(name);
    String what = "the definition of topic '" + name + "'";
    long deadline = System.nanoTime() + node.config().callTimeout().toNanos();
    Optional<DefinedTopic> found =
        node.asking()
            .ask(
                what,
                redis ->
                    Optional.ofNullable(DefinedTopic.find(redis, node.config().namespace(), name)));
    if (found.isEmpty()) { // nobody has defined it, or Redis lost it
      long left = Math.max(0, deadline - System.nanoTime());
      found =
          node.asking().ask(what, left, (topics, redis) -> Optional.ofNullable(topics.find(name)));
    }
    return found
        .map(DefinedTopic::definition)
        .map(of -> new OpenTopic<>(this, of, of.options(), Payloads.BYTES));
  }

  /** Changes a topic in MySQL, then puts it into Redis. */
  DefinedTopic change(String what, Function<TopicTable, DefinedTopic> change) {
    return node.asking()
        .ask(
            what,
            node.config().callTimeout().toNanos(),
            (topics, redis) -> {
              DefinedTopic of = change.apply(topics);
              DefinedTopic.put(redis, node.config().namespace(), List.of(of));
              return of;
            });
  }

  /** As {@link Topic#subscribeBatch}. */
  synchronized <T> Subscription subscribe(
      OpenTopic<T> topic, BatchHandler<T> handler, SubscribeOptions with) {
    requireRoom();
    TopicSubscription<T> subscription = new TopicSubscription<>(topic, handler, with, this::closed);
    subscription.start();
    subscriptions.add(subscription);
    return subscription;
  }

  private void requireRoom() {
    if (isClosed) {
      throw new ClosedException("the node is closed: nothing is handled any more");
    }
    if (subscriptions.size() + takings.size() >= MOST_SUBSCRIPTIONS) {
      throw new GameQueueException(
          ("a node has at most %s subscriptions, topics whose messages it takes by claims"
                  + " counted: close one first")
              .formatted(MOST_SUBSCRIPTIONS));
    }
  }

  /** What takes messages of a topic by claims; one for each topic, until the node is closed. */
  synchronized ClaimPoller claimPoller(OpenTopic<?> topic) {
    ClaimPoller known = takings.get(topic.definition);
    if (known == null) {
      requireRoom();
      known = new ClaimPoller(topic);
      known.start();
      takings.put(topic.definition, known);
    }
    return known;
  }

  private static void pause(Subscription of) {
    try {
      of.pause();
    } catch (ClosedException e) {
      // its own close goes on, and is waited for below
    }
  }

  private synchronized void closed(Subscription of) {
    subscriptions.remove(of);
  }

  /**
   * Closes all subscriptions, at the same time; for whoever closes the node, before its sender is
   * closed.
   */
  public void close(long deadlineNanos) {
    List<Subscription> all;
    List<ClaimPoller> taking;
    synchronized (this) {
      isClosed = true;
      all = List.copyOf(subscriptions);
      taking = List.copyOf(takings.values());
    }
    taking.forEach(ClaimPoller::stop);
    all.forEach(NodeTopics::pause);
    all.forEach(
        of -> {
          boolean unused =
              of.close(Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime())));
        });
  }

  /**
   * Turns what the game publishes into bytes and back. Thread-safe.
   *
   * @param encode throws GameQueueException when a payload holds what cannot be encoded
   * @param decode throws GameQueueException when the bytes are not those of such a payload
   */
  record Payloads<T>(Function<T, byte[]> encode, Function<byte[], T> decode) {
    /** Bytes as they are: neither copied by a publish nor by a delivery. */
    static final Payloads<byte[]> BYTES = new Payloads<>(bytes -> bytes, bytes -> bytes);

    /**
     * Records as MessagePack maps, by the names of their components. Throws GameQueueException when
     * a component has a type that cannot be encoded.
     */
    static <T extends Record> Payloads<T> ofRecord(Class<T> type) {
      PackedType packed = PackedType.ofRecord(type);
      return new Payloads<>(of -> encode(packed, type, of), of -> decode(packed, type, of));
    }

    private static byte[] encode(PackedType packed, Class<?> type, Record payload) {
      try {
        return packed.encode(payload);
      } catch (IllegalArgumentException e) {
        throw new GameQueueException(
            ("cannot encode a payload of %s: lists and maps hold no null, and what they are"
                    + " declared to")
                .formatted(type.getName()),
            e);
      }
    }

    private static <T> T decode(PackedType packed, Class<T> type, byte[] bytes) {
      try {
        return type.cast(packed.decode(bytes));
      } catch (IllegalArgumentException e) {
        throw new GameQueueException("a payload is not that of a " + type.getName(), e);
      }
    }
  }
}
