package io.gameq;

import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.Takeover;
import io.gameq.topic.DeadLetter;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The exclusive right of this node to write one owner's rows, from {@link GameQueue#open} to {@link
 * #close}.
 *
 * <p>{@code put}, {@code delete} and {@code move} check a change and stage it; nothing leaves
 * memory before {@link #commit}, which sends all that is staged as one atomic change. Of several
 * changes of one row the last one counts. Once one of them was refused, what is staged may be half
 * of a change: {@link #commit} throws {@link RollbackRequiredException} until {@link #rollback}.
 *
 * <p>Thread-safe, but a commit takes whatever is staged at that moment: let one thread at a time
 * act for an owner.
 *
 * <p>Staged changes are gone when the process dies. Committed ones are in the WAL, and once
 * {@linkplain CommitReceipt#queued queued} in Redis.
 */
public interface OwnerSession extends AutoCloseable {
  /** The owner's id as the game wrote it. */
  String owner();

  /**
   * The owner's rows of one table when the session was opened, merged from Redis and MySQL; later
   * changes are not in them. In no particular order; waits for nobody.
   *
   * @param type a record class that names a managed table, see {@link TableName}
   * @throws GameQueueException when the table had gone from MySQL by then, or after {@link
   *     #forgetLoaded}
   */
  <T extends Record> List<T> rows(Class<T> type);

  /** The same, by column names; throws as {@link #rows(Class)}. */
  List<Row> rows(String table);

  /**
   * The owner's rows of one table as this session knows them: those of {@link #rows(Class)} with
   * what it has committed and staged since, and what others sent. Waits for nobody. Changes that
   * failed, or whose outcome is unknown, are not in them.
   *
   * <p>From the first call on the session keeps the newest image of each row of the table that it
   * changes, as long as the loaded rows, so that nobody pays who does not ask. Make that call
   * before the session's first commit.
   *
   * @param type a record class that names a managed table, see {@link TableName}
   * @throws GameQueueException as {@link #rows(Class)}, or when the session had committed something
   *     before the first call, so that it does not know
   */
  <T extends Record> List<T> current(Class<T> type);

  /** The same, by column names; throws as {@link #current(Class)}. */
  List<Row> current(String table);

  /**
   * Ends, where the game's callbacks run, when the owner was taken over: by another node, or by
   * another open of this one; and when a commit failed, see {@link
   * io.gameq.config.WhenCommitFails}. Told at once; where the notice is lost, after some 5 s, or by
   * the next commit. Whatever is committed from then on fails: drop the owner's state, and close
   * the session. (A takeover that Redis forgets in a failover is told all the same.) Does not end
   * once the session is closed.
   */
  CompletionStage<Void> lost();

  /**
   * Ends, where the game's callbacks run, when somebody {@linkplain GameQueue#open(String,
   * Takeover, java.time.Duration) asks} for the owner: commit what there is, and close the session.
   * Nothing happens to the session if the game does not. Does not end once the session is closed.
   */
  CompletionStage<Void> askedToClose();

  /**
   * The owner's rows that MySQL refused and that no newer version has replaced, when the session
   * was opened, oldest first. What {@link #rows} returns is without them.
   */
  List<DeadLetter> deadLetters();

  /**
   * Frees the rows that were loaded at open, and those kept for {@link #current}, once the game has
   * its own.
   */
  void forgetLoaded();

  /**
   * Stages a full row: it is inserted, or replaces the row of the same primary key.
   *
   * @throws RowRefusedException when the row does not fit its table, is too large, or belongs to
   *     another owner, or when the table had gone when the session was opened; then nothing more is
   *     staged, and this session commits nothing before {@link #rollback}
   */
  <T extends Record> void put(T row);

  /**
   * Stages a full row given by column names; a column left out takes its default. Throws as {@link
   * #put(Record)}.
   */
  void put(String table, Map<String, ?> columns);

  /**
   * Stages new values of some columns of a row: those that the record has. The others keep what
   * they have in {@link #current}; where there is no such row, it is inserted, and they take their
   * defaults.
   *
   * <p>For that the session must know its rows of the table: call {@link #current} or this before
   * its first commit, and not {@link #forgetLoaded}. Where the row's last commit has no answer of
   * Redis yet, this waits for it, as it may be refused: for {@link
   * GameQueueConfigBuilder#callTimeout} at most. Who must not wait puts the row whole.
   *
   * @param row with the whole primary key
   * @throws RowRefusedException as {@link #put(Record)}
   * @throws RedisUnavailableException when that answer did not come in time
   * @throws GameQueueException when the session does not know its rows of the table, as {@link
   *     #current(Class)}; in both cases nothing more is staged, and this session commits nothing
   *     before {@link #rollback}
   */
  <T extends Record> void update(T row);

  /** The same by column names; throws as {@link #update(Record)}. */
  void update(String table, Map<String, ?> columns);

  /**
   * Stages a delete; deleting a row that does not exist is no error. Whose row it is can only be
   * checked where the primary key names the owner.
   *
   * @param key the parts of the primary key in their order
   * @throws RowRefusedException when the key does not fit the table, or the table had gone when the
   *     session was opened; then nothing more is staged, and this session commits nothing before
   *     {@link #rollback}
   */
  void delete(Class<? extends Record> type, Object... key);

  /** Stages a delete; see {@link #delete(Class, Object...)}. */
  void delete(String table, Object... key);

  /**
   * Stages the move of a row to another owner, in both sessions: {@code row} is its new image,
   * whose owner column names the new owner. Then commit both sessions together with {@link
   * GameQueue#commit}. The row keeps its primary key and its children.
   *
   * @throws RowRefusedException when the row does not fit or does not belong to the other owner, or
   *     when the table had gone when one of the sessions was opened; then nothing more is staged,
   *     and neither session commits anything before {@link #rollback}
   */
  <T extends Record> void move(T row, OwnerSession to);

  /** Stages a move; see {@link #move(Record, OwnerSession)}. */
  void move(String table, Map<String, ?> columns, OwnerSession to);

  /**
   * Stages a row for another owner, whoever has it: it is sent by {@link #commit} together with the
   * other changes, both or neither; see {@link GameQueue#send}.
   *
   * @throws RowRefusedException when the row does not fit its table, is not that owner's, or is
   *     this session's; then nothing more is staged, and this session commits nothing before {@link
   *     #rollback}
   */
  <T extends Record> void send(String to, T row);

  /** Stages a row for another owner; see {@link #send(String, Record)}. */
  void send(String to, String table, Map<String, ?> columns);

  /**
   * Has the game told of rows that others {@linkplain GameQueue#send send} to the owner, where its
   * callbacks run: at once as a rule; within some ten seconds where a notice of Redis was lost.
   * Also of those that came since the open and are not in {@link #rows}, of which 1,000 wait until
   * the game asks. {@link #current} has them by then.
   *
   * <p>After a failover of Redis, or when its sender lost the connection before the answer, a row
   * may be told once more, as long as nobody has changed or deleted it. One that was flushed more
   * than two minutes before Redis knows this session again may never be told, though it is there:
   * the next {@link GameQueue#read} or open has it.
   *
   * @param listener takes the place of the one before
   */
  void onSent(Consumer<SentRows> listener);

  /**
   * Has this session handle the owner's messages of a topic {@linkplain
   * io.gameq.topic.TopicOptions#ofOwners of owners}, until it is closed or lost. Messages that
   * waited for that are handled now, by due time; of one topic one at a time.
   *
   * <p>While no session handles them they wait, or a node that called {@link Topic#subscribeOwners}
   * opens the owner. When a node dies its owners' messages wait for 15 s, those that it had for the
   * topic's lease, unless the owner is opened again before.
   *
   * @param topic of the same node
   * @param executor runs the handler: the one thread at a time that acts for this owner. A
   *     message's lease runs while it waits there. Up to 1,000 messages of a topic wait in the
   *     executors of a node. With {@code Runnable::run} it would hold up a thread of gameq, and all
   *     other owners
   * @param handler takes the place of the one before
   * @throws ClosedException when this session is closed
   * @throws GameQueueException when the topic is not of owners, or the node has as many
   *     subscriptions as it may (64; a topic that sessions handle is one)
   */
  <T> void handle(Topic<T> topic, Executor executor, OwnerHandler<T> handler);

  /**
   * Stages a message, which is published by {@link #commit} together with the rows: both or
   * neither. Of several messages of one key and group the last one counts.
   *
   * @param topic of the same node
   * @throws GameQueueException as {@link Topic#publish(String, Object)}; then nothing more is
   *     staged, and this session commits nothing before {@link #rollback}
   */
  default <T> void publish(Topic<T> topic, String key, T payload) {
    publish(topic, Publish.of(key, payload));
  }

  /** Stages a message; see {@link #publish(Topic, String, Object)}. */
  <T> void publish(Topic<T> topic, Publish<T> message);

  /**
   * Stages the delete of a pending message, as {@link Topic#delete(String)}, together with the
   * rows: both or neither. Of several changes of one message the last one counts: a publish after
   * it is a new message, one before it is as if it had not been. Throws as {@link #publish(Topic,
   * String, Object)}.
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
   * Drops everything staged since the last commit; what was committed stays. The session can go on:
   * stage a change anew and commit it. After a trade that failed half-way, roll back the sessions
   * of both owners. Never throws.
   */
  void rollback();

  /**
   * Sends everything staged as one atomic change and returns at once; see {@link CommitReceipt}.
   * Nothing staged: a receipt that is done.
   *
   * @throws RollbackRequiredException when what is staged may be half of a change: a put, delete or
   *     move was refused since the last commit, or a commit of several sessions failed of which
   *     this was one; it stays staged until {@link #rollback}
   * @throws OwnershipLostException when a newer session is known to own; what was staged is dropped
   * @throws QueueFullException when too much waits for Redis; what was staged stays staged
   * @throws PushBackException when too much waits for MySQL and the policy is to refuse; what was
   *     staged stays staged
   * @throws GameQueueException when the commit is larger than the limits; what was staged stays
   *     staged
   */
  default CommitReceipt commit() {
    return commit(Urgency.NORMAL);
  }

  /**
   * Commits as {@link #commit()} does.
   *
   * @param urgency how soon it is to be in MySQL; an urgent commit is not pushed back
   */
  CommitReceipt commit(Urgency urgency);

  /**
   * Row keys ({@code table:primary key}) of committed changes that are not known to be in MySQL: a
   * look at what this node knows, without asking a server.
   */
  Set<String> notDurable();

  /**
   * Waits until everything committed so far is in MySQL or set aside as a {@linkplain DeadLetter
   * dead letter}, and has it flushed now rather than at the end of the merge window.
   *
   * @return the row keys that are not known to be in MySQL when the time was up; empty means all
   *     are
   */
  Set<String> awaitDurable(Duration timeout);

  /**
   * Commits what is staged, waits until Redis has all of this session, at most as long as {@link
   * GameQueueConfigBuilder#callTimeout}, and gives the owner up; the writers flush it soon after.
   * Closing again does nothing, nor does closing after the queue: that leaves its sessions to
   * whichever node opens the owners next.
   *
   * @throws ClosedException when the queue was closed before, and something was staged: it is
   *     dropped
   * @throws RollbackRequiredException when something was staged that may be half of a change: it is
   *     dropped; the session is closed all the same
   * @throws GameQueueException when what was staged could not be committed, which drops it, or when
   *     it is not known in time that Redis has all; the session is closed all the same
   */
  @Override
  void close();
}
