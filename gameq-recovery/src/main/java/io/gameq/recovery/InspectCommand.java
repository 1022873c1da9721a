package io.gameq.recovery;

import io.gameq.wal.WalException;
import io.gameq.wal.WalReader;
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
 * {@code inspect}: what WALs hold, and the first damage. Changes nothing. Used by the main thread.
 */
@Command(
    name = "inspect",
    description = "Says what WALs hold, and where the first damage is. Changes nothing.")
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
      String damage = "";
      try {
        WalReader.read(directory, summary);
      } catch (WalException e) {
        damage = "\n  DAMAGED: " + e.getMessage();
        exit = Main.FOUND_SOMETHING;
      }
      out.println(directory + ": " + summary + damage);
    }
    return exit;
  }
}
