package io.gameq.subscription;

import io.gameq.CommitReceipt;
import io.gameq.OwnerSession;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.durability.Callbacks;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.topic.ConsumerScripts.HandledOwner;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.subscription.TopicPoller.Acknowledgements;
import io.gameq.topic.OwnerHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Handles the messages of a topic of owners by those sessions of this node that want them. It tells
 * Redis which owners these are, takes their messages and hands each to its session's executor.
 * Thread-safe.
 *
 * <p>Which node handles an owner is a hint: the session that owns decides when the rows of a
 * handler are committed. A node that is gone counts for 15 s more, see {@code handlers.lua}.
 */
final class OwnerConsumer {
  /** Messages that sessions have at a time. */
  private static final int MOST_RUNNING = 1_000;

  /** How often Redis is told that this node is there: a third of the time that it counts for. */
  private static final long SAY_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Owners told in one round. */
  private static final int MOST_CHANGES = 10_000;

  /** Of any session there will be. */
  private static final String LAST_EPOCH = "ffffffffffffffff";

  private static final long BUSY_MILLIS = 5_000;
  private static final long REFUSED_MILLIS = 1_000;
  private static final long CLOSE_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final OpenTopic<?> topic;
  private final AgentRunner runner;
  private final Acknowledgements acks;
  private final TopicPoller poller;

  /** By the owner's encoded id. */
  private final Map<String, Handling<?>> handled = new ConcurrentHashMap<>();

  /** What Redis is to be told. */
  private final Queue<HandledOwner> changes = new ConcurrentLinkedQueue<>();

  /**
   * Owners that are not handled here, which Redis is told before all changes: it may think
   * otherwise, as after a failover. The consumer's thread alone uses it.
   */
  private final List<HandledOwner> notHandled = new ArrayList<>();

  /** Messages that sessions have, or whose commits have no answer yet. */
  private final AtomicInteger running = new AtomicInteger();

  /** The connection over which everything was told; the consumer's thread alone uses it. */
  private @Nullable RedisConnection told;

  private volatile long sayNanos = System.nanoTime();

  /** A session that handles the messages of its owner. */
  private record Handling<T>(
      OpenTopic<T> topic,
      OwnerSession session,
      HandledOwner owner,
      Executor executor,
      OwnerHandler<T> handler,
      AtomicBoolean isBusy) {}

  OwnerConsumer(OpenTopic<?> topic) {
    this.topic = topic;
    this.runner = new AgentRunner("gameq-owners-" + topic.name());
    this.acks = new Acknowledgements(topic, runner::wake);
    this.poller =
        new TopicPoller(topic, acks, runner::wake, topic.node().process(), this::tellHandled);
  }

  void start() {
    runner.start(new ConsumerAgent());
  }

  // --- on the game's threads

  /**
   * Has a session handle the messages of its owner, in place of one before it.
   *
   * @param epoch of the session, 16 hex digits
   * @return ends that; to be called any number of times
   */
  <T> Runnable handle(
      OpenTopic<T> of,
      OwnerSession session,
      OwnerId owner,
      String epoch,
      Executor executor,
      OwnerHandler<T> handler) {
    Handling<T> its =
        new Handling<>(
            of,
            session,
            new HandledOwner(owner, epoch, true),
            executor,
            handler,
            new AtomicBoolean());
    handled.put(owner.encoded(), its);
    changes.add(its.owner);
    runner.wake();
    return () -> end(its);
  }

  private void end(Handling<?> its) {
    OwnerId owner = its.owner.owner();
    if (handled.remove(owner.encoded(), its)) {
      changes.add(new HandledOwner(owner, its.owner.epoch(), false));
      runner.wake();
    }
  }

  // --- on the consumer's thread

  private final class ConsumerAgent implements Agent {
    private boolean isFull;

    @Override
    public String name() {
      return "hand messages of topic '" + topic.name() + "' to their owners";
    }

    @Override
    public int doWork() {
      return poller.work(this::room, OwnerConsumer.this::deliver);
    }

    private int room() {
      int room = acks.isFull() ? 0 : MOST_RUNNING - running.get();
      isFull = room <= 0;
      return room;
    }

    @Override
    public long idleNanos() {
      long idle = isFull || poller.isHeldUp() ? TopicPoller.HELD_UP_NANOS : poller.waitNanos();
      return changes.isEmpty() ? Math.min(idle, Math.max(0, sayNanos - System.nanoTime())) : 0;
    }

    @Override
    public void close() {
      poller.close();
    }
  }

