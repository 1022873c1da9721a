package io.gameq.writer.flush;

import io.gameq.writer.turn.MeterNames;
import io.gameq.writer.turn.Turn;
import io.gameq.writer.turn.TurnPorts;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/** Takes steps of turns and measures how long each kind takes. Thread-safe. */
public final class StepTimes {
  private static final Duration[] BOUNDS =
      LongStream.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final MeterRegistry meters;
  private final Map<Class<?>, Timer> timers = new ConcurrentHashMap<>();

  public StepTimes(MeterRegistry meters) {
    this.meters = meters;
  }

  Turn take(Turn step, TurnPorts ports) {
    long began = System.nanoTime();
    try {
      return step.next(ports);
    } finally {
      timer(step.getClass()).record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
    }
  }

  private Timer timer(Class<?> step) {
    return timers.computeIfAbsent(
        step,
        of ->
            Timer.builder("gameq.writer.step")
                .description("How long a step of a writer's turn took, failed ones included")
                .tag("step", MeterNames.of(of))
                .serviceLevelObjectives(BOUNDS)
                .register(meters));
  }
}
