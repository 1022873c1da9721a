package io.gameq.writer.status;

import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.terminal.Shown;
import io.gameq.writer.status.Processes.NodeStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Polls the processes of the game and shows the latest result as meters, which are NaN before it.
 * Thread-safe.
 */
public final class ProcessWatch {
  private static final Duration EVERY = Duration.ofSeconds(5);

  /** Longer than most merge windows. */
  private static final long RATIO_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Supplier<@Nullable Processes> look;
  private final Deque<RowSample> before = new ArrayDeque<>(); // of the duty's thread, as the next
  private final RowTotals work = new RowTotals();
  private volatile @Nullable Processes latest;
  private volatile double mergeRatio = Double.NaN;

  /** One that has not looked yet; {@code look} asks Redis: {@link Processes#shared}. */
  public ProcessWatch(Supplier<@Nullable Processes> look) {
    this.look = look;
  }

  /** What looks. */
  public Agent duty() {
    return Duty.every(Duration.ZERO, EVERY::toNanos, "look which processes run", this::look);
  }

  private void look() {
    Processes now = look.get();
    if (now != null) {
      mergeRatio = mergeRatioAfter(now);
      latest = now;
    }
  }

  /** The latest look; null before the first. */
  public @Nullable Processes latest() {
    return latest;
  }

  /** Registers meters that show the latest look. */
  public void bindTo(MeterRegistry meters) {
    for (NodeStatus.NodeState state : NodeStatus.NodeState.values()) {
      register(meters, "nodes", "Nodes", Shown.lower(state), of -> of.nodes(state));
    }
    register(meters, "writers", "Writers", "running", Processes::writersThere);
    register(meters, "writers", "Writers", "gone", of -> of.writers().size() - of.writersThere());
    Gauge.builder("gameq.clocks.apart", this, of -> of.show(it -> it.clocksApartMillis() / 1e3))
        .description("By how much the clock of a process is away from Redis' at most")
        .baseUnit("seconds")
        .register(meters);
    Gauge.builder("gameq.merge.ratio", this, of -> of.mergeRatio)
        .description("Row changes committed for each row written, in the last minute")
        .register(meters);
  }

  private void register(
      MeterRegistry meters,
      String name,
      String description,
      String state,
      ToDoubleFunction<Processes> value) {
    Gauge.builder("gameq." + name, this, of -> of.show(value))
        .description(description + " by how they are")
        .tag("state", state)
        .register(meters);
  }

  private double show(ToDoubleFunction<Processes> value) {
    Processes now = latest;
    return now == null ? Double.NaN : value.applyAsDouble(now);
  }

  private record RowSample(long nanos, RowTotals.RowCounts sum) {}

  /** Committed rows per written row in the last minute; NaN while nothing is written. */
  private double mergeRatioAfter(Processes look) {
    long now = System.nanoTime();
    RowTotals.RowCounts sum = work.after(look);
    before.add(new RowSample(now, sum));
    while (now - before.element().nanos > RATIO_NANOS) {
      before.remove();
    }
    RowTotals.RowCounts then = before.element().sum;
    return sum.rows() == then.rows()
        ? Double.NaN
        : (double) (sum.committedRows() - then.committedRows()) / (sum.rows() - then.rows());
  }

  /**
   * Sums the rows of all nodes and writers since the first look. A process that ends takes nothing
   * away, and one that restarts begins at 0. Used by one thread.
   */
  static final class RowTotals {
    private Map<String, Long> before = Map.of();
    private RowCounts sum = new RowCounts(0, 0);
    private boolean isFirst = true;

    /**
     * Rows.
     *
     * @param committedRows by nodes
     * @param rows that writers wrote
     */
    record RowCounts(long committedRows, long rows) {}

    /** All of it after a look. */
    RowCounts after(Processes look) {
      Map<String, Long> now = new HashMap<>();
      look.nodes().forEach(of -> now.put(of.id(), of.sign().commits().rows()));
      long committed = since(now);
      Map<String, Long> written = new HashMap<>();
      look.writers().forEach(of -> written.put(of.id(), of.sign().work().rows()));
      if (!isFirst) {
        sum = new RowCounts(sum.committedRows + committed, sum.rows + since(written));
      }
      isFirst = false;
      now.putAll(written);
      before = now;
      return sum;
    }

    /** What processes did since the look before; all of it of those that have started since. */
    private long since(Map<String, Long> now) {
      return now.entrySet().stream()
          .mapToLong(of -> Math.max(0, of.getValue() - before.getOrDefault(of.getKey(), 0L)))
          .sum();
    }
  }
}
