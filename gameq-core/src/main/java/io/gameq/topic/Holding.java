package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.redis.topic.TakenMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes deliveries of what was taken; settles at once what cannot be read, and occurrences that are
 * left out. Thread-safe.
 */
final class Holding<T> {
  /** Causes can go round in a circle. */
  private static final int MOST_CAUSES = 50;

  private final HeldMessage.Terms<T> terms;
  private final Outcomes outcomes;
  private final SubscriptionCounts counts;

  Holding(HeldMessage.Terms<T> terms, Outcomes outcomes, SubscriptionCounts counts) {
    this.terms = terms;
    this.outcomes = outcomes;
    this.counts = counts;
  }

  /**
   * Those that are to be handled.
   *
   * @param leaseEndNanos of all of them, by System.nanoTime
   */
  List<HeldMessage<T>> hold(List<TakenMessage> messages, long leaseEndNanos) {
    List<HeldMessage<T>> held = new ArrayList<>(messages.size());
    for (TakenMessage taken : messages) {
      hold(taken, leaseEndNanos, held);
    }
    return held;
  }

  private void hold(TakenMessage taken, long leaseEndNanos, List<HeldMessage<T>> held) {
    try {
      HeldMessage<T> message = new HeldMessage<>(taken, terms, leaseEndNanos);
      if (message.isLeftOut()) {
        outcomes.acknowledge(message.ack()); // with its next occurrence
      } else {
        held.add(message);
      }
    } catch (RuntimeException e) { // also what the constructor of the game's record throws
      counts.warnOf(e);
      counts.failed();
      outcomes.fail(
          taken,
          "the message cannot be read: " + text(e),
          Schedule.nextDue(taken, terms.options().lease()));
    }
  }

  /**
   * Whether an outage made a handler fail: the first of gameq's own exceptions among what was
   * thrown and its causes decides, as games wrap them.
   */
  static boolean isOutage(Throwable thrown) {
    Throwable cause = thrown;
    for (int depth = 0; cause != null && depth < MOST_CAUSES; depth++) {
      if (cause instanceof GameQueueException known) {
        return known.isOutage();
      }
      cause = cause.getCause();
    }
    return false;
  }

  /** As it is kept with a dead letter. */
  static String text(Throwable e) {
    return e.getMessage() == null
        ? e.getClass().getName()
        : e.getClass().getName() + ": " + e.getMessage();
  }
}
