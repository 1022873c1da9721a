package io.gameq.commit;

import io.gameq.healing.ReplaySource.SequenceRange;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Which WAL records of this node change messages, for as long as a healing may replay them; by
 * stretches of time, so that it takes the same memory whatever their number. Time in which Redis is
 * away does not count: what it has lost is known only once it is back. Thread-safe.
 */
public final class RecentMessages {
  /** More stretches only take memory; fewer would keep records for longer than they are to be. */
  private static final int STRETCHES = 600;

  /** Nearer than this two stretches are read as one: opening a file costs as much. */
  private static final long ONE_STRETCH_RECORDS = 50_000;

  private final LongSupplier clock;
  private final long keepNanos;
  private final long stretchNanos;
  private final Deque<Interval> seconds = new ArrayDeque<>();
  private long firstFailed = Long.MAX_VALUE;
  private long lastFailed;
  private volatile long openFrom;
  private boolean isAway;
  private long awaySinceNanos;
  private long awayNanos;

  /** A stretch of time. */
  private static final class Interval {
    final long beganNanos;
    final long first;
    long last;

    Interval(long beganNanos, long sequence) {
      this.beganNanos = beganNanos;
      this.first = sequence;
      this.last = sequence;
    }
  }

  /** None yet; {@code keep}: how long records may be replayed. */
  public RecentMessages(Duration keep) {
    this(keep, System::nanoTime);
  }

  /** With a clock in nanoseconds. */
  RecentMessages(Duration keep, LongSupplier clock) {
    this.clock = clock;
    keepNanos = keep.toNanos();
    stretchNanos = Math.max(Duration.ofSeconds(1).toNanos(), keepNanos / STRETCHES);
  }

  /** Redis is away, or has not been healed: what is known grows no older. */
  synchronized void away() {
    if (!isAway) {
      isAway = true;
      awaySinceNanos = clock.getAsLong();
    }
  }

  /** Redis has everything again. */
  synchronized void healed() {
    if (isAway) {
      isAway = false;
      awayNanos += clock.getAsLong() - awaySinceNanos;
    }
  }

  private long now() {
    return (isAway ? awaySinceNanos : clock.getAsLong()) - awayNanos;
  }

  /** A commit with messages was appended to the WAL. */
  synchronized void appended(long sequence) {
    if (openFrom == 0) {
      openFrom = sequence;
    }
    long now = now();
    Interval newest = seconds.peekLast();
    if (newest == null || now - newest.beganNanos >= stretchNanos) {
      forgetOld(now);
      newest = new Interval(now, sequence);
      seconds.add(newest);
    }
    newest.last = sequence;
  }

  private void forgetOld(long now) {
    for (Interval oldest; (oldest = seconds.peek()) != null; ) {
      if (now - oldest.beganNanos <= keepNanos + stretchNanos) {
        return;
      }
      seconds.remove();
    }
  }

  /** Everything before this sequence has been answered; 0: everything has. */
  void openFrom(long sequence) {
    if (openFrom != sequence) {
      openFrom = sequence;
    }
  }

  /** The lowest sequence of what waits for an answer, at most {@code newest}. */
  public long openUpTo(long newest) {
    long open = openFrom;
    return open == 0 ? newest : Math.min(open, newest);
  }

  /** The lowest sequence that may be replayed; {@link Long#MAX_VALUE} when there is none. */
  public synchronized long keptFrom() {
    forgetOld(now());
    Interval oldest = seconds.peek();
    return oldest == null ? Long.MAX_VALUE : oldest.first;
  }

  /** A commit with messages failed: it is never replayed. */
  synchronized void failed(long sequence) {
    firstFailed = Math.min(firstFailed, sequence);
    lastFailed = Math.max(lastFailed, sequence);
  }

  synchronized boolean mayHaveFailed(SequenceRange of) {
    return firstFailed <= of.to() && of.from() <= lastFailed;
  }

  /** Where the records are that may be replayed, beyond a sequence, in order. */
  synchronized List<SequenceRange> after(long sequence) {
    forgetOld(now());
    List<SequenceRange> all = new ArrayList<>();
    for (Interval second : seconds) {
      if (second.last <= sequence) {
        continue;
      }
      int newest = all.size() - 1;
      SequenceRange next = new SequenceRange(Math.max(second.first, sequence + 1), second.last);
      if (newest >= 0 && next.from() - all.get(newest).to() < ONE_STRETCH_RECORDS) {
        all.set(newest, new SequenceRange(all.get(newest).from(), next.to()));
      } else {
        all.add(next);
      }
    }
    return all;
  }
}
