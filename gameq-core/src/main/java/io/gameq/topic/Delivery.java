package io.gameq.topic;

import io.gameq.ChangeSet;
import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.Conflict;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.RedisUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A message in the hands of a handler, under a lease. Thread-safe; of no use once the handler has
 * returned.
 */
public interface Delivery<T> {
  /** The latest payload, as it was when the message was taken. */
  T payload();

  /** The key as it was published. */
  String key();

  /** The group as it was published; null when it has none. */
  @Nullable String group();

  /** Which attempt this is, from 1; leases that ran out count. */
  int attempt();

  /** When it fell due, by the clock of Redis; of an attempt after the first, when that did. */
  Instant due();

  /** Of a recurring message the time of this occurrence, else when it was first published. */
  Instant since();

  /**
   * A number that is higher each time a message of this key, or group, is taken: store it with what
   * the handler writes elsewhere than in gameq's rows, and refuse writes with a lower one, so that
   * a handler that stalled and woke up changes nothing any more.
   */
  long fence();

  /** When the lease ends, by this host's clock for spans of time: another handler has it then. */
  Duration remaining();

  /**
   * Prolongs the lease to that long from now: 100 ms to a day. Waits for Redis.
   *
   * @throws ClaimLostException when the lease had run out and the message is another handler's
   * @throws RedisUnavailableException when Redis does not answer; the lease may be prolonged
   */
  void extend(Duration fromNow);

  /**
   * Commits what is staged in these sessions together with the acknowledgement: both or neither, so
   * that the rows are changed exactly once however often the message is handled. Call it last,
   * once. Without sessions it only acknowledges. Returns at once; the subscription waits for the
   * outcome.
   *
   * <p>MySQL decides: where Redis failed over and forgot that another handler had the message, both
   * commits may be queued, and the rows of the one that is flushed first count. The session of the
   * other is {@linkplain OwnerSession#lost lost}, and what it committed is a {@link Conflict}.
   *
   * @return fails with {@link ClaimLostException} when the lease had run out, or Redis failed over
   *     and another handler has the message: then nothing was applied and what was staged is gone.
   *     Whatever it fails with, what the game remembers may be ahead of the rows: its sessions
   *     throw {@link ClosedException} until their owners are opened again
   * @throws GameQueueException as {@link GameQueue#commit} does, or when this delivery was
   *     acknowledged or failed before. Nothing was taken: what is staged must be {@linkplain
   *     OwnerSession#rollback rolled back}, which gives the game its state back, and staged again
   */
  CommitReceipt ackWith(OwnerSession... sessions);

  /**
   * Commits what the game's code stages together with the acknowledgement: both or neither. Rows
   * are those of the sessions that are given; without any the code publishes messages and sends
   * rows. Else as {@link #ackWith(OwnerSession...)}, but what is staged in the sessions themselves
   * stays there.
   *
   * <pre>{@code
   * delivery.ackWith(
   *     tx -> {
   *       tx.put(new Item(8, 1, 1001, 5));
   *       tx.publish(receipts, "8", new Receipt(1001));
   *       tx.send("player:9", new Letter(77, 9, "sold"));
   *     },
   *     player);
   * }</pre>
   *
   * <p>{@link GameQueue#send} and {@link Topic#publish(Publish)} in a handler are commits of their
   * own, which are made again when the message is handled again.
   *
   * @param changes runs once, on this thread
   * @return as that of {@link #ackWith(OwnerSession...)}
   * @throws GameQueueException as that, what the code threw, or what the first change was refused
   *     with. Nothing was taken, and nothing of it is left; it may be called again
   */
  CommitReceipt ackWith(Consumer<ChangeSet> changes, OwnerSession... sessions);

  /**
   * Has this message tried again, without throwing: for those of a batch that failed.
   *
   * @param why kept with a dead letter, 500 characters at most
   */
  void fail(String why);

  /**
   * The same with what was thrown for this message, as if the handler had thrown it: of an
   * {@linkplain GameQueueException#isOutage outage} the attempt does not count.
   */
  void fail(Throwable thrown);
}
