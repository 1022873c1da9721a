package io.gameq.subscription;

import io.gameq.ClosedException;
import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.subscription.TopicPoller.Acknowledgements;
import io.gameq.topic.BatchHandler;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A node's share in handling a topic's messages. The consumer's thread stands between Redis and the
 * handlers: it sends what became of messages, then takes as many as there are free handlers for.
 * The handlers run on threads of their own. Thread-safe.
 *
 * <p>Nothing is taken ahead of a free handler: a lease is not to run out in a queue.
 */
final class TopicSubscription<T> implements Subscription {
  private static final long CLOSE_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long IDLE_SECONDS = 60;

  private final OpenTopic<T> topic;
  private final BatchHandler<T> handler;
  private final int batch;
  private final Consumer<Subscription> closed;
  private final RateLimiter limiter;
  private final AgentRunner runner;
  private final Acknowledgements acks;
  private final TopicPoller poller;
  private final ExecutorService threads;

  /** Those of {@link #threads} that run a handler. */
  private final Set<Thread> handling = ConcurrentHashMap.newKeySet();

  /** Handlers that run, or are about to. */
  private final AtomicInteger busy = new AtomicInteger();

  /** Messages that they have. */
  private final AtomicInteger running = new AtomicInteger();

  private boolean isClosing;

  /**
   * Of a topic, or of the owners in a topic of owners that nobody handles.
   *
   * @param closed to be told once it is
   */
  TopicSubscription(
      OpenTopic<T> topic,
      BatchHandler<T> handler,
      SubscribeOptions with,
      Consumer<Subscription> closed) {
    this.topic = topic;
    this.handler = handler;
    this.batch = with.batch();
    this.closed = closed;
    this.limiter = new RateLimiter(with.concurrency(), with.perSecond());
    this.runner = new AgentRunner("gameq-topic-" + topic.name());
    this.acks = new Acknowledgements(topic, runner::wake);
    String process = topic.definition().hasOwners() ? "" : null;
    this.poller = new TopicPoller(topic, acks, runner::wake, process, redis -> {});
    this.threads =
        DaemonThreads.pool("gameq-handler-" + topic.name(), with.concurrency(), IDLE_SECONDS);
  }

  void start() {
    runner.start(new ConsumerAgent());
  }

  // --- on the consumer's thread

  private final class ConsumerAgent implements Agent {
    private boolean isFull;

    @Override
    public String name() {
      return "take messages of topic '" + topic.name() + "'";
    }

    @Override
    public int doWork() {
      return poller.work(this::room, this::deliver);
    }

    private int room() {
      int free = acks.isFull() ? 0 : Math.max(0, limiter.handlers() - busy.get());
      int allowed = limiter.messages();
      isFull = free == 0 && allowed > 0; // a handler that ends wakes it
      return Math.min(free * batch, allowed);
    }

    private void deliver(List<TakenMessage> taken) {
      limiter.took(taken.size());
      for (List<TakenMessage> some : LuaScript.pieces(taken, batch)) {
        busy.incrementAndGet();
        running.addAndGet(some.size());
        threads.execute(() -> run(some));
      }
    }

    @Override
    public long idleNanos() {
      return isFull || poller.isHeldUp()
          ? TopicPoller.HELD_UP_NANOS
          : Math.max(poller.waitNanos(), limiter.waitNanos());
    }

    @Override
    public void close() {
      poller.close();
    }
  }

  // --- on the threads of handlers

  private void run(List<TakenMessage> some) {
    handling.add(Thread.currentThread());
    try {
      handle(some);
    } finally {
      handling.remove(Thread.currentThread());
      running.addAndGet(-some.size());
      busy.decrementAndGet();
      runner.wake();
    }
  }

  /** Runs the handler on some messages, and finds out what became of each; never throws. */
  private void handle(List<TakenMessage> some) {
    List<TopicDelivery<T>> held = TopicDelivery.hold(topic, some, acks);
    if (held.isEmpty()) {
      return;
    }
    boolean succeeded = true;
    try {
      handler.handle(List.copyOf(held));
    } catch (Throwable e) { // the game's: whatever it is, its messages are tried again
      succeeded = false;
      limiter.failed();
      acks.warnOf(e);
      held.forEach(message -> message.fail(e));
    }
    for (TopicDelivery<T> message : held) {
      Throwable thrown = message.thrown(); // by the handler of an owner that was opened for it
      if (thrown != null) {
        succeeded = false;
        limiter.failed();
        acks.warnOf(thrown);
      }
      succeeded &= settle(message);
    }
    if (succeeded) {
      limiter.succeeded();
    }
  }

