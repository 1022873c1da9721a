package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.MySqlUnavailableException;
import io.gameq.RedisUnavailableException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What operators do with a topic: they look at its messages, settle dead letters, and pause or slow
 * its consumers. Thread-safe.
 *
 * @param <T> the payload: a record, or bytes
 */
public interface TopicAdmin<T> {
  /** How many messages a {@link Page} has at most. */
  int PAGE = 100;

  /**
   * The first page of the messages in one state: of one slot of the topic after another, each by
   * due time, of a group the next one alone. A look for operators: what changes meanwhile may be
   * missing or appear twice.
   *
   * @throws RedisUnavailableException when Redis does not answer
   */
  default Page<T> list(Message.State state) {
    return list(state, null);
  }

  /**
   * A page of the messages in one state; see {@link #list(Message.State)}.
   *
   * @param from what the page before gave as {@link Page#next}; null for the first
   */
  Page<T> list(Message.State state, @Nullable String from);

  /**
   * How many messages are in each state; costs the same however many there are.
   *
   * @throws RedisUnavailableException when Redis does not answer
   */
  Counts counts();

  /**
   * Makes a dead letter pending again, due at once and with all its attempts.
   *
   * @return false when it is none any more, or a newer message of its key is pending or held:
   *     nothing was changed then
   * @throws RedisUnavailableException when Redis does not answer; it may be pending
   */
  boolean retryDead(Message<T> dead);

  /** Makes a dead letter pending again, with another payload; see {@link #retryDead(Message)}. */
  boolean retryDead(Message<T> dead, T payload);

  /**
   * Removes a dead letter.
   *
   * @return false when it is none any more
   * @throws RedisUnavailableException when Redis does not answer
   */
  boolean discardDead(Message<T> dead);

  /**
   * Has no node take messages of this topic, within a second or so; publishing goes on. Kept in
   * MySQL until {@link #resume}.
   *
   * @param reason shown to operators, at most 255 characters
   * @throws GameQueueException when the reason is longer
   * @throws MySqlUnavailableException when MySQL does not answer; it may be paused then
   * @throws RedisUnavailableException when Redis does not answer; it may be paused then
   */
  void pause(String reason);

  /** Ends {@link #pause}; throws as it does. */
  void resume();

  /**
   * Has all nodes together take at most so many messages a second, from within a second or so on;
   * after a rest a tenth of a second's messages at once, one at least. Kept in MySQL until it is
   * changed. {@link SubscribeOptions#rate} is for one node.
   *
   * @param perSecond one an hour to 1,000,000 a second; 0 for no limit
   * @param reason shown to operators, at most 255 characters
   * @throws GameQueueException when the rate is out of range, or the reason longer
   * @throws MySqlUnavailableException when MySQL does not answer; it may be set then
   * @throws RedisUnavailableException when Redis does not answer; it may be set then
   */
  void rate(double perSecond, String reason);

  /**
   * How many messages there are. Immutable.
   *
   * @param pending those that are due included, and grouped ones by message
   * @param due of these, keys and groups that are due now
   * @param held by handlers
   * @param dead letters
   */
  record Counts(long pending, long due, long held, long dead) {}

  /**
   * Some messages. Immutable.
   *
   * @param messages at most {@link #PAGE}
   * @param next where the next page begins; null when this is the last one
   */
  record Page<T>(List<Message<T>> messages, @Nullable String next) {
    /** Copies the list. */
    public Page {
      messages = List.copyOf(messages);
    }
  }
}
