package io.gameq.topic;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.topic.ConsumerScripts;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Takes messages of a topic for those who wait for some, the first first; asks Redis for nothing
 * while nobody does. Its thread is that of its runner; {@link #take} is for any.
 */
final class ClaimTaking implements Agent {
  private static final int MOST_WAITING = 1_000;

  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Taker.Taken NOTHING = new Taker.Taken(List.of(), 0, null);

  private final String topic;
  private final AgentRunner runner;
  final Outcomes outcomes;
  private final Taker taker;
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private boolean isClosed;
  private boolean isHeldUp;

  /** Somebody who waits; {@code hasLooked} once Redis was asked meanwhile. */
  private static final class Waiting {
    private final int most;
    private final long deadlineNanos;
    private final CompletableFuture<Taker.Taken> future = new CompletableFuture<>();
    private boolean hasLooked;

    Waiting(int most, long deadlineNanos) {
      this.most = most;
      this.deadlineNanos = deadlineNanos;
    }

    /** It gets nothing: for a failure, or since there is nothing. */
    void end(@Nullable GameQueueException failure) {
      if (failure == null) {
        future.complete(NOTHING);
      } else {
        future.completeExceptionally(failure);
      }
    }
  }

  ClaimTaking(OpenTopic<?> of) {
    this.topic = of.name();
    this.runner = new AgentRunner("gameq-claims-" + topic);
    this.outcomes = new Outcomes(of, runner::wake);
    this.taker = new Taker(of, outcomes, runner::wake);
  }

  void start() {
    runner.start(this);
  }

  /**
   * Waits for messages; see {@link io.gameq.Claims#take}. The future completes on the thread that
   * takes: what hangs on it must be quick.
   */
  CompletableFuture<Taker.Taken> take(int most, Duration wait) {
    Waiting one = new Waiting(most, System.nanoTime() + wait.toNanos());
    if (wait.isZero()) {
      taker.noticeAll(); // it waits for no notice: all slots are looked at before its end
    }
    synchronized (waiting) {
      if (isClosed) {
        throw new ClosedException("the node is closed: nothing is taken any more");
      }
      if (waiting.size() >= MOST_WAITING) {
        throw new QueueFullException(
            "%s wait for messages of topic '%s' already".formatted(MOST_WAITING, topic));
      }
      waiting.add(one);
    }
    runner.wake();
    return one.future;
  }

  @Override
  public String name() {
    return "take messages of topic '" + topic + "' for those who wait";
  }

  @Override
  public int doWork() {
    int room = room();
    isHeldUp = room > 0;
    if (room == 0 && outcomes.open() == 0) {
      return 0;
    }
    try {
      return taker.work(redis -> take(redis, room));
    } catch (RedisUnavailableException e) {
      end(e);
      throw e;
    } finally {
      expire();
    }
  }

  private int room() {
    synchronized (waiting) {
      waiting.removeIf(of -> of.future.isDone()); // who was cancelled
      return Math.min(ConsumerScripts.MOST_TAKEN, waiting.stream().mapToInt(of -> of.most).sum());
    }
  }

  private int take(RedisConnection redis, int room) {
    synchronized (waiting) {
      waiting.forEach(of -> of.hasLooked = true);
    }
    if (room == 0 || !taker.begin()) {
      return 0;
    }
    try {
      isHeldUp = false;
      return taker.take(redis, room, this::deliver);
    } finally {
      taker.end();
    }
  }

  /** Always 1: there may be more at once. */
  private int deliver(Taker.Taken taken) {
    int from = 0;
    while (from < taken.messages().size()) {
      Waiting next;
      synchronized (waiting) {
        next = waiting.poll();
      }
      if (next == null) {
        giveBack(taken.part(from, Integer.MAX_VALUE)); // who waited for it was cancelled
        return 1;
      }
      Taker.Taken some = taken.part(from, next.most);
      if (next.future.complete(some)) {
        from += some.messages().size();
      }
    }
    return 1;
  }

  /** Of whoever does not want them any more. */
  void giveBack(Taker.Taken taken) {
    taken.messages().forEach(outcomes::giveBack);
    runner.wake();
  }

  /** Whose time is up gets nothing, once all that may be due has been looked at. */
  private void expire() {
    long now = System.nanoTime();
    boolean isMoreToLook = !isHeldUp && taker.waitNanos() == 0;
    List<Waiting> over = new ArrayList<>(0);
    synchronized (waiting) {
      waiting.removeIf(
          of -> {
            long late = now - of.deadlineNanos;
            boolean isOver = late >= 0 && (!isMoreToLook || late > IDLE_NANOS);
            return isOver && over.add(of);
          });
    }
    for (Waiting of : over) {
      of.end(
          of.hasLooked
              ? null
              : new RedisUnavailableException(
                  "messages of topic '"
                      + topic
                      + "' cannot be taken: Redis is away, or the node"
                      + " puts back what Redis lost"));
    }
  }

  private void end(@Nullable GameQueueException failure) {
    List<Waiting> all;
    synchronized (waiting) {
      all = List.copyOf(waiting);
      waiting.clear();
    }
    all.forEach(of -> of.end(failure));
  }

  @Override
  public long idleNanos() {
    long now = System.nanoTime();
    long first = Long.MAX_VALUE;
    synchronized (waiting) {
      for (Waiting of : waiting) {
        first = Math.min(first, Math.max(0, of.deadlineNanos - now));
      }
    }
    if (first == Long.MAX_VALUE) {
      return IDLE_NANOS;
    }
    return Math.min(first, isHeldUp ? Taker.HELD_UP_NANOS : taker.waitNanos());
  }

  /** Nobody waits any more; for whoever closes the node. */
  void stop() {
    synchronized (waiting) {
      isClosed = true;
    }
    end(null);
    runner.close();
  }

  @Override
  public void close() {
    taker.close();
  }
}
