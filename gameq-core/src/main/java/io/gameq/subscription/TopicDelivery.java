package io.gameq.subscription;

import io.gameq.ChangeSet;
import io.gameq.ClosedException;
import io.gameq.CommitPendingException;
import io.gameq.CommitReceipt;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueueException;
import io.gameq.OwnerHeldException;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import io.gameq.commit.MessageCommits;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.subscription.OpenTopic.Payloads;
import io.gameq.subscription.TopicPoller.Acknowledgements;
import io.gameq.topic.ClaimLostException;
import io.gameq.topic.Delivery;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.TopicOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
public final class TopicDelivery<T> implements Delivery<T> {
  /**
   * What a delivery uses of its topic and node.
   *
   * @param commits take its acknowledgement
   * @param lease extends its lease, from now on; false when it has run out
   */
  public record Handling<T>(
      Payloads<T> payloads,
      TopicOptions options,
      MessageCommits commits,
      BiPredicate<TakenMessage, Duration> lease) {}

  private static final Logger LOG = LoggerFactory.getLogger(TopicDelivery.class);

  /** Until an owner is looked for again whose node does not handle the topic. */
  private static final long HELD_MILLIS = 5_000;

  private static final Duration LEAST_LEASE = Duration.ofMillis(100);
  private static final Duration MOST_LEASE = Duration.ofDays(1);

  /** Causes can go round in a circle. */
  private static final int MOST_CAUSES = 50;

  public final TakenMessage taken;
  private final MessageValue.Decoded value;
  private final T payload;
  private final @Nullable Schedule schedule;
  private final Handling<T> by;
  private volatile long leaseEndNanos;

  /** Of {@link #ackWith}, once it was taken. */
  private @Nullable CommitReceipt receipt;

  /** Why it failed, or its commit was refused. */
  private @Nullable String error;

  private boolean isOutage;
  private boolean isCommitting;
  private volatile @Nullable Throwable thrown;

  /** It failed, or its handler has returned without a word. */
  private boolean hasEnded;

  /** Whoever has the owner handles the message, so long from now; negative for nothing of it. */
  private long elsewhereMillis = -1;

  /**
   * A message as it was taken.
   *
   * @throws GameQueueException when its value or payload cannot be read
   */
  public TopicDelivery(TakenMessage taken, Handling<T> by) {
    this.by = by;
    this.taken = taken;
    this.value = MessageValue.decode(taken.value());
    this.schedule = Schedule.of(value);
    this.payload = by.payloads.decode().apply(value.payload());
    this.leaseEndNanos = taken.leaseEndNanos();
  }

