package io.gameq.backlog;

import io.gameq.Pressure;
import io.gameq.PushBackException;
import io.gameq.backlog.SharedBacklog.BacklogSummary;
import io.gameq.config.PressureLimit;
import io.gameq.config.PushBack;
import io.gameq.redis.ControlConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which thresholds of the backlog are passed, and what that does to the commits of a node.
 * Thread-safe.
 *
 * <p>A pressure ends a tenth below its threshold, so that it does not come and go with every look;
 * and when nobody could look for {@link #MOST_AGE_MILLIS}: what is not known pushes nobody back,
 * and a Redis that is away has policies of its own.
 */
public final class NodePressure {
  /** Some looks late: they come every 5 s, and a timeout of Redis is 10 s. */
  static final long MOST_AGE_MILLIS = 20_000;

  /** Of a threshold, below which its pressure ends. */
  private static final double ENDS_AT = 0.9;

  private static final Logger LOG = LoggerFactory.getLogger(NodePressure.class);

  private final List<PressureLimit> limits;
  private final long slowNanos;
  private final Consumer<Pressure> tell;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile List<Pressure> passed = List.of();
  private volatile long seenNanos;

  /**
   * No threshold is passed yet.
   *
   * @param slowMillis most that {@link PushBack#SLOW} adds to a commit
   * @param tell the game; called by whoever looks, under a lock: must not wait
   */
  public NodePressure(List<PressureLimit> limits, long slowMillis, Consumer<Pressure> tell) {
    this(limits, slowMillis, tell, System::nanoTime);
  }

  NodePressure(
      List<PressureLimit> limits, long slowMillis, Consumer<Pressure> tell, LongSupplier nanoTime) {
    this.limits = List.copyOf(limits);
    this.slowNanos = TimeUnit.MILLISECONDS.toNanos(slowMillis);
    this.tell = tell;
    this.nanoTime = nanoTime;
    this.seenNanos = nanoTime.getAsLong();
  }

  /** The pressures that last, with the latest values; empty when nothing is pushed back. */
  public List<Pressure> passed() {
    return passed;
  }

  /**
   * Lets a commit pass, at once or late, or refuses it.
   *
   * @param deadlineNanos until when it may be held up, by System.nanoTime
   * @throws PushBackException when it is refused
   */
  public void admit(long deadlineNanos) {
    if (passed.isEmpty()) { // nearly every commit
      return;
    }
    Pressure refuses = first(PushBack.REFUSE);
    if (refuses != null) {
      throw new PushBackException(refuses, why(refuses));
    }
    if (first(PushBack.SLOW) != null) {
      awaitEnd(Math.min(deadlineNanos, nanoTime.getAsLong() + slowNanos));
    }
  }

  private @Nullable Pressure first(PushBack policy) {
    return isKnown()
        ? passed.stream().filter(of -> of.policy() == policy).findFirst().orElse(null)
        : null;
  }

  private boolean isKnown() {
    return nanoTime.getAsLong() - seenNanos < TimeUnit.MILLISECONDS.toNanos(MOST_AGE_MILLIS);
  }

  private void awaitEnd(long untilNanos) {
    lock.lock();
    try {
      long left;
      while (first(PushBack.SLOW) != null && (left = untilNanos - nanoTime.getAsLong()) > 0) {
        long unused = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // whoever is to stop is not held up; the commit goes on
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the latest look at the backlog; to be called about once a second, by one thread. Throws
   * GameQueueException when Redis does not answer; it may be called again.
   *
   * @param redis a connection that nothing else uses
   */
  public void look(ControlConnection redis, SharedSnapshot<BacklogSummary> backlog) {
    SharedSnapshot.SeenSnapshot<BacklogSummary> seen = null;
    try {
      seen = redis.call(backlog::latest);
    } finally {
      if (seen == null) {
        sawNothing();
      }
    }
    if (seen != null) {
      saw(seen.what(), seen.ageMillis());
    }
  }

  /** A look, so old. */
  void saw(BacklogSummary look, long ageMillis) {
    if (ageMillis < MOST_AGE_MILLIS) {
      seenNanos = nanoTime.getAsLong() - TimeUnit.MILLISECONDS.toNanos(ageMillis);
      change(look);
    } else {
      sawNothing();
    }
  }

  /** Nobody could look. */
  void sawNothing() {
    if (!isKnown()) {
      change(new BacklogSummary(0, 0, 0, 0));
    }
  }

  private void change(BacklogSummary look) {
    lock.lock();
    try {
      List<Pressure> now = new ArrayList<>();
      for (PressureLimit limit : limits) {
        double value = value(limit.of(), look);
        boolean was = passed.stream().anyMatch(of -> isOf(of, limit));
        boolean is = value >= (was ? ENDS_AT : 1) * limit.value();
        Pressure of = new Pressure(limit.of(), limit.policy(), value, limit.value(), is);
        if (is) {
          now.add(of);
        }
        if (is != was) {
          report(of);
        }
      }
      passed = List.copyOf(now);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private static boolean isOf(Pressure pressure, PressureLimit limit) {
    return pressure.of() == limit.of() && pressure.policy() == limit.policy();
  }

  private static double value(Pressure.Of of, BacklogSummary look) {
    return switch (of) {
      case AGE -> look.oldestAgeMillis() / 1_000.0;
      case ROWS -> look.rows();
      case MEMORY -> look.fullness();
    };
  }

  private void report(Pressure of) {
    if (of.isOn()) {
      LOG.warn("{}: commits of this node meet policy {}", what(of), of.policy());
    } else {
      LOG.info("policy {} ended: {}", of.policy(), what(of));
    }
    tell.accept(of);
  }

  private static String what(Pressure of) {
    return switch (of.of()) {
      case AGE ->
          String.format(
              Locale.ROOT,
              "the oldest change waits for MySQL for %.1f s (pushBackAtAge: %.1f s)",
              of.value(),
              of.limit());
      case ROWS ->
          String.format(
              Locale.ROOT,
              "about %,.0f rows wait for MySQL (pushBackAtRows: %,.0f)",
              of.value(),
              of.limit());
      case MEMORY ->
          String.format(
              Locale.ROOT,
              "Redis has %.0f %% of its memory in use (pushBackAtMemory: %.0f %%)",
              100 * of.value(),
              100 * of.limit());
    };
  }

  private static String why(Pressure of) {
    return what(of)
        + ", so this commit was refused; its changes stay staged. Try again when onPressure tells"
        + " that it ended; let writers and MySQL catch up, or "
        + (of.of() == Pressure.Of.MEMORY ? "raise maxmemory" : "raise the threshold")
        + "; what cannot wait may be committed as Urgency.URGENT";
  }
}
