package io.gameq.recovery;

import io.gameq.wal.WalDamage;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalReport;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code inspect}: what WALs hold, and what is damaged. Changes nothing. Used by the main thread.
 */
@Command(
    name = "inspect",
    description = "Says what WALs hold, and what in them is damaged. Changes nothing.")
final class InspectCommand implements Callable<Integer> {
  @Parameters(
      arity = "1..*",
      paramLabel = "WAL",
      description = "WAL directories, one for each start of a node: <node>-<start>-<process>.")
  private List<Path> directories = List.of();

  @Spec private @Nullable CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = java.util.Objects.requireNonNull(spec).commandLine().getOut();
    int exit = Main.CLEAN;
    for (Path directory : directories) {
      WalSummary summary = new WalSummary();
      WalReport report = WalReader.read(directory, summary);
      out.println(directory + ": " + summary);
      for (WalDamage damage : report.damage()) {
        out.println("  DAMAGED: " + damage);
        exit = Main.FOUND_SOMETHING;
      }
    }
    return exit;
  }
}
