package io.gameq.subscription;

import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.topic.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message under the lease of this node, from the take to its outcome. Thread-safe: a handler may
 * hand it to other threads.
 *
 * <pre>
 * open --ackWith--------> acknowledged      its receipt tells the outcome
 * open --ackWith refused> refused           failed, unless ackWith is called again
 * open --fail-----------> failed
 * open --handler returns> returned          the subscription acknowledges it
 * open --handler throws-> failed
 * </pre>
 */
final class TopicDelivery<T> implements Delivery<T> {
  private static final Duration LEAST_LEASE = Duration.ofMillis(100);
  private static final Duration MOST_LEASE = Duration.ofDays(1);

  /** Causes can go round in a circle. */
  private static final int MOST_CAUSES = 50;

  final TakenMessage taken;
  private final MessageValue.Decoded value;
  private final T payload;
  private final @Nullable Schedule schedule;
  private final OpenTopic<T> topic;
  private volatile long leaseEndNanos;
  private State state = State.OPEN;
  private @Nullable CommitReceipt receipt;
  private @Nullable String error;
  private boolean isOutage;

  /** What becomes of it. */
  enum State {
    OPEN,
    ACKNOWLEDGED,
    REFUSED,
    FAILED,
    RETURNED
  }

  /**
   * A message as it was taken.
   *
   * @param leaseEndNanos by System.nanoTime
   * @throws GameQueueException when its value or payload cannot be read
   */
  private TopicDelivery(TakenMessage taken, OpenTopic<T> topic, long leaseEndNanos) {
    this.topic = topic;
    this.taken = taken;
    this.value = MessageValue.decode(taken.value());
    this.schedule = Schedule.of(value);
    this.payload = topic.payloads.decode().apply(value.payload());
    this.leaseEndNanos = leaseEndNanos;
  }

  /**
   * Those of what was taken that are to be handled. What cannot be read, and occurrences that are
   * left out, are settled at once.
   */
  static <T> List<TopicDelivery<T>> hold(
      OpenTopic<T> topic, TopicPoller.Batch all, Acknowledgements acks) {
    List<TopicDelivery<T>> held = new ArrayList<>(all.messages().size());
    for (TakenMessage taken : all.messages()) {
      try {
        TopicDelivery<T> message = new TopicDelivery<>(taken, topic, all.leaseEndNanos());
        if (message.isLeftOut()) {
          acks.acknowledge(message.ack()); // with its next occurrence
        } else {
          held.add(message);
        }
      } catch (RuntimeException e) { // also what the constructor of the game's record throws
        acks.warnOf(e);
        acks.fail(
            taken,
            "the message cannot be read: " + text(e),
            Schedule.nextDue(taken, topic.options().lease()));
      }
    }
    return held;
  }

  private boolean isLeftOut() {
    long lease = topic.options().lease().toMillis();
    return schedule != null
        && taken.attempts() == 1
        && schedule.leavesOut(value.sinceMillis(), taken.takenMillis(), lease);
  }

  /** When it is due again, ms; 0 for never. */
  long nextDueMillis() {
    long lease = topic.options().lease().toMillis();
    return schedule == null ? 0 : schedule.next(value.sinceMillis(), taken.takenMillis(), lease);
  }

  /** Without the message, which many acknowledgements that wait would keep in memory. */
  MessageChange.Ack ack() {
    return ack(null);
  }

  private MessageChange.Ack ack(MessageChange.@Nullable Publish again) {
    return new MessageChange.Ack(
        taken.id(),
        taken.slot(),
        value.version(),
        taken.token(),
        nextDueMillis(),
        schedule == null ? 0 : value.sinceMillis(),
        again);
  }

  @Override
  public T payload() {
    return payload;
  }

  @Override
  public String key() {
    return taken.id().key();
  }

  @Override
  public @Nullable String group() {
    return taken.id().group();
  }

  @Override
  public int attempt() {
    return taken.attempts();
  }

