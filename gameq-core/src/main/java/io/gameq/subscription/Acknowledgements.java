package io.gameq.subscription;

import io.gameq.GameQueueException;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.topic.ConsumerScripts.Failure;
import io.gameq.redis.topic.ConsumerScripts.NackResult;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.topic.ClaimLostException;
import io.gameq.topic.Retry;
import io.gameq.topic.Subscription;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What became of messages, counted, and on its way to Redis: acknowledgements as commits, many in
 * each, so that the WAL has them first; failures by a script. What goes wrong is logged once a
 * minute. Any thread adds; the consumer's sends. What is lost with the process is handled again
 * when its lease has run out.
 */
final class Acknowledgements {
  /** In one commit: a script of so many holds Redis for a millisecond. */
  static final int MOST_TOGETHER = 500;

  private static final Logger LOG = LoggerFactory.getLogger(Acknowledgements.class);
  private static final long LOG_EVERY_SECONDS = 60;

  /** Of an error, in characters: enough for its class and message. */
  private static final int MOST_ERROR_CHARS = 500;

  private final OpenTopic<?> topic;
  private final Retry retry;
  private final Runnable wake;

  private final Queue<MessageChange> acks = new ConcurrentLinkedQueue<>();

  /** Of commits of which one claim was lost: each alone now. */
  private final Queue<MessageChange> single = new ConcurrentLinkedQueue<>();

  private final Queue<Failure> nacks = new ConcurrentLinkedQueue<>();

  /** Handed in, without an answer of Redis, or waiting here. */
  private final AtomicInteger open = new AtomicInteger();

  private final RepeatedWarnings warnings = new RepeatedWarnings(LOG_EVERY_SECONDS);
  private final LongAdder handled = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder dead = new LongAdder();
  private final LongAdder lost = new LongAdder();

  /** With {@code wake} to have the consumer send what waits. */
  Acknowledgements(OpenTopic<?> topic, Runnable wake) {
    this.topic = topic;
    this.retry = topic.options().retry();
    this.wake = wake;
  }

  static ClaimLostException lost(MessageId id) {
    return new ClaimLostException(
        ("the lease of message %s ran out before it was acknowledged: it was, or will be,"
                + " handled again; take less time, extend the lease, or open the topic with a"
                + " longer one")
            .formatted(id));
  }

  void acknowledge(MessageChange.Ack ack) {
    open.incrementAndGet();
    acks.add(ack);
  }

  /**
   * An attempt failed.
   *
   * @param nextDueMillis of a recurring message, for when this was its last attempt; 0 for none
   */
  void fail(TakenMessage taken, String error, long nextDueMillis) {
    failed.increment();
    add(taken, backoffMillis(retry, taken.attempts()), true, cut(error), nextDueMillis);
  }

  /**
   * An outage was in the way: the attempt does not count.
   *
   * @param leastMillis until the next attempt; longer where a failure would wait longer
   */
  void putOff(TakenMessage taken, long leastMillis, String why) {
    failed.increment();
    long afterMillis = Math.max(jittered(leastMillis), backoffMillis(retry, taken.attempts()));
    add(taken, afterMillis, false, cut(why), 0);
  }

  /** It was taken once more than it may be tried. */
  void giveUp(TakenMessage taken) {
    String why = "the lease of its last attempt ran out";
    long nextDueMillis = Schedule.nextDue(taken, topic.options().lease());
    add(taken, backoffMillis(retry, taken.attempts()), true, why, nextDueMillis);
  }

  /** Of nobody's fault: it is due again at once, and the attempt does not count. */
  void giveBack(TakenMessage taken) {
    add(taken, 0, false, "whoever took it did not wait for it any more", 0);
  }

  private void add(TakenMessage taken, long afterMillis, boolean counts, String why, long nextDue) {
    open.incrementAndGet();
    nacks.add(new Failure(taken, afterMillis, counts, why, nextDue));
  }

  static String cut(String error) {
    return error.length() <= MOST_ERROR_CHARS ? error : error.substring(0, MOST_ERROR_CHARS);
  }