  /** False where an outage is in the way. */
  private boolean settle(TopicDelivery<T> message) {
    CommitReceipt receipt = message.returned();
    String error = message.error();
    if (receipt != null) {
      return settle(message, receipt);
    }
    if (error != null) {
      return message.notHandled(error, message.isOutage(), acks, limiter::outage);
    }
    acks.acknowledge(message.ack());
    return true;
  }

  /** Waits for what the handler has committed, until the lease ends. */
  private boolean settle(TopicDelivery<T> message, CommitReceipt receipt) {
    try {
      receipt.awaitQueued(message.remaining().plusMillis(1));
      acks.handled(1);
    } catch (GameQueueException e) {
      return message.notCommitted(e, acks, limiter::outage);
    }
    return true;
  }

  // --- on the game's threads

  @Override
  public synchronized void pause() {
    requireOpen();
    poller.pause(true);
  }

  @Override
  public synchronized void resume() {
    requireOpen();
    poller.pause(false);
    runner.wake();
  }

  private void requireOpen() {
    if (isClosing) {
      throw new ClosedException("the subscription is closed: subscribe anew");
    }
  }

  @Override
  public Counts counts() {
    return acks.counts(running.get(), limiter.handlers());
  }

  @Override
  public void close() {
    boolean unused = close(topic.node().config().callTimeout());
  }

  @Override
  public boolean close(Duration timeout) {
    synchronized (this) {
      if (isClosing) {
        return !isBusy();
      }
      isClosing = true;
    }
    poller.pause(true);
    if (handling.contains(Thread.currentThread())) { // it cannot wait for its own end
      DaemonThreads.named("gameq-close", () -> end(timeout)).start();
      return false;
    }
    return end(timeout);
  }

  private boolean end(Duration timeout) {
    boolean ended = awaitEnd(System.nanoTime() + timeout.toNanos());
    if (ended) {
      threads.shutdown();
    } else {
      threads.shutdownNow();
    }
    runner.close();
    closed.accept(this);
    return ended;
  }

  private boolean isBusy() {
    return poller.isTaking() || busy.get() > 0 || acks.open() > 0;
  }

  private boolean awaitEnd(long deadlineNanos) {
    while (isBusy()) {
      if (deadlineNanos - System.nanoTime() <= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      runner.wake();
      LockSupport.parkNanos(this, CLOSE_LOOK_NANOS);
    }
    return true;
  }

  /**
   * How much a subscription takes on: no more than its rate, and fewer handlers at a time while
   * they fail: a failure takes a third, a success gives a part of one back (AIMD, as TCP does), so
   * that at 10 % failures about five run, at 1 % about 18. Thread-safe.
   */
  static final class RateLimiter {
    private static final double AFTER_FAILURE = 0.7;

    /** What may be taken at once after a rest, of a second's messages. */
    private static final double BURST_SECONDS = 0.1;

    /** An outage that is over is noticed within this. */
    private static final long MOST_OUTAGE_MILLIS = 30_000;

    private final int most;
    private final double perSecond;
    private double allowed;
    private double tokens;
    private long nanos = System.nanoTime();
    private long outageNanos;
    private boolean isOutage;

    /** With {@code perSecond} 0 for no limit. */
    RateLimiter(int most, double perSecond) {
      this.most = most;
      this.perSecond = perSecond;
      this.allowed = most;
      this.tokens = Math.max(1, perSecond * BURST_SECONDS);
    }

    synchronized void succeeded() {
      isOutage = false;
      allowed = Math.min(most, allowed + 1 / allowed);
    }

    synchronized void failed() {
      allowed = Math.max(1, allowed * AFTER_FAILURE);
    }

    /**
     * A failure that is an outage's: how long its message waits at least, ms. As long as the outage
     * lasts already, so that the waits grow by themselves, but 30 s at most.
     */
    synchronized long outage() {
      failed();
      long now = System.nanoTime();
      if (!isOutage) {
        isOutage = true;
        outageNanos = now;
      }
      return Math.min(MOST_OUTAGE_MILLIS, TimeUnit.NANOSECONDS.toMillis(now - outageNanos));
    }

    /** How many handlers may run at a time. */
    synchronized int handlers() {
      return (int) allowed;
    }

    /** How many messages may be taken now, by the rate. */
    synchronized int messages() {
      if (perSecond == 0) {
        return Integer.MAX_VALUE;
      }
      long now = System.nanoTime();
      tokens =
          Math.min(
              Math.max(1, perSecond * BURST_SECONDS), tokens + (now - nanos) / 1e9 * perSecond);
      nanos = now;
      return (int) tokens;
    }

    synchronized void took(int messages) {
      if (perSecond != 0) {
        tokens -= messages;
      }
    }

    /** Until the rate allows another message, ns. */
    synchronized long waitNanos() {
      return perSecond == 0 || tokens >= 1
          ? 0
          : (long) ((1 - tokens) / perSecond * TimeUnit.SECONDS.toNanos(1)) + 1;
    }
  }
}
