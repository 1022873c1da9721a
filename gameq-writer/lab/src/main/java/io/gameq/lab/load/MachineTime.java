package io.gameq.lab.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How long the machine's processors have been busy, whoever had them: servers may be in containers,
 * so no list of processes is sure to be whole. Linux alone tells. Stateless.
 */
public final class MachineTime {
  private static final Path STAT = Path.of("/proc/stat");

  /** The kernel counts in hundredths of a second for everything that it shows. */
  private static final double TICKS_PER_SECOND = 100;

  /** Columns user, nice, system, irq and softirq; between them idle and iowait. */
  private static final int[] BUSY = {1, 2, 3, 6, 7};

  private MachineTime() {}

  /** Seconds of all processors together since the machine started; empty where nobody tells. */
  public static OptionalDouble busySeconds() {
    if (!Files.isReadable(STAT)) {
      return OptionalDouble.empty();
    }
    try (Stream<String> lines = Files.lines(STAT)) {
      String[] all = lines.findFirst().orElseThrow().split("\\s+", -1);
      long ticks = IntStream.of(BUSY).mapToLong(column -> Long.parseLong(all[column])).sum();
      return OptionalDouble.of(ticks / TICKS_PER_SECOND);
    } catch (IOException e) {
      return OptionalDouble.empty();
    }
  }
}