  /**
   * Those of what was taken that are to be handled. What cannot be read, and occurrences that are
   * left out, are settled at once.
   */
  static <T> List<TopicDelivery<T>> hold(
      OpenTopic<T> topic, List<TakenMessage> all, Acknowledgements acks) {
    Handling<T> by =
        new Handling<>(
            topic.payloads(),
            topic.options(),
            topic.node().commits(),
            (message, forHowLong) ->
                topic.ask(
                    "to extend the lease of message " + message.id(),
                    redis ->
                        topic
                            .scripts()
                            .extend(redis, List.of(message), forHowLong.toMillis())
                            .get(0)));
    List<TopicDelivery<T>> held = new ArrayList<>(all.size());
    for (TakenMessage taken : all) {
      try {
        TopicDelivery<T> message = new TopicDelivery<>(taken, by);
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

  public boolean isLeftOut() {
    long lease = by.options.lease().toMillis();
    return schedule != null
        && taken.attempts() == 1
        && schedule.leavesOut(value.sinceMillis(), taken.takenMillis(), lease);
  }

  /** When it is due again, ms; 0 for never. */
  public long nextDueMillis() {
    long lease = by.options.lease().toMillis();
    return schedule == null ? 0 : schedule.next(value.sinceMillis(), taken.takenMillis(), lease);
  }

  /** Without the message, which many acknowledgements that wait would keep in memory. */
  public MessageChange.Ack ack() {
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
    boolean isHeld = by.lease.test(taken, fromNow);
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
  public CommitReceipt ackWith(OwnerSession... sessions) {
    return ackBy(ack -> by.commits.commit(List.of(ack), sessions));
  }

  @Override
  public CommitReceipt ackWith(Consumer<ChangeSet> changes, OwnerSession... sessions) {
    return ackBy(ack -> by.commits.commit(List.of(ack), changes, sessions));
  }

  private synchronized CommitReceipt ackBy(Function<MessageChange, CommitReceipt> commit) {
    if (hasEnded || receipt != null || isCommitting) {
      throw new GameQueueException(
          "message %s was acknowledged or failed before".formatted(taken.id()));
    }
    error = "its commit was refused"; // to return does not acknowledge without the rows
    isOutage = false;
    isCommitting = true;
    try {
      MessageChange.Ack ack = ack(schedule == null ? taken.publishedAgain() : null);
      CommitReceipt committed = commit.apply(ack);
      receipt = committed;
      return committed;
    } catch (GameQueueException e) {
      isOutage = e.isOutage();
      throw e;
    } finally {
      isCommitting = false;
    }
  }

  /**
   * Has an owner's handler stage its changes, and commits them with the acknowledgement. What the
   * handler throws fails the delivery.
   *
   * @return the receipt; null when the delivery failed
   */
  public @Nullable CommitReceipt handle(OwnerSession owner, OwnerHandler<T> handler) {
    try {
      return ackWith(
          changes -> {
            try {
              handler.handle(owner, this, changes);
            } catch (Throwable e) { // the game's, whatever it is, also of other sessions
              throw new CompletionException(e);
            }
            requireNotFailed();
          },
          owner);
    } catch (CompletionException e) {
      thrown = Objects.requireNonNullElse(e.getCause(), e);
      fail(thrown);
    } catch (OwnershipLostException | ClosedException e) { // the owner's own
      elsewhere(text(e), 0);
    } catch (RuntimeException e) {
      fail(e);
    }
    return null;
  }

  /** What the owner's handler threw; null when it did not. */
  @Nullable Throwable thrown() {
    return thrown;
  }

  /**
   * Opens the owner, has its handler stage its changes, commits them and closes the session. Where
   * a live node has the owner, whoever handles its messages later gets this one.
   *
   * @param opener throws OwnerHeldException when a live node has the owner
   */
  public void openAndHandle(Function<String, OwnerSession> opener, OwnerHandler<T> handler) {
    OwnerSession session;
    try {
      session = opener.apply(Objects.requireNonNullElse(group(), ""));
    } catch (OwnerHeldException | OwnershipLostException | ClosedException e) {
      elsewhere(text(e), HELD_MILLIS);
      return;
    }
    try {
      var unused = handle(session, handler);
    } finally {
      try {
        session.close();
      } catch (GameQueueException e) { // the receipt tells what became of its commit
        LOG.debug("{} is not closed: {}", session, e.getMessage());
      }
    }
  }

  private synchronized void requireNotFailed() {
    if (hasEnded) {
      throw new GameQueueException("the handler called fail: " + error);
    }
  }

  /** It is to be handled where its owner is, so long from now; that is no attempt. */
  public synchronized void elsewhere(String why, long afterMillis) {
    fail(why, false);
    elsewhereMillis = afterMillis;
  }

  /** When it is to be handled {@link #elsewhere}; negative when it is not. */
  public synchronized long elsewhereMillis() {
    return elsewhereMillis;
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
  public static String text(Throwable e) {
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
    if (!hasEnded && receipt == null) {
      hasEnded = true;
      error = why;
      isOutage = byAnOutage;
    }
  }

  /**
   * The handler returned: what it said nothing of is acknowledged. Returns the receipt of ackWith.
   */
  public synchronized @Nullable CommitReceipt returned() {
    hasEnded |= error == null;
    return receipt;
  }

  /**
   * Says what the commit of this delivery failed with.
   *
   * @param outageMillis asked in an outage: how long the message waits at least
   * @return false where an outage is in the way
   */
  boolean notCommitted(Throwable failure, Acknowledgements acks, LongSupplier outageMillis) {
    if (failure instanceof ClaimLostException || failure instanceof CommitPendingException) {
      acks.lost(); // not given back if it may yet count: that its lease ran out is to be noted
    } else if (failure instanceof CommitUnknownException unknown) { // its lease decides
      acks.notAcknowledged(1, unknown);
    } else if (by.options.hasOwners() && failure instanceof OwnershipLostException) {
      acks.giveBack(taken, 0, text(failure));
    } else {
      boolean itIsOutage = failure instanceof GameQueueException known && known.isOutage();
      return notHandled(text(failure), itIsOutage, acks, outageMillis);
    }
    return true;
  }

  /** Says that its handler failed, or its commit was refused; as {@link #notCommitted}. */
  boolean notHandled(
      String why, boolean byAnOutage, Acknowledgements acks, LongSupplier outageMillis) {
    if (elsewhereMillis() >= 0) {
      acks.giveBack(taken, elsewhereMillis(), why);
    } else if (byAnOutage) {
      acks.putOff(taken, outageMillis.getAsLong(), why);
      return false;
    } else {
      acks.fail(taken, why, nextDueMillis());
    }
    return true;
  }

  /** Whether it failed for an outage. */
  public synchronized boolean isOutage() {
    return isOutage;
  }

  /** Why it failed; null when it did not. */
  public synchronized @Nullable String error() {
    return error;
  }

  @Override
  public String toString() {
    return "Delivery[" + taken.id() + ", attempt " + taken.attempts() + "]";
  }
}
