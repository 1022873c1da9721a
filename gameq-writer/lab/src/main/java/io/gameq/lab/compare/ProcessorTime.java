package io.gameq.lab.compare;

import io.gameq.lab.load.MachineTime;
import io.gameq.lab.load.Resources;
import io.gameq.lab.report.Figures;
import java.util.OptionalDouble;

/**
 * Processor time of the whole machine, and this process's share of it. Immutable.
 *
 * @param machineSeconds empty where the system does not tell
 */
record ProcessorTime(OptionalDouble machineSeconds, double processSeconds) {
  static final String ALL = "processor for each row change, all processes";
  static final String GAME = "processor for each row change, game's process";
  static final String WRITER = "processor for each row change, writer's process";

  /** Until now. */
  static ProcessorTime now() {
    return new ProcessorTime(MachineTime.busySeconds(), Resources.processorNanos() / 1e9);
  }

  ProcessorTime since(ProcessorTime before) {
    return new ProcessorTime(
        machineSeconds.isPresent() && before.machineSeconds.isPresent()
            ? OptionalDouble.of(machineSeconds.getAsDouble() - before.machineSeconds.getAsDouble())
            : OptionalDouble.empty(),
        processSeconds - before.processSeconds);
  }

  /** Shared out over row changes. */
  void addTo(Figures figures, String part, double changes) {
    machineSeconds.ifPresent(seconds -> figures.add(part, ALL, "us", seconds * 1e6 / changes));
    figures.add(part, GAME, "us", processSeconds * 1e6 / changes);
  }
}
