package io.gameq.lab.workload;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Refuses values of options, in one form. Immutable. */
public record Range(CommandSpec command) {
  /** Passes a whole number from {@code low} to {@code high}. */
  public void check(String option, long value, long low, long high) {
    require(
        value >= low && value <= high,
        "%s is %s: it must be %s to %s".formatted(option, value, low, high));
  }

  /** Passes a share. */
  public void checkShare(String option, double value) {
    require(value >= 0 && value <= 1, "%s is %s: it must be 0 to 1".formatted(option, value));
  }

  /** Passes a file whose directory is there, and none. */
  public void requireDirectoryOf(String option, @Nullable Path file) {
    Path parent = file == null ? null : file.toAbsolutePath().getParent();
    require(
        parent == null || Files.isDirectory(parent),
        "%s: there is no directory %s".formatted(option, parent));
  }

  /** Throws ParameterException, which ends the command with 2 and its usage. */
  public void require(boolean ok, String message) {
    if (!ok) {
      throw new ParameterException(command.commandLine(), message);
    }
  }
}
