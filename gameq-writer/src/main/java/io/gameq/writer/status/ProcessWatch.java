package io.gameq.writer.status;

import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.writer.status.WritersCommand.ListedWriter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Looks now and then at the processes of the game, and shows the latest look as meters, which have
 * no value (NaN) before it. Thread-safe.
 */
public final class ProcessWatch {
  private static final Duration EVERY = Duration.ofSeconds(5);

  private final Supplier<@Nullable Processes> look;
  private final MergeRatio merges = new MergeRatio(); // of the duty's thread
  private volatile @Nullable Processes latest;
  private volatile double mergeRatio = Double.NaN;

  /** One that has not looked yet; {@code look} asks Redis: {@link SharedProcesses#latest}. */
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
      mergeRatio = merges.after(now, System.nanoTime());
      latest = now;
    }
  }

  /** The latest look; null before the first. */
  public @Nullable Processes latest() {
    return latest;
  }

  /** Registers meters that show the latest look. */
  public void bindTo(MeterRegistry meters) {
    for (ListedNode.State state : ListedNode.State.values()) {
      register(meters, "nodes", "Nodes", state.tag(), of -> of.nodes(state));
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

  /**
   * How many row changes nodes committed for each row that writers wrote, in the last minute: by
   * what processes say that they did since they started. Used by one thread.
   */
  static final class MergeRatio {
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

  /**
   * Adds up what all nodes and writers say that they did since they started, from the first look
   * on: a process that ends takes nothing away, and one that starts anew begins at 0. Used by one
   * thread.
   */
  public static final class FleetWork {
    private final Map<String, Sum> before = new HashMap<>();
    private Sum sum = Sum.NOTHING;
    private boolean isFirst = true;

    /**
     * What was done.
     *
     * @param commits that nodes made
     * @param committedRows of these
     * @param flushes that writers committed
     * @param rows that they wrote
     */
    public record Sum(long commits, long committedRows, long flushes, long rows) {
      static final Sum NOTHING = new Sum(0, 0, 0, 0);

      private Sum plus(Sum now, Sum was) {
        return new Sum(
            commits + Math.max(0, now.commits - was.commits),
            committedRows + Math.max(0, now.committedRows - was.committedRows),
            flushes + Math.max(0, now.flushes - was.flushes),
            rows + Math.max(0, now.rows - was.rows));
      }
    }

    /** All of it after a look. */
    public Sum after(Processes look) {
      Set<String> there = new HashSet<>();
      for (ListedNode node : look.nodes()) {
        there.add(node.id());
        add(
            node.id(),
            new Sum(node.sign().commits().commits(), node.sign().commits().rows(), 0, 0));
      }
      for (ListedWriter writer : look.writers()) {
        there.add(writer.id());
        add(
            writer.id(),
            new Sum(0, 0, writer.sign().work().flushes(), writer.sign().work().rows()));
      }
      before.keySet().retainAll(there);
      isFirst = false;
      return sum;
    }

    /** What a process did since the look before; all of it when it has started since. */
    private void add(String process, Sum now) {
      Sum was = before.put(process, now);
      if (!isFirst) {
        sum = sum.plus(now, was == null ? Sum.NOTHING : was);
      }
    }
  }
}
