package io.gameq.topic;

import io.gameq.Subscription;
import io.gameq.log.RepeatedWarnings;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts what a subscription does, and logs what goes wrong, once a minute. Thread-safe. */
final class SubscriptionCounts {
  private static final Logger LOG = LoggerFactory.getLogger(SubscriptionCounts.class);
  private static final long LOG_EVERY_SECONDS = 60;

  private final String topic;
  private final Pace pace;
  private final RepeatedWarnings warnings = new RepeatedWarnings(LOG_EVERY_SECONDS);
  private final LongAdder handled = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder dead = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final AtomicInteger running = new AtomicInteger();

  SubscriptionCounts(String topic, Pace pace) {
    this.topic = topic;
    this.pace = pace;
  }

  void began(int messages) {
    running.addAndGet(messages);
  }

  void ended(int messages) {
    running.addAndGet(-messages);
  }

  int running() {
    return running.get();
  }

  void handled(int messages) {
    handled.add(messages);
  }

  void failed() {
    failed.increment();
  }

  /** Names the error's class alone: its message may hold what the game keeps to itself. */
  void warnOf(Throwable error) {
    warnings.about(
        error.getClass().getName(),
        LOG::warn,
        () ->
            "a handler of topic '%s' failed: %s; its messages are tried again"
                .formatted(topic, error.getClass().getName()));
  }

  void dead() {
    dead.increment();
    warnings.about(
        "dead", LOG::warn, () -> "a message of topic '%s' is a dead letter now".formatted(topic));
  }

  void lost(int messages) {
    lost.add(messages);
    warnings.about(
        "lost",
        LOG::warn,
        () ->
            ("a lease of topic '%s' ran out before the acknowledgement: the message is handled"
                    + " again; handlers take longer than the lease")
                .formatted(topic));
  }

  void notAcknowledged(int messages, RuntimeException failure) {
    warnings.about(
        "ack " + failure.getClass().getName(),
        LOG::warn,
        () ->
            ("%d messages of topic '%s' were handled and not acknowledged, so they are handled"
                    + " again: %s")
                .formatted(messages, topic, failure.getMessage()));
  }

  Subscription.Counts now() {
    return new Subscription.Counts(
        handled.sum(), failed.sum(), dead.sum(), lost.sum(), running.get(), pace.handlers());
  }
}