  @Override
  public Instant due() {
    return Instant.ofEpochMilli(taken.dueMillis());
  }

  @Override
  public Instant since() {
    return Instant.ofEpochMilli(value.sinceMillis());
  }

  @Override
  public long fence() {
    return taken.fence();
  }

  @Override
  public Duration remaining() {
    return Duration.ofNanos(Math.max(0, leaseEndNanos - System.nanoTime()));
  }

  @Override
  public void extend(Duration fromNow) {
    checkLease(fromNow);
    long began = System.nanoTime();
    boolean isHeld =
        topic.ask(
            "to extend the lease of message " + taken.id(),
            redis -> topic.scripts.extend(redis, List.of(taken), fromNow.toMillis()).get(0));
    if (!isHeld) {
      throw Acknowledgements.lost(taken.id());
    }
    leaseEndNanos = began + fromNow.toNanos();
  }

  /** Throws GameQueueException when a lease cannot be extended by that. */
  static void checkLease(Duration fromNow) {
    if (fromNow.compareTo(LEAST_LEASE) < 0 || fromNow.compareTo(MOST_LEASE) > 0) {
      throw new GameQueueException(
          "a lease is extended by %s to %s: %s".formatted(LEAST_LEASE, MOST_LEASE, fromNow));
    }
  }

  @Override
  public synchronized CommitReceipt ackWith(OwnerSession... sessions) {
    if (state != State.OPEN && state != State.REFUSED) {
      throw new GameQueueException(
          "message %s was acknowledged or failed before".formatted(taken.id()));
    }
    state = State.REFUSED; // until it is taken: to return does not acknowledge without the rows
    error = "its commit was refused";
    isOutage = false;
    CommitReceipt committed;
    try {
      MessageChange.Ack ack = ack(schedule == null ? taken.publishedAgain() : null);
      committed = topic.node.commits().commit(List.of(ack), sessions);
    } catch (GameQueueException e) {
      isOutage = e.isOutage();
      throw e;
    }
    receipt = committed;
    state = State.ACKNOWLEDGED;
    return committed;
  }

  @Override
  public void fail(String why) {
    fail(why, false);
  }

  @Override
  public void fail(Throwable thrown) {
    fail(text(thrown), isOutage(thrown));
  }

  /** As it is kept with a dead letter. */
  static String text(Throwable e) {
    return e.getMessage() == null
        ? e.getClass().getName()
        : e.getClass().getName() + ": " + e.getMessage();
  }

  /**
   * Whether an outage made a handler fail: the first of gameq's own exceptions among what was
   * thrown and its causes decides, as games wrap them.
   */
  private static boolean isOutage(Throwable thrown) {
    Throwable cause = thrown;
    for (int depth = 0; cause != null && depth < MOST_CAUSES; depth++) {
      if (cause instanceof GameQueueException known) {
        return known.isOutage();
      }
      cause = cause.getCause();
    }
    return false;
  }

  private synchronized void fail(String why, boolean byAnOutage) {
    if (state == State.OPEN || state == State.REFUSED) {
      state = State.FAILED;
      error = why;
      isOutage = byAnOutage;
    }
  }

  /** The handler returned: what is open is to be acknowledged. */
  synchronized State returned() {
    if (state == State.OPEN) {
      state = State.RETURNED;
    }
    return state;
  }

  /** Whether it failed for an outage. */
  synchronized boolean isOutage() {
    return isOutage;
  }

  /** Why it failed. */
  synchronized String error() {
    return String.valueOf(error);
  }

  /**
   * Waits for the outcome of {@link #ackWith}, until the lease ends.
   *
   * @throws GameQueueException what it failed with, or that the time was up
   */
  void awaitAcknowledged() {
    CommitReceipt committed;
    synchronized (this) {
      committed = receipt;
    }
    if (committed != null) {
      committed.awaitQueued(remaining().plusMillis(1));
    }
  }

  @Override
  public String toString() {
    return "Delivery[" + taken.id() + ", attempt " + taken.attempts() + "]";
  }
}
