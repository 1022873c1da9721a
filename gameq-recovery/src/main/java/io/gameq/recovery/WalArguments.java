package io.gameq.recovery;

import io.gameq.healing.WalSet;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Parameters;

/** The WALs that a command is about; mix it in. */
final class WalArguments {
  @Parameters(
      arity = "1..*",
      paramLabel = "WAL",
      description =
          "WAL directories, one for each start of a node: <node>-<start>-<process>; or directories"
              + " above them.")
  private List<Path> directories = List.of();

  /**
   * The WALs.
   *
   * @throws io.gameq.GameQueueException naming a directory that holds none
   */
  WalSet open() {
    return WalSet.open(directories);
  }

  /** As they were written on the command line. */
  String asArguments() {
    return directories.stream()
        .map(directory -> " " + ServerOptions.quoted(directory.toString()))
        .collect(Collectors.joining());
  }
}
