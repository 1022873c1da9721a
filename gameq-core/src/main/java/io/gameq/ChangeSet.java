package io.gameq;

import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Changes of one or several owners that are committed as one or not at all: what {@link
 * GameQueue#transact} gives the game's code to stage changes in.
 *
 * <p>It belongs to that code while that runs, on that thread: afterwards every call throws {@link
 * ClosedException}. Once a change was refused the whole set is discarded, even if the code catches
 * the exception. A change of a row that is {@linkplain OwnerSession#put staged in its session} is
 * refused: which of the two counts would depend on when that one is committed.
 *
 * <p>Each method throws {@link RowRefusedException} when the row does not fit its table, is too
 * large, or belongs to an owner of whom no session is in the set, and {@link GameQueueException}
 * when the set has as many rows and messages, or bytes, as one commit takes ({@link
 * GameQueueConfigBuilder#maxCommit}).
 */
public interface ChangeSet {
  /** Stages a full row, in the session of the owner that its owner column names. */
  <T extends Record> void put(T row);

  /** The same by column names; a column left out takes its default. */
  void put(String table, Map<String, ?> columns);

  /**
   * Stages new values of some columns of a row, those that the record has; see {@link
   * OwnerSession#update(Record)}. Where the set is of several owners, the owner column among them.
   */
  <T extends Record> void update(T row);

  /** The same by column names. */
  void update(String table, Map<String, ?> columns);

  /**
   * Stages a delete, in the session of the owner that the primary key names. Where it names none,
   * the set must be of one session.
   *
   * @param key the parts of the primary key in their order
   */
  void delete(Class<? extends Record> type, Object... key);

  /** The same by the name of the table. */
  void delete(String table, Object... key);

  /** Stages a delete of a row of this session's owner, which is one of the set's. */
  void delete(OwnerSession of, Class<? extends Record> type, Object... key);

  /** The same by the name of the table. */
  void delete(OwnerSession of, String table, Object... key);

  /**
   * Stages a move: the row keeps its primary key and its children, and is its new owner's from then
   * on. Both owners' sessions are in the set.
   *
   * @param row its new image, whose owner column names the new owner
   * @param from the session of the owner who has it
   */
  <T extends Record> void move(T row, OwnerSession from);

  /** The same by column names. */
  void move(String table, Map<String, ?> columns, OwnerSession from);

  /** Stages a message, which is published together with the rows: both or neither. */
  default <T> void publish(Topic<T> topic, String key, T payload) {
    publish(topic, Publish.of(key, payload));
  }

  /** Stages a message; see {@link #publish(Topic, String, Object)}. */
  <T> void publish(Topic<T> topic, Publish<T> message);

  /**
   * Stages the delete of a pending message, as {@link Topic#delete(String)}, together with the
   * rows: both or neither. Of several changes of one message the last one counts.
   *
   * @param topic of the same node
   * @param group null for none
   */
  void delete(Topic<?> topic, @Nullable String group, String key);

  /** The same of a key without a group. */
  default void delete(Topic<?> topic, String key) {
    delete(topic, null, key);
  }

  /**
   * Stages another due time of a pending message, as {@link Topic#retime(String, Instant)},
   * together with the rows: both or neither.
   *
   * @param group null for none
   */
  void retime(Topic<?> topic, @Nullable String group, String key, Instant due);

  /** The same from now on, by the clock of Redis. */
  void retime(Topic<?> topic, @Nullable String group, String key, Duration fromNow);

  /**
   * Stages a row for an owner that is none of the set's, whoever has it: it is sent together with
   * the other changes, both or neither; see {@link GameQueue#send}.
   */
  <T extends Record> void send(String owner, T row);

  /** The same by column names. */
  void send(String owner, String table, Map<String, ?> columns);

  /** Has the set committed with {@link Urgency#URGENT}. */
  void urgent();
}
