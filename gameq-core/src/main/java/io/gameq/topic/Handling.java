package io.gameq.topic;

import io.gameq.BatchHandler;
import io.gameq.ClaimLostException;
import io.gameq.CommitPendingException;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueueException;
import io.gameq.redis.topic.TakenMessage;
import java.util.List;

/**
 * Runs a handler on messages that were taken, and finds out what became of each. On the threads of
 * the subscription. Thread-safe.
 */
final class Handling<T> {
  private final BatchHandler<T> handler;
  private final Holding<T> holding;
  private final Outcomes outcomes;
  private final SubscriptionCounts counts;
  private final Pace pace;

  Handling(
      BatchHandler<T> handler,
      Holding<T> holding,
      Outcomes outcomes,
      SubscriptionCounts counts,
      Pace pace) {
    this.handler = handler;
    this.holding = holding;
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
    List<HeldMessage<T>> held = holding.hold(messages, leaseEndNanos);
    if (held.isEmpty()) {
      return;
    }
    boolean succeeded = true;
    try {
      handler.handle(List.copyOf(held));
    } catch (Throwable e) { // the game's: whatever it is, its messages are tried again
      succeeded = false;
      pace.failed();
      counts.warnOf(e);
      held.forEach(message -> message.fail(e));
    }
    for (HeldMessage<T> message : held) {
      succeeded &= settle(message);
    }
    if (succeeded) {
      pace.succeeded();
    }
  }

  /** False where an outage is in the way. */
  private boolean settle(HeldMessage<T> message) {
    return switch (message.returned()) {
      case ACKNOWLEDGED -> settleCommitted(message);
      case RETURNED -> {
        outcomes.acknowledge(message.ack());
        yield true;
      }
      default -> fail(message, message.error(), message.isOutage());
    };
  }

  private boolean settleCommitted(HeldMessage<T> message) {
    try {
      message.awaitAcknowledged();
      counts.handled(1);
    } catch (ClaimLostException | CommitPendingException e) {
      counts.lost(1); // not given back if it may yet count: that its lease ran out is to be noted
    } catch (CommitUnknownException e) { // its lease decides
      counts.notAcknowledged(1, e);
    } catch (GameQueueException e) {
      return fail(message, Holding.text(e), e.isOutage());
    }
    return true;
  }

  private boolean fail(HeldMessage<T> message, String why, boolean isOutage) {
    counts.failed();
    if (isOutage) {
      outcomes.putOff(message.taken(), pace.outage(), why);
    } else {
      outcomes.fail(message.taken(), why, message.nextDueMillis());
    }
    return !isOutage;
  }
}
