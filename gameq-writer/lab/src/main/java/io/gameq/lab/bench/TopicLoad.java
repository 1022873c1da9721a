package io.gameq.lab.bench;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.lab.load.Threads;
import io.gameq.lab.workload.BenchException;
import io.gameq.topic.Publish;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Publishes and handles messages of 100 bytes as fast as they go. Used by one thread. */
final class TopicLoad {
  private static final int PAYLOAD_BYTES = 100;

  /** Commits of one thread that wait for Redis. */
  private static final int IN_FLIGHT = 64;

  private static final int DIGITS = 3;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final GameQueue queue;
  private final int threads;
  private final byte[] payload = new byte[PAYLOAD_BYTES];

  /** Which key a message has. */
  interface Keys extends IntFunction<String> {
    /** Each one of its own. */
    static Keys distinct() {
      return number -> "m" + number;
    }

    /** One of so many, by lot. */
    static Keys of(int different) {
      return number -> "m" + ThreadLocalRandom.current().nextInt(different);
    }
  }

  TopicLoad(GameQueue queue, int threads) {
    this.queue = queue;
    this.threads = threads;
  }

  private Topic<byte[]> topic(String name) {
    return queue.topic(name, TopicOptions.DEFAULT.lease(Duration.ofMinutes(5)));
  }

  /** Publishes so many messages, some in each commit; returns how many a second. */
  double publish(String name, int messages, int perCommit, Keys keys) throws InterruptedException {
    Topic<byte[]> topic = topic(name);
    long began = System.nanoTime();
    Threads.run(
        threads,
        "publish",
        thread -> {
          Deque<CommitReceipt> open = new ArrayDeque<>();
          List<Publish<byte[]>> some = new ArrayList<>();
          for (int i = thread; i < messages; i += threads) {
            some.add(Publish.of(keys.apply(i), payload));
            if (some.size() == perCommit) {
              send(topic, some, open);
            }
          }
          send(topic, some, open);
          open.forEach(receipt -> receipt.awaitQueued(LIMIT));
        });
    return messages / seconds(began);
  }

  private static void send(
      Topic<byte[]> topic, List<Publish<byte[]>> some, Deque<CommitReceipt> open) {
    if (some.isEmpty()) {
      return;
    }
    if (open.size() == IN_FLIGHT) {
      open.remove().awaitQueued(LIMIT);
    }
    open.add(some.size() == 1 ? topic.publish(some.get(0)) : topic.publish(List.copyOf(some)));
    some.clear();
  }

  /** Handles what was published; returns how many a second, acknowledged. */
  double handle(String name, int batch, long messages) throws InterruptedException {
    long began = System.nanoTime();
    try (Subscription running = subscribe(name, batch)) {
      awaitHandled(running, messages);
      return messages / seconds(began);
    }
  }

  /** Publishes and handles at once; returns how many a second went all the way. */
  double both(String name, int messages, int perCommit, int batch) throws InterruptedException {
    long began = System.nanoTime();
    try (Subscription running = subscribe(name, batch)) {
      double unused = publish(name, messages, perCommit, Keys.distinct());
      awaitHandled(running, messages);
      return messages / seconds(began);
    }
  }

  private Subscription subscribe(String name, int batch) {
    return topic(name)
        .subscribeBatch(messages -> {}, SubscribeOptions.DEFAULT.concurrency(4).batch(batch));
  }

  private static void awaitHandled(Subscription of, long messages) throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (of.counts().handled() < messages) {
      if (System.nanoTime() > deadline) {
        throw new BenchException(
            String.format(Locale.ROOT, "only %s of %,d messages", of.counts(), messages));
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  /** How late messages come to a handler that are due at a steady rate, ns. */
  Histogram timed(String name, int perSecond, int seconds) throws InterruptedException {
    Topic<byte[]> topic = topic(name);
    Instant first = Instant.now().plusSeconds(5);
    List<CommitReceipt> receipts = new ArrayList<>();
    List<Publish<byte[]>> some = new ArrayList<>();
    int messages = perSecond * seconds;
    for (int i = 0; i < messages; i++) {
      Instant due = first.plusNanos(i * (1_000_000_000L / perSecond));
      some.add(Publish.of("t" + i, payload).at(due));
      if (some.size() == 100) {
        receipts.add(topic.publish(List.copyOf(some)));
        some.clear();
      }
    }
    receipts.forEach(receipt -> receipt.awaitQueued(LIMIT));
    Histogram late = new ConcurrentHistogram(DIGITS);
    try (Subscription running =
        topic.subscribeBatch(
            batch -> {
              Instant now = Instant.now();
              batch.forEach(
                  one -> late.recordValue(Math.max(0, Duration.between(one.due(), now).toNanos())));
            },
            SubscribeOptions.DEFAULT.concurrency(4).batch(100))) {
      awaitHandled(running, messages);
    }
    return late;
  }

  /** Of what was published into a topic that nobody handled, the share that was merged away. */
  double mergedShare(String name, long published) {
    return 1 - topic(name).counts().pending() / (double) published;
  }

  private static double seconds(long sinceNanos) {
    return (System.nanoTime() - sinceNanos) / 1e9;
  }
}