  /**
   * Tells Redis what has changed, and now and then that this node is there. Over a new connection,
   * and where Redis forgot this node, it tells everything.
   */
  private void tellHandled(RedisConnection redis) {
    boolean isNew = redis != told;
    if (!isNew && changes.isEmpty() && sayNanos - System.nanoTime() > 0) {
      return;
    }
    List<HandledOwner> some = new ArrayList<>(notHandled);
    for (HandledOwner one; some.size() < MOST_CHANGES && (one = changes.poll()) != null; ) {
      some.add(one);
    }
    try {
      told = null;
      Set<Integer> forgotten = topic.scripts().handle(redis, topic.node().process(), some);
      List<HandledOwner> again =
          handled.values().stream()
              .map(Handling::owner)
              .filter(of -> isNew || forgotten.contains(of.owner().slot(slots())))
              .toList();
      if (!again.isEmpty()) {
        var unused = topic.scripts().handle(redis, topic.node().process(), again);
      }
    } catch (RuntimeException e) { // what is handled is told anyway over the next connection
      notHandled.clear();
      some.stream().filter(of -> !of.isHandled()).forEach(notHandled::add);
      throw e;
    }
    notHandled.clear();
    told = redis;
    sayNanos = System.nanoTime() + SAY_NANOS;
  }

  private int slots() {
    return topic.definition().slots();
  }

  private void deliver(List<TakenMessage> taken) {
    for (TakenMessage message : taken) {
      Handling<?> of = handled.get(message.id().lane().replace(":", ""));
      if (of == null) { // its session has ended meanwhile, or Redis forgot that it had
        acks.giveBack(message);
        OwnerId owner = OwnerId.ofEncoded(message.id().lane().replace(":", ""));
        notHandled.add(new HandledOwner(owner, LAST_EPOCH, false));
        sayNanos = System.nanoTime();
      } else {
        deliver(of, message);
      }
    }
  }

  private void deliver(Handling<?> of, TakenMessage message) {
    if (!of.isBusy.compareAndSet(false, true)) { // beyond its lease
      acks.giveBack(message, BUSY_MILLIS, "the handler of the message before it still runs");
      return;
    }
    running.incrementAndGet();
    try {
      of.executor.execute(() -> run(of, message));
    } catch (RejectedExecutionException e) {
      of.isBusy.set(false);
      acks.giveBack(message, REFUSED_MILLIS, "the executor of its owner's session refused it");
      ended();
    }
  }

  private void ended() {
    running.decrementAndGet();
    runner.wake();
  }

  // --- on the executors of sessions

  /** Never throws. */
  private <T> void run(Handling<T> of, TakenMessage taken) {
    TopicDelivery<T> message = null;
    CommitReceipt receipt = null;
    try {
      List<TopicDelivery<T>> held = TopicDelivery.hold(of.topic, List.of(taken), acks);
      if (!held.isEmpty()) {
        message = held.get(0);
        receipt = message.handle(of.session, of.handler);
        if (message.elsewhereMillis() >= 0) {
          end(of); // its session has ended, and would refuse every message
        }
      }
    } finally {
      of.isBusy.set(false);
      settle(message, receipt);
    }
  }

  private void settle(@Nullable TopicDelivery<?> message, @Nullable CommitReceipt receipt) {
    if (message == null) {
      ended();
    } else if (receipt == null) {
      String why = message.error();
      boolean unused =
          message.notHandled(why == null ? "" : why, message.isOutage(), acks, () -> 0);
      ended();
    } else {
      var unused =
          receipt
              .queued()
              .whenComplete(
                  (nothing, failure) -> {
                    if (failure == null) {
                      acks.handled(1);
                    } else {
                      boolean ignored =
                          message.notCommitted(Callbacks.cause(failure), acks, () -> 0);
                    }
                    ended();
                  });
    }
  }

  // --- close

  /** Takes nothing more; waits for what runs, and tells Redis that nothing is handled here. */
  void close(long deadlineNanos) {
    pause();
    await(() -> !poller.isTaking() && running.get() == 0 && acks.open() == 0, deadlineNanos);
    handled.values().forEach(this::end);
    await(changes::isEmpty, deadlineNanos);
    runner.close();
  }

  /** Takes nothing from now on. */
  void pause() {
    poller.pause(true);
  }

  private void await(BooleanSupplier isDone, long deadlineNanos) {
    while (!isDone.getAsBoolean()
        && deadlineNanos - System.nanoTime() > 0
        && !Thread.currentThread().isInterrupted()) {
      runner.wake();
      LockSupport.parkNanos(this, CLOSE_LOOK_NANOS);
    }
  }
}
