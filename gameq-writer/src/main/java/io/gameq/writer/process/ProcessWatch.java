package io.gameq.writer.process;

import io.gameq.agent.Agent;
import io.gameq.agent.Duty;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
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
}
