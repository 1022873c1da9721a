package io.gameq.recovery;

import io.gameq.healing.LeftWalReplay.WalSet;
import io.gameq.owner.OwnerId;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A command over WALs, about some owners or all. */
abstract class WalCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--owner",
      paramLabel = "OWNER",
      description =
          "Only these owners, as the game writes them: player:42; may be repeated (default: all).")
  List<String> owners = new ArrayList<>();

  @Parameters(
      arity = "1..*",
      paramLabel = "WAL",
      description =
          "WAL directories, one for each start of a node: <node>-<start>-<process>; or directories"
              + " above them.")
  List<Path> directories = List.of();

  final CommandLine commandLine() {
    return Objects.requireNonNull(spec).commandLine();
  }

  final PrintWriter out() {
    return commandLine().getOut();
  }

  /**
   * The WALs.
   *
   * @throws io.gameq.GameQueueException naming a directory that holds none
   */
  final WalSet openWals() {
    return WalSet.open(directories);
  }

  /**
   * Encoded ids of the owners; empty for all.
   *
   * @throws io.gameq.GameQueueException when one is no owner id
   */
  final Set<String> owners() {
    return owners.stream()
        .map(owner -> OwnerId.of(owner).encoded())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** As they were written on the command line. */
  static String asArguments(String before, List<?> values) {
    return values.stream()
        .map(value -> before + quoted(value.toString()))
        .collect(Collectors.joining());
  }

  /** One word for a shell. */
  static String quoted(String word) {
    return word.matches("[A-Za-z0-9_./:=,@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
