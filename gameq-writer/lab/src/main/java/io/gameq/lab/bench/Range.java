package io.gameq.lab.bench;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Refuses values of options, in one form. Immutable. */
record Range(CommandSpec command) {
  /** Passes a whole number from {@code low} to {@code high}. */
  void check(String option, long value, long low, long high) {
    require(
        value >= low && value <= high,
        "%s is %d: it must be %d to %d".formatted(option, value, low, high));
  }

  /** Passes a share. */
  void checkShare(String option, double value) {
    require(value >= 0 && value <= 1, "%s is %s: it must be 0 to 1".formatted(option, value));
  }

  /** Throws ParameterException, which ends the command with 2 and its usage. */
  void require(boolean ok, String message) {
    if (!ok) {
      throw new ParameterException(command.commandLine(), message);
    }
  }
}
