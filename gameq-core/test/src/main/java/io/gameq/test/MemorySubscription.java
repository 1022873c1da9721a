package io.gameq.test;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.subscription.Schedule;
import io.gameq.subscription.TopicDelivery;
import io.gameq.subscription.TopicDelivery.Handling;
import io.gameq.topic.BatchHandler;
import io.gameq.topic.ClaimLostException;
import io.gameq.topic.Retry;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Handles messages of a topic in memory, on the thread that makes them due. A retry waits for all
 * of its delay, without jitter. Thread-safe.
 */
final class MemorySubscription<T> implements Subscription {
  private final MemoryMessages messages;
  private final MemoryMessages.Box box;
  private final Handling<T> handling;
  private final BatchHandler<T> handler;
  private final SubscribeOptions options;
  private final Predicate<String> lanes;
  private boolean isPaused;
  private boolean isClosed;
  private long handled;
  private long failed;
  private long dead;
  private long lost;

  /** With the lanes that it takes. */
  MemorySubscription(
      MemoryMessages messages,
      MemoryMessages.Box box,
      Handling<T> handling,
      BatchHandler<T> handler,
      SubscribeOptions options,
      Predicate<String> lanes) {
    this.messages = messages;
    this.box = box;
    this.handling = handling;
    this.handler = handler;
    this.options = options;
    this.lanes = lanes;
  }

  boolean takes(String lane) {
    return lanes.test(lane);
  }

  MemoryMessages.Box box() {
    return box;
  }

  synchronized boolean isPaused() {
    return isPaused || isClosed;
  }

  /** Has the handler run once, if anything is due; returns whether it was. */
  boolean handleSome() {
    List<TakenMessage> taken =
        isPaused() ? List.of() : messages.take(box, options.batch(), this::takes);
    List<TopicDelivery<T>> held = new ArrayList<>();
    for (TakenMessage one : taken) {
      try {
        TopicDelivery<T> delivery = new TopicDelivery<>(one, handling);
        if (delivery.isLeftOut()) {
          acknowledge(delivery);
        } else {
          held.add(delivery);
        }
      } catch (RuntimeException e) { // also what the constructor of the game's record throws
        fail(
            one,
            "the message cannot be read: " + TopicDelivery.text(e),
            true,
            Schedule.nextDue(one, handling.options().lease()));
      }
    }
    if (!held.isEmpty()) {
      try {
        handler.handle(List.copyOf(held));
      } catch (Throwable e) { // the game's: whatever it is, its messages are tried again
        held.forEach(message -> message.fail(e));
      }
      held.forEach(this::settle);
    }
    return !taken.isEmpty();
  }

  private void settle(TopicDelivery<T> message) {
    CommitReceipt receipt = message.returned();
    String error = message.error();
    if (receipt != null) {
      settle(message, receipt);
    } else if (message.elsewhereMillis() >= 0) {
      boolean unused =
          messages.fail(message.taken, String.valueOf(error), message.elsewhereMillis(), false, 0);
    } else if (error != null) {
      fail(message.taken, error, !message.isOutage(), message.nextDueMillis());
    } else {
      acknowledge(message);
    }
  }

  private void settle(TopicDelivery<T> message, CommitReceipt receipt) {
    try {
      receipt.awaitQueued(Duration.ZERO);
      count(() -> handled++);
    } catch (ClaimLostException e) {
      count(() -> lost++);
    } catch (GameQueueException e) {
      fail(message.taken, TopicDelivery.text(e), !e.isOutage(), message.nextDueMillis());
    }
  }

  private void acknowledge(TopicDelivery<T> message) {
    try {
      handling.commits().commit(List.of(message.ack())).awaitQueued(Duration.ZERO);
      count(() -> handled++);
    } catch (ClaimLostException e) {
      count(() -> lost++);
    } catch (GameQueueException e) { // a fault: it is handled again
      fail(message.taken, TopicDelivery.text(e), false, 0);
    }
  }

  private void fail(TakenMessage taken, String why, boolean counts, long nextDue) {
    Retry retry = handling.options().retry();
    int failure = Math.min(taken.attempts(), retry.delays().size());
    boolean isDead =
        messages.fail(taken, why, retry.delays().get(failure - 1).toMillis(), counts, nextDue);
    count(
        () -> {
          failed++;
          dead += isDead ? 1 : 0;
        });
  }

  private synchronized void count(Runnable one) {
    one.run();
  }

  @Override
  public synchronized void pause() {
    requireOpen();
    isPaused = true;
  }

  @Override
  public void resume() {
    synchronized (this) {
      requireOpen();
      isPaused = false;
    }
    messages.handleDue();
  }

  private void requireOpen() {
    if (isClosed) {
      throw new ClosedException("the subscription is closed: subscribe anew");
    }
  }

  @Override
  public synchronized Counts counts() {
    return new Counts(handled, failed, dead, lost, 0, options.concurrency());
  }

  @Override
  public boolean close(Duration timeout) {
    synchronized (this) {
      isClosed = true;
    }
    messages.remove(this);
    return true;
  }

  @Override
  public void close() {
    boolean unused = close(Duration.ZERO);
  }
}
