package io.gameq.topic;

import io.gameq.commit.CommitSender;
import io.gameq.commit.MessageCommits;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * What topics use of their node. Thread-safe.
 *
 * @param name of the node, for operators
 * @param slots all of the namespace
 * @param commits take messages to Redis
 * @param sender says where this node has healed
 * @param commitMessages that a commit may hold
 * @param asking for what threads of the game ask
 * @param topicIsMissing to be told when Redis has lost a topic
 * @param callTimeout for what the game waits for
 * @param callbacks runs what the game hangs on futures
 */
public record TopicNode(
    String namespace,
    String name,
    SlotKeys[] slots,
    RedisConnector connector,
    MessageCommits commits,
    CommitSender sender,
    RedisClock clock,
    int commitMessages,
    Asking asking,
    Runnable topicIsMissing,
    Duration callTimeout,
    Executor callbacks) {
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
}
