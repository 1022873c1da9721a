package io.gameq.subscription;

import io.gameq.CommitReceipt;
import io.gameq.OwnerSession;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.durability.Callbacks;
import io.gameq.durability.TrackedCommit;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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

  /** Messages that sessions have, or whose commits have no answer yet. */
  private final AtomicInteger running = new AtomicInteger();

  /** The connection over which everything was told; the consumer's thread alone uses it. */
  private @Nullable RedisConnection told;

  private volatile long sayNanos = System.nanoTime();

  /**
   * A session that handles the messages of its owner.
   *
   * @param task what its executor has, or runs
   */
  private record Handling<T>(
      OpenTopic<T> topic,
      OwnerSession session,
      HandledOwner owner,
      Executor executor,
      OwnerHandler<T> handler,
      AtomicReference<@Nullable Task<T>> task) {}

  /** Has a message handled, once, unless it was taken back: its executor may never begin. */
  private final class Task<T> implements Runnable {
    private final Handling<T> of;
    private final AtomicReference<@Nullable TakenMessage> waits;

    Task(Handling<T> of, TakenMessage message) {
      this.of = of;
      this.waits = new AtomicReference<>(message);
    }

    /** The message if nobody has begun to handle it; then nobody does. */
    @Nullable TakenMessage takeBack() {
      TakenMessage message = waits.getAndSet(null);
      if (message != null) {
        of.task.compareAndSet(this, null);
        ended();
      }
      return message;
    }

    boolean isOverdue() {
      TakenMessage message = waits.get();
      return message != null && isOver(message);
    }

    @Override
    public void run() {
      TakenMessage message = waits.getAndSet(null);
      if (message != null) {
        OwnerConsumer.this.run(this, message);
      }
    }
  }

  private static boolean isOver(TakenMessage lease) {
    return lease.leaseEndNanos() - System.nanoTime() <= 0;
  }

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
            new AtomicReference<>());
    var unused =
        handled.compute(
            owner.encoded(),
            (id, before) -> {
              if (before != null) {
                if (before.owner.epoch().compareTo(epoch) > 0) {
                  return before; // a later session of this node has the owner
                }
                giveBack(before);
              }
              changes.add(its.owner);
              return its;
            });
    runner.wake();
    return () -> end(its);
  }

  private void end(Handling<?> its) {
    OwnerId owner = its.owner.owner();
    if (handled.remove(owner.encoded(), its)) {
      changes.add(new HandledOwner(owner, its.owner.epoch(), false));
      giveBack(its);
      runner.wake();
    }
  }

  /** What its executor has not begun is for whoever handles the owner next. */
  private void giveBack(Handling<?> its) {
    Task<?> task = its.task.get();
    TakenMessage message = task == null ? null : task.takeBack();
    if (message != null) {
      acks.giveBack(message);
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
      if (running.get() >= MOST_RUNNING) {
        forgetOverdue();
      }
      int room = acks.isFull() ? 0 : MOST_RUNNING - running.get();
      isFull = room <= 0;
      return room;
    }

    @Override
    public long idleNanos() {
      if (handled.isEmpty() && changes.isEmpty() && acks.open() == 0) {
        return SAY_NANOS; // whoever handles something wakes it
      }
      long idle =
          isFull || handled.isEmpty() || poller.isHeldUp()
              ? TopicPoller.HELD_UP_NANOS
              : poller.waitNanos();
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
    List<HandledOwner> some = new ArrayList<>();
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
    } catch (RuntimeException e) {
      // What is handled is told again, by all of it. An end must not come before its beginning; one
      // that comes after a later session's changes nothing.
      some.stream().filter(of -> !of.isHandled() && !of.epoch().isEmpty()).forEach(changes::add);
      throw e;
    }
    told = redis;
    sayNanos = System.nanoTime() + SAY_NANOS;
  }

  private int slots() {
    return topic.definition().slots();
  }

  private void deliver(List<TakenMessage> taken) {
    for (TakenMessage message : taken) {
      Handling<?> of =
          handled.computeIfAbsent(
              message.id().lane().replace(":", ""),
              owner -> { // its session has ended meanwhile, or a lost call came after its end
                changes.add(new HandledOwner(OwnerId.ofEncoded(owner), "", false));
                return null;
              });
      if (of == null) {
        acks.giveBack(message);
      } else {
        deliver(of, message);
      }
    }
  }

  private <T> void deliver(Handling<T> of, TakenMessage message) {
    Task<T> before = of.task.get();
    if (before != null && before.takeBack() == null) { // it runs beyond its lease
      acks.giveBack(message, BUSY_MILLIS, "the handler of the message before it still runs");
      return;
    }
    Task<T> task = new Task<>(of, message);
    of.task.set(task);
    running.incrementAndGet();
    if (!of.equals(handled.get(of.owner.owner().encoded()))) {
      giveBack(of); // it ended meanwhile
      return;
    }
    try {
      of.executor.execute(task);
    } catch (RuntimeException | Error e) { // the game's, whatever it is
      if (task.takeBack() != null) {
        String why = "the executor of its owner's session refused it: ";
        acks.giveBack(message, REFUSED_MILLIS, why + TopicDelivery.text(e));
      }
    }
  }

  /** Executors that stand still, or dropped what they had, hold up others for a lease at most. */
  private void forgetOverdue() {
    for (Handling<?> of : handled.values()) {
      Task<?> task = of.task.get();
      if (task != null && task.isOverdue()) {
        TakenMessage unused = task.takeBack(); // its lease has given it back
      }
    }
  }

  private void ended() {
    running.decrementAndGet();
    runner.wake();
  }

  // --- on the executors of sessions

  private <T> void run(Task<T> task, TakenMessage taken) {
    Handling<T> of = task.of;
    TopicDelivery<T> message = null;
    CommitReceipt receipt = null;
    try {
      if (isOver(taken)) { // its commit would be refused, and end the session
        acks.lost();
        return;
      }
      List<TopicDelivery<T>> held = TopicDelivery.hold(of.topic, List.of(taken), acks);
      if (!held.isEmpty()) {
        message = held.get(0);
        receipt = message.handle(of.session, of.handler);
        Throwable thrown = message.thrown();
        if (thrown != null) {
          acks.warnOf(thrown);
        }
        if (receipt == null && !of.equals(handled.get(of.owner.owner().encoded()))) {
          message.elsewhere("its session ended", 0); // which is no attempt
        }
      }
    } finally {
      of.task.compareAndSet(task, null);
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
      var unused = // on the sender's thread: callbacks of the game may be held up
          ((TrackedCommit.Receipt) receipt)
              .outcome()
              .whenComplete(
                  (nothing, failure) -> {
                    try {
                      if (failure == null) {
                        acks.handled(1);
                      } else {
                        boolean ignored =
                            message.notCommitted(Callbacks.cause(failure), acks, () -> 0);
                      }
                    } finally {
                      ended();
                    }
                  });
    }
  }

  // --- close

  /** Takes nothing more; waits for what runs, and tells Redis that nothing is handled here. */
  void close(long deadlineNanos) {
    pause();
    await(() -> !poller.isTaking(), deadlineNanos);
    handled.values().forEach(this::end);
    await(() -> running.get() == 0 && acks.open() == 0 && changes.isEmpty(), deadlineNanos);
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
