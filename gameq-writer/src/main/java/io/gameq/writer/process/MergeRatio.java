package io.gameq.writer.process;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * How many row changes nodes committed for each row that writers wrote, in the last minute: by what
 * processes say that they did since they started. Used by one thread.
 */
final class MergeRatio {
  /** Longer than most merge windows. */
  private static final long OVER_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Deque<At> before = new ArrayDeque<>();
  private final FleetWork work = new FleetWork();

  private record At(long nanos, FleetWork.Sum sum) {}

  /** What it is after a look; NaN while nothing is written. */
  double after(Processes look, long nowNanos) {
    FleetWork.Sum now = work.after(look);
    before.add(new At(nowNanos, now));
    while (nowNanos - before.element().nanos > OVER_NANOS) {
      before.remove();
    }
    FleetWork.Sum then = before.element().sum;
    return now.rows() == then.rows()
        ? Double.NaN
        : (double) (now.committedRows() - then.committedRows()) / (now.rows() - then.rows());
  }
}
