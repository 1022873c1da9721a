package io.gameq.topic;

import io.gameq.ClaimLostException;
import io.gameq.GameQueueException;
import io.gameq.Retry;
import io.gameq.commit.MessageCommits;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.topic.NackMessageScript;
import io.gameq.redis.topic.TakenMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What became of messages, on its way to Redis: acknowledgements as commits, many in each, so that
 * the WAL has them first; failures by a script. Any thread adds; the consumer's sends. What is lost
 * with the process is handled again when its lease has run out.
 */
final class Outcomes {
  /** In one commit: a script of so many holds Redis for a millisecond. */
  static final int MOST_TOGETHER = 500;

  /** Of an error, in characters: enough for its class and message. */
  private static final int MOST_ERROR_CHARS = 500;

  private final MessageCommits commits;
  private final int mostAcks;
  private final SlotKeys[] slots;
  private final NackMessageScript nack;
  private final Retry retry;
  private final SubscriptionCounts counts;
  private final Runnable wake;

  private final Queue<MessageChange> acks = new ConcurrentLinkedQueue<>();

  /** Of commits of which one claim was lost: each alone now. */
  private final Queue<MessageChange> single = new ConcurrentLinkedQueue<>();

  private final Queue<NackMessageScript.Failure> nacks = new ConcurrentLinkedQueue<>();

  /** Handed in, without an answer of Redis, or waiting here. */
  private final AtomicInteger open = new AtomicInteger();

  /** With {@code wake} to have the consumer send what waits. */
  Outcomes(
      TopicNode node,
      NackMessageScript nack,
      Retry retry,
      SubscriptionCounts counts,
      Runnable wake) {
    this.commits = node.commits();
    this.mostAcks = Math.min(MOST_TOGETHER, node.commitMessages());
    this.slots = node.slots();
    this.nack = nack;
    this.retry = retry;
    this.counts = counts;
    this.wake = wake;
  }

  static ClaimLostException lost(MessageId id) {
    return new ClaimLostException(
        ("the lease of message %s ran out before it was acknowledged: it was, or will be, handled"
                + " again; take less time, extend the lease, or open the topic with a longer one")
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
    add(
        NackMessageScript.Failure.counted(
            taken, backoffMillis(retry, taken.attempts()), cut(error), nextDueMillis));
  }

  /**
   * An outage was in the way: the attempt does not count.
   *
   * @param leastMillis until the next attempt; longer where a failure would wait longer
   */
  void putOff(TakenMessage taken, long leastMillis, String why) {
    long afterMillis = Math.max(jittered(leastMillis), backoffMillis(retry, taken.attempts()));
    add(NackMessageScript.Failure.notCounted(taken, afterMillis, cut(why)));
  }

  private void add(NackMessageScript.Failure failure) {
    open.incrementAndGet();
    nacks.add(failure);
  }

  /** It was taken once more than it may be tried. */
  void giveUp(TakenMessage taken, Duration lease) {
    fail(taken, "the lease of its last attempt ran out", Schedule.nextDue(taken, lease));
  }

  static String cut(String error) {
    return error.length() <= MOST_ERROR_CHARS ? error : error.substring(0, MOST_ERROR_CHARS);
  }

  /** Of nobody's fault: it is due again at once, and the attempt does not count. */
  void giveBack(TakenMessage taken) {
    add(
        NackMessageScript.Failure.notCounted(
            taken, 0, "whoever took it did not wait for it any more"));
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
    int done = 0;
    for (MessageChange ack; (ack = single.peek()) != null; done++) {
      commit(List.of(ack));
      single.remove();
    }
    while (!acks.isEmpty()) {
      List<MessageChange> some = new ArrayList<>();
      for (MessageChange ack; some.size() < mostAcks && (ack = acks.poll()) != null; ) {
        some.add(ack);
      }
      try {
        commit(some);
      } catch (RuntimeException e) {
        acks.addAll(some);
        throw e;
      }
      done += some.size();
    }
    return done;
  }

  private void commit(List<MessageChange> some) {
    commits.commit(some, failure -> told(some, failure));
  }

  /** On the sender's thread. */
  private void told(List<MessageChange> some, @Nullable RuntimeException failure) {
    if (failure instanceof ClaimLostException && some.size() > 1) {
      single.addAll(some);
      wake.run();
      return;
    }
    if (failure == null) {
      counts.handled(some.size());
    } else if (failure instanceof ClaimLostException) {
      counts.lost(1);
    } else {
      counts.notAcknowledged(some.size(), failure); // handled again when the lease has run out
    }
    open.addAndGet(-some.size());
  }

  /**
   * Tells Redis of failures, over a connection that nobody else uses meanwhile; returns how many.
   * Throws GameQueueException when Redis does not answer: they wait here, and their leases run out
   * if it takes long.
   */
  int nack(RedisConnection redis) {
    List<NackMessageScript.Failure> some = new ArrayList<>();
    for (NackMessageScript.Failure failure;
        some.size() < MOST_TOGETHER && (failure = nacks.poll()) != null; ) {
      some.add(failure);
    }
    if (some.isEmpty()) {
      return 0;
    }
    List<NackMessageScript.Result> results;
    try {
      results = nack.call(redis, slots, some);
    } catch (GameQueueException e) {
      nacks.addAll(some);
      throw e;
    }
    for (NackMessageScript.Result result : results) {
      switch (result) {
        case DEAD -> counts.dead();
        case CLAIM_LOST -> counts.lost(1);
        default -> {} // tried again, or a newer message has taken its place
      }
    }
    open.addAndGet(-some.size());
    return some.size();
  }
}
