package io.gameq.topic;

import io.gameq.BatchHandler;
import io.gameq.ClaimLostException;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueueException;
import io.gameq.redis.topic.TakenMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a handler on messages that were taken, and finds out what became of each. On the threads of
 * the subscription. Thread-safe.
 */
final class Handling<T> {
  private final BatchHandler<T> handler;
  private final HeldMessage.Terms<T> terms;
  private final Outcomes outcomes;
  private final SubscriptionCounts counts;
  private final Pace pace;

  Handling(
      BatchHandler<T> handler,
      HeldMessage.Terms<T> terms,
      Outcomes outcomes,
      SubscriptionCounts counts,
      Pace pace) {
    this.handler = handler;
    this.terms = terms;
    this.outcomes = outcomes;
    this.counts = counts;
    this.pace = pace;
  }

  /**
   * Runs the handler on some messages; never throws.
   *
   * @param leaseEndNanos of all of them, by System.nanoTime
   */
  void run(List<TakenMessage> messages, long leaseEndNanos) {
    List<HeldMessage<T>> held = new ArrayList<>(messages.size());
    for (TakenMessage taken : messages) {
      hold(taken, leaseEndNanos, held);
    }
    if (held.isEmpty()) {
      return;
    }
    try {
      handler.handle(List.copyOf(held));
      pace.succeeded();
    } catch (Throwable e) { // the game's: whatever it is, its messages are tried again
      pace.failed();
      counts.warnOf(e);
      held.forEach(message -> message.fail(text(e)));
    }
    held.forEach(this::settle);
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

  /** As it is kept with a dead letter. */
  private static String text(Throwable e) {
    return e.getMessage() == null
        ? e.getClass().getName()
        : e.getClass().getName() + ": " + e.getMessage();
  }

  private void settle(HeldMessage<T> message) {
    switch (message.returned()) {
      case ACKNOWLEDGED -> settleCommitted(message);
      case RETURNED -> outcomes.acknowledge(message.ack());
      default -> fail(message, message.error());
    }
  }

  private void settleCommitted(HeldMessage<T> message) {
    try {
      message.awaitAcknowledged();
      counts.handled(1);
    } catch (ClaimLostException e) {
      counts.lost(1);
    } catch (CommitUnknownException e) { // its lease decides
      counts.notAcknowledged(1, e);
    } catch (GameQueueException e) {
      fail(message, text(e));
    }
  }

  private void fail(HeldMessage<T> message, String why) {
    counts.failed();
    outcomes.fail(message.taken(), why, message.nextDueMillis());
  }
}
