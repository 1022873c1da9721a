package io.gameq;

import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.Takeover;
import io.gameq.topic.DeadLetter;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import io.gameq.topic.Transacted;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A game node's end of the queue: opens owners, commits their changes, reads. One per process is
 * enough. Thread-safe.
 *
 * <p>What survives: a kill of the process loses nothing that was {@linkplain CommitReceipt#queued
 * queued}; a loss of Redis loses nothing that was {@linkplain CommitReceipt#durable durable}, and
 * the WAL directory holds the rest.
 */
public interface GameQueue extends AutoCloseable {
  /**
   * Starts a node: looks whether this JVM is fit, connects, checks both servers, starts a fresh
   * WAL, and replays what earlier starts of this node left ({@link
   * GameQueueConfigBuilder#earlierWals}). Waits for the servers, some seconds for each at most, for
   * that replay, and up to 15 s for a node of this name that died on another host.
   *
   * @throws GameQueueException naming what is missing or unfit and the remedy; then nothing is left
   *     running
   */
  static GameQueue open(GameQueueConfig config) {
    return ServiceLoader.load(GameQueueProvider.class, GameQueue.class.getClassLoader())
        .findFirst()
        .orElseThrow(
            () ->
                new GameQueueException(
                    "gameq-core is incomplete: META-INF/services/io.gameq.GameQueueProvider is"
                        + " missing; a jar that merges it with others has to keep that file"))
        .open(config);
  }

  /**
   * Takes an owner over, from whichever node had it, and loads its rows. Waits at most {@link
   * GameQueueConfigBuilder#callTimeout}; to open the owner again while it is open here ends the
   * session before.
   *
   * @param owner {@code kind:key}, for example {@code player:42}
   * @throws OwnershipLostException when another node opened the owner at the same moment
   * @throws RedisUnavailableException when Redis is away; opening again is safe
   * @throws MySqlUnavailableException when MySQL is away; opening again is safe
   * @throws MySqlException when MySQL refused, as while others lock the owner; opening again is
   *     safe
   * @throws LayoutException when a row does not fit its table any more; mend the table first
   * @throws GameQueueException when the id is malformed or of an unknown kind, or when the time was
   *     up; opening again is safe
   */
  default OwnerSession open(String owner) {
    return open(owner, Takeover.ALWAYS);
  }

  /**
   * Opens an owner and loads its rows; see {@link #open(String)}.
   *
   * @param takeover what to do when another node, or this one, has it open
   * @throws OwnerHeldException when it is open and not to be taken over; nothing was changed
   */
  OwnerSession open(String owner, Takeover takeover);

  /**
   * Asks whoever has the owner open to close it, and opens it then: its holder is told by {@link
   * OwnerSession#askedToClose}, so that it can commit what it has and close the session first.
   *
   * @param then what to do when the owner is still open when the time is up: take it over, or throw
   * @param ask how long to wait for the holder at most; the open itself takes up to {@link
   *     GameQueueConfigBuilder#callTimeout} besides
   * @throws OwnerHeldException when the time was up and the owner is not to be taken over; nothing
   *     was changed
   */
  OwnerSession open(String owner, Takeover then, Duration ask);

  /**
   * Opens an owner as {@link #open(String, Takeover)} does, and returns at once: for many logins at
   * a time, as after a restart. Owners that are opened at the same moment share round trips and
   * transactions. Up to 64 are under way; the others wait for their turn, with which their {@link
   * GameQueueConfigBuilder#callTimeout} begins.
   *
   * @return ends with the session, or with what {@code open} throws, on the node's thread for
   *     callbacks; a session that comes after it was cancelled is closed
   * @throws GameQueueException when the id is malformed or of an unknown kind
   */
  CompletionStage<OwnerSession> openAsync(String owner, Takeover takeover);

  /**
   * Opens many owners, as after a restart: each as {@link #openAsync} does, up to 32 under way, so
   * that who plays already, and opens of others, have their turn meanwhile. One that fails fails
   * alone; but when 64 in a row fail since Redis or MySQL is away, the rest fails at once with the
   * same. Those that failed may be opened again.
   *
   * @param owners each is opened once; one that is malformed fails alone too
   * @param progress told of each owner as it comes, one after another, on the node's thread for
   *     callbacks: let the player in here, and keep the session
   * @return ends there when all have, with one result for each owner, in the order in which they
   *     were given; cancelled, it begins no more, and {@code progress} is told of the rest
   * @throws ClosedException when the queue is closed
   */
  CompletionStage<List<OpenResult>> openAll(
      Collection<String> owners, Takeover takeover, Consumer<OpenProgress> progress);

  /**
   * What an owner has in one table now, without taking it over: at least everything queued before
   * the call, from whichever node. Changes nothing; waits at most {@link
   * GameQueueConfigBuilder#callTimeout}.
   *
   * @param type a record class that names a managed table, see {@link TableName}
   * @return rows in no particular order; empty when the owner has none
   * @throws LayoutException when a row does not fit its table any more; mend the table first
   * @throws GameQueueException when the table is not managed, a server is away, or the time was up
   */
  <T extends Record> List<T> read(String owner, Class<T> type);

  /** What an owner has in one table now; see {@link #read(String, Class)}. */
  List<Row> read(String owner, String table);

  /**
   * What an owner has in one table now; returns at once, as {@link #openAsync} does.
   *
   * @return ends with the rows, or with what {@link #read(String, String)} throws, on the node's
   *     thread for callbacks
   */
  CompletionStage<List<Row>> readAsync(String owner, String table);

  /**
   * The full row that a put of these columns would write, checked and with defaults filled in;
   * nothing is staged. Throws as {@link OwnerSession#put}.
   */
  Row row(String table, Map<String, ?> columns);

  /**
   * Commits everything staged in several sessions of this node as one atomic change: a trade.
   * Returns at once.
   *
   * <p>When it throws, what is staged in these sessions stays one change: commit all of them
   * together again, or {@linkplain OwnerSession#rollback roll all of them back}; one of them alone
   * throws {@link RollbackRequiredException}.
   *
   * @throws RollbackRequiredException when what is staged in one of the sessions may be half of a
   *     change; all of them must be rolled back then
   * @throws OwnershipLostException when one of the sessions is known to have lost its owner; what
   *     was staged in that one is dropped, and the others must be rolled back
   * @throws QueueFullException when too much waits for Redis; what was staged stays staged
   * @throws PushBackException when too much waits for MySQL and the policy is to refuse; what was
   *     staged stays staged
   * @throws GameQueueException when the commit is larger than the limits; what was staged stays
   *     staged
   */
  default CommitReceipt commit(OwnerSession... sessions) {
    return commit(Urgency.NORMAL, sessions);
  }

  /**
   * Commits several sessions as {@link #commit(OwnerSession...)} does.
   *
   * @param urgency how soon it is to be in MySQL; an urgent commit is not pushed back
   */
  CommitReceipt commit(Urgency urgency, OwnerSession... sessions);

  /**
   * Commits what the game's code stages, as one atomic change of its own, or discards all of it:
   * when the code throws, when a change was refused, and when the commit is refused. Half of it is
   * never committed. Returns at once; a set without changes commits nothing.
   *
   * <pre>{@code
   * queue.transact(player, friend, tx -> {
   *   tx.delete(Item.class, 42, 3);
   *   tx.put(new Item(43, 9, 1001, 5));  // in the session that the owner column names
   * });
   * }</pre>
   *
   * <p>What is {@linkplain OwnerSession#put staged in the sessions} is no part of it, and stays as
   * it was, for their own next commit; a row that is staged there cannot be changed here.
   *
   * @param changes runs once, on this thread
   * @throws RowRefusedException the first change that was refused, even if the code caught it
   * @throws ClosedException when the session or the queue is closed
   * @throws GameQueueException as {@link #commit(OwnerSession...)}, or what the code threw
   */
  default CommitReceipt transact(OwnerSession session, Consumer<ChangeSet> changes) {
    return transact(List.of(session), changes);
  }

  /** Commits changes of two owners as one; see {@link #transact(OwnerSession, Consumer)}. */
  default CommitReceipt transact(
      OwnerSession one, OwnerSession other, Consumer<ChangeSet> changes) {
    return transact(List.of(one, other), changes);
  }

  /** Commits changes of several owners as one; see {@link #transact(OwnerSession, Consumer)}. */
  default CommitReceipt transact(
      Collection<? extends OwnerSession> sessions, Consumer<ChangeSet> changes) {
    return transactReturning(
            sessions,
            set -> {
              changes.accept(set);
              return true;
            })
        .receipt();
  }

  /**
   * Does the same, and returns what the code returned along with the receipt; see {@link
   * #transact(OwnerSession, Consumer)}.
   */
  <T> Transacted<T> transactReturning(
      Collection<? extends OwnerSession> sessions, Function<ChangeSet, T> changes);

  /**
   * Sends rows to an owner whoever has it open, or nobody: a mail, an auction's result, a line of a
   * guild's log. The owner is neither loaded nor taken over. In a handler it happens again with
   * each attempt: see {@link io.gameq.topic.Delivery#ackWith}. Returns at once, with what {@link
   * OwnerSession#commit()} returns; see {@link ChangeSet#send(String, Record)} to send rows
   * together with other changes, both or neither.
   *
   * <p>The rows are inserted, under keys that no row has, as those of {@link #ids} or a UUID; so
   * whatever becomes of the owner meanwhile, they get there, once. {@link #read} and the next
   * {@link #open} see them as soon as the commit is {@linkplain CommitReceipt#queued queued}, and a
   * session that has the owner is {@linkplain OwnerSession#onSent told}. From then on the owner's
   * session changes and deletes them as its own.
   *
   * <p>A key that is in use: while that row waits to be flushed the commit fails with {@link
   * CommitFailedException}; else the row is set aside as a {@linkplain DeadLetter dead letter} of
   * the owner, unless MySQL holds a newer version under the key, which is taken for a change of
   * this very row.
   *
   * @param owner whose rows they are by their owner columns
   * @param rows records of managed tables
   * @throws RowRefusedException when a row does not fit its table, is too large, or is another
   *     owner's; then nothing is sent
   * @throws ClosedException when the queue is closed
   * @throws QueueFullException when too much waits for Redis, or for MySQL of what this node sent
   *     to that owner; then nothing is sent
   */
  CommitReceipt send(String owner, Record... rows);

  /** Sends a row by column names; a column left out takes its default. */
  CommitReceipt send(String owner, String table, Map<String, ?> columns);

  /**
   * Ids for new rows of a table, so that a table with AUTO_INCREMENT can be managed: nodes take
   * them in MySQL in ranges of 1,000, and give them without asking anybody. Takes the first range,
   * for at most {@link GameQueueConfigBuilder#callTimeout}; a further call returns the same.
   *
   * <p>They begin above what the table has when the first node asks, what MySQL would give next,
   * and what waits for the table in Redis or was refused: that first call looks at every such row.
   * {@code gameq_id} has where they are. Every program that inserts into the table must take its
   * ids so: MySQL does not know which ids nodes hold. A failover of MySQL that loses transactions
   * may give a range again.
   *
   * @param table managed, with a column with AUTO_INCREMENT, else with one integer in its primary
   *     key beside the owner's column
   * @throws MySqlUnavailableException when MySQL is away
   * @throws RedisUnavailableException when nobody ever took ids of the table, and Redis is away
   * @throws GameQueueException when the table is not managed or has no such column, or the column
   *     holds no larger ids
   */
  default Ids ids(String table) {
    return ids(table, 1_000);
  }

  /**
   * The same in ranges of another size.
   *
   * @param range ids taken at a time, 1 to 1,000,000: what a node may leave unused when it ends is
   *     less than twice that; of the first call for a table
   */
  Ids ids(String table, int range);

  /**
   * A topic whose payloads are bytes: made when no node has opened it before, else compared. Asks
   * MySQL and Redis, for at most {@link GameQueueConfigBuilder#callTimeout}.
   *
   * @param name a lower-case letter, then up to 31 of {@code a-z 0-9 _ -}
   * @param options the same on all nodes
   * @throws GameQueueException when the name is malformed, or the topic was made with other
   *     options: the message shows both
   * @throws MySqlUnavailableException when MySQL does not answer; it may be made then
   * @throws RedisUnavailableException when Redis does not answer; it may be made then
   */
  Topic<byte[]> topic(String name, TopicOptions options);

  /**
   * A topic whose payloads are records; see {@link #topic(String, TopicOptions)}. Encoded by the
   * names of their components: numbers, text, booleans, bytes, enums, {@code Instant}, {@code
   * Duration}, {@code UUID}, records, lists, and maps by text. A component that a payload lacks is
   * null, zero or false, and one that the record lacks is ignored, so that components can be added
   * and removed while nodes of both versions run.
   *
   * @throws GameQueueException as above, or when a component has another type
   */
  <T extends Record> Topic<T> topic(String name, Class<T> payload, TopicOptions options);

  /**
   * A topic as it was defined by whoever opened it first, its payloads as bytes: for programs that
   * hand on messages which are not theirs. Asks Redis, and MySQL where Redis does not know it, for
   * at most {@link GameQueueConfigBuilder#callTimeout}.
   *
   * @return empty when nobody has defined it
   * @throws GameQueueException when the name is malformed
   * @throws MySqlUnavailableException when MySQL is asked and does not answer
   * @throws RedisUnavailableException when Redis does not answer
   */
  Optional<Topic<byte[]>> definedTopic(String name);

  /** A topic with {@link TopicOptions#DEFAULT}; see {@link #topic(String, Class, TopicOptions)}. */
  default <T extends Record> Topic<T> topic(String name, Class<T> payload) {
    return topic(name, payload, TopicOptions.DEFAULT);
  }

  /**
   * The thresholds of the backlog that are passed now, with the latest values; empty when none is,
   * or none is set. See {@link GameQueueConfigBuilder#pushBackAtAge}.
   */
  List<Pressure> pressure();

  /**
   * Waits until everything that this node committed is in MySQL or set aside as a {@linkplain
   * DeadLetter dead letter}, closed sessions included, and has it flushed now rather than at the
   * end of the merge window. Call it before the node stops.
   *
   * @param timeout how long to wait at most
   * @return the row keys ({@code table:primary key}) that are not known to be in MySQL when the
   *     time was up; empty means all are
   */
  Set<String> drain(Duration timeout);

  /**
   * Ends a node in order: closes subscriptions, asks the game for its open sessions by {@link
   * OwnerSession#askedToClose} and waits until those who listen have closed them, {@linkplain
   * #drain drains}, and {@linkplain #close closes}.
   *
   * @param timeout how long all of it may take, half of it for the subscriptions and sessions; the
   *     close goes on for {@link GameQueueConfigBuilder#callTimeout} at most besides
   * @return what is left
   */
  Stopped stop(Duration timeout);

  /**
   * What a {@linkplain #stop stop} leaves.
   *
   * @param open owners whose sessions the game had not closed: what was staged in them is gone, and
   *     another node may open them
   * @param notDurable row keys ({@code table:primary key}) that are not known to be in MySQL: Redis
   *     and the WAL, which is kept, have them
   */
  record Stopped(Set<String> open, Set<String> notDurable) {}

  /**
   * Sends what was committed, and stops; within {@link GameQueueConfigBuilder#callTimeout}, else it
   * goes on in the background. When everything is in MySQL a later start removes the WAL, else it
   * is kept for recovery; sessions that are still open stay open for another node to take over.
   */
  @Override
  void close();
}
