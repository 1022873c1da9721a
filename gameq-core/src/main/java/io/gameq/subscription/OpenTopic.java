package io.gameq.subscription;

import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.commit.CommitSender;
import io.gameq.commit.MessageCommits;
import io.gameq.config.GameQueueConfig;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.records.PackedType;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.topic.ConsumerScripts;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.topic.TopicOptions;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A topic that is open on a node: what publishing, subscriptions and claims have in common.
 * Thread-safe.
 *
 * @param options what it was opened with
 * @param scripts for its consumers
 */
public record OpenTopic<T>(
    Node node,
    TopicDefinition definition,
    TopicOptions options,
    Payloads<T> payloads,
    ConsumerScripts scripts) {

  /**
   * What topics use of their node. Thread-safe.
   *
   * @param slots all of the namespace
   * @param commits take messages to Redis
   * @param sender says where this node has healed
   * @param asking for what threads of the game ask
   * @param topicIsMissing to be told when Redis has lost a topic
   * @param callbacks runs what the game hangs on futures
   * @param process of this start of the node, 8 hex digits
   * @param opener opens an owner that no live node has; throws as {@link
   *     io.gameq.GameQueue#open(String, io.gameq.config.Takeover)}
   */
  public record Node(
      GameQueueConfig config,
      SlotKeys[] slots,
      RedisConnector connector,
      MessageCommits commits,
      CommitSender sender,
      RedisClock clock,
      ServerCalls asking,
      Runnable topicIsMissing,
      Executor callbacks,
      String process,
      Function<String, OwnerSession> opener) {}

  /** Asks servers for a thread of the game, for at most the time of a call. */
  public interface ServerCalls {
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

  static <T> OpenTopic<T> of(
      Node node, TopicDefinition definition, TopicOptions options, Payloads<T> payloads) {
    return new OpenTopic<>(
        node,
        definition,
        options,
        payloads,
        new ConsumerScripts(
            definition, node.slots(), node.config().node(), node.clock()::latestMillis));
  }

  String name() {
    return definition.topic();
  }

  /** Asks Redis for a thread of the game: see {@link ServerCalls}. */
  <A> A ask(String what, Function<RedisConnection, A> question) {
    return node.asking().ask(what, question);
  }

  /**
   * Turns what the game publishes into bytes and back. Thread-safe.
   *
   * @param encode throws GameQueueException when a payload holds what cannot be encoded
   * @param decode throws GameQueueException when the bytes are not those of such a payload
   */
  public record Payloads<T>(Function<T, byte[]> encode, Function<byte[], T> decode) {
    /** Bytes as they are: neither copied by a publish nor by a delivery. */
    public static final Payloads<byte[]> BYTES = new Payloads<>(bytes -> bytes, bytes -> bytes);

    /**
     * Records as MessagePack maps, by the names of their components. Throws GameQueueException when
     * a component has a type that cannot be encoded.
     */
    public static <T extends Record> Payloads<T> ofRecord(Class<T> type) {
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
