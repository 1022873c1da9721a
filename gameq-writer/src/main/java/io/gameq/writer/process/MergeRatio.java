package io.gameq.writer.process;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How many row changes nodes committed for each row that writers wrote, in the last minute: by what
 * processes say that they did since they started. Used by one thread.
 */
final class MergeRatio {
  /** Longer than most merge windows. */
  private static final long OVER_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Deque<Sum> sums = new ArrayDeque<>();
  private final Map<String, Long> before = new HashMap<>();
  private Sum now = new Sum(0, 0, 0);

  private record Sum(long nanos, long committed, long written) {}

  /** What it is after a look; NaN while nothing is written. */
  double after(Processes look, long nowNanos) {
    boolean isFirst = sums.isEmpty();
    long committed = 0;
    for (ListedNode node : look.nodes()) {
      committed += since(node.id(), node.sign().commits().rows(), isFirst);
    }
    long written = 0;
    for (ListedWriter writer : look.writers()) {
      written += since(writer.id(), writer.sign().work().rows(), isFirst);
    }
    before
        .keySet()
        .retainAll(
            Stream.concat(
                    look.nodes().stream().map(ListedNode::id),
                    look.writers().stream().map(ListedWriter::id))
                .collect(Collectors.toSet()));
    now = new Sum(nowNanos, now.committed + committed, now.written + written);
    sums.add(now);
    while (nowNanos - sums.element().nanos > OVER_NANOS) {
      sums.remove();
    }
    Sum then = sums.element();
    return now.written == then.written
        ? Double.NaN
        : (double) (now.committed - then.committed) / (now.written - then.written);
  }

  /** What a process did since the look before; all of it when it has started since. */
  private long since(String process, long done, boolean isFirst) {
    Long was = before.put(process, done);
    return isFirst ? 0 : Math.max(0, done - (was == null ? 0 : was));
  }
}