  /** How long until the attempt after one, the first of which is 1. */
  static long backoffMillis(Retry retry, int attempt) {
    int failure = Math.min(attempt, retry.delays().size());
    long millis = retry.delays().get(failure - 1).toMillis();
    return retry.jitter() ? jittered(millis) : millis;
  }

  private static long jittered(long millis) {
    return millis / 2 + ThreadLocalRandom.current().nextLong(millis / 2 + 1);
  }

  /** How many messages have no answer of Redis yet. */
  int open() {
    return open.get();
  }

  /**
   * Hands acknowledgements to the sender; returns how many. Throws GameQueueException when it takes
   * none now: they wait here.
   */
  int commitAcks() {
    int most = Math.min(MOST_TOGETHER, topic.node.config().limits().commitRows());
    return commit(single, 1) + commit(acks, most);
  }

  private int commit(Queue<MessageChange> from, int most) {
    int done = 0;
    while (!from.isEmpty()) {
      List<MessageChange> some = poll(from, most);
      try {
        topic.node.commits().commit(some, failure -> told(some, failure));
      } catch (RuntimeException e) {
        from.addAll(some);
        throw e;
      }
      done += some.size();
    }
    return done;
  }

  private static <T> List<T> poll(Queue<T> from, int most) {
    List<T> some = new ArrayList<>();
    for (T one; some.size() < most && (one = from.poll()) != null; ) {
      some.add(one);
    }
    return some;
  }

  /** On the sender's thread. */
  private void told(List<MessageChange> some, @Nullable RuntimeException failure) {
    if (failure instanceof ClaimLostException && some.size() > 1) {
      single.addAll(some);
      wake.run();
      return;
    }
    if (failure == null) {
      handled(some.size());
    } else if (failure instanceof ClaimLostException) {
      lost();
    } else {
      notAcknowledged(some.size(), failure); // handled again when the lease has run out
    }
    open.addAndGet(-some.size());
  }

  /**
   * Tells Redis of failures, over a connection that nobody else uses meanwhile; returns how many.
   * Throws GameQueueException when Redis does not answer: they wait here, and their leases run out
   * if it takes long.
   */
  int nack(RedisConnection redis) {
    List<Failure> some = poll(nacks, MOST_TOGETHER);
    try {
      for (NackResult result : topic.scripts.nack(redis, some)) {
        if (result == NackResult.DEAD) {
          dead.increment();
          warn("dead", "a message of topic '%s' is a dead letter now".formatted(topic.name()));
        } else if (result == NackResult.CLAIM_LOST) {
          lost();
        } // else it is tried again, or a newer message has taken its place
      }
    } catch (GameQueueException e) {
      nacks.addAll(some);
      throw e;
    }
    open.addAndGet(-some.size());
    return some.size();
  }

  // --- counts

  void handled(int messages) {
    handled.add(messages);
  }

  void lost() {
    lost.increment();
    warn(
        "lost",
        ("a lease of topic '%s' ran out before the acknowledgement: the message is handled again;"
                + " handlers take longer than the lease")
            .formatted(topic.name()));
  }

  void notAcknowledged(int messages, RuntimeException failure) {
    warn(
        "ack " + failure.getClass().getName(),
        ("%s messages of topic '%s' were handled and not acknowledged, so they are handled again:"
                + " %s")
            .formatted(messages, topic.name(), failure.getMessage()));
  }

  /** Names the error's class alone: its message may hold what the game keeps to itself. */
  void warnOf(Throwable error) {
    String kind = error.getClass().getName();
    warn(
        kind,
        "a handler of topic '%s' failed: %s; its messages are tried again"
            .formatted(topic.name(), kind));
  }

  private void warn(String about, String text) {
    warnings.about(about, LOG::warn, () -> text);
  }

  /**
   * What a subscription tells.
   *
   * @param running messages that handlers have now
   * @param handlers that may run at a time
   */
  Subscription.Counts counts(int running, int handlers) {
    return new Subscription.Counts(
        handled.sum(), failed.sum(), dead.sum(), lost.sum(), running, handlers);
  }
}
