package io.gameq.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.terminal.TopCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WriterMainTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "security redis --help",
        "security mysql --help",
        "schema --help",
        "schema check --help",
        "schema migrate -h",
        "dead -h",
        "dead list -h",
        "dead show -h",
        "dead retry -h",
        "dead discard -h",
        "dead edit -h",
        "dead export -h",
        "config -h",
        "config check -h",
        "config settings -h",
        "completion -h",
        "stale -h",
        "stale list -h",
        "stale show -h",
        "stale discard -h",
        "bench -h"
      })
  void everyCommandHasHelp(String line) {
    CommandLineRun run = CommandLineRun.of(line.split(" "));
    assertEquals(ExitCodes.OK, run.exitCode());
    assertTrue(run.out().startsWith("Usage: gameq-writer"), run.out());
    assertTrue(run.out().contains("--verbose"), run.out());
    assertFalse(run.out().contains("of null"), run.out());
  }

  @Test
  void helpNamesTheFieldsForPrograms() {
    for (String fields : TopCommand.jsonFields()) {
      String[] words = fields.replaceAll(" [A-Z].*|:.*", "").split(" ", -1);
      String help = CommandLineRun.of((String.join(" ", words) + " --help").split(" ", -1)).out();
      String line = help.replaceAll("\\s+", " ");
      assertTrue(line.contains("--json of " + fields), help);
    }
  }

  @Test
  void settingsAreToldWithoutAFile() {
    CommandLineRun run = CommandLineRun.of("config", "settings");
    assertEquals(ExitCodes.OK, run.exitCode());
    assertTrue(run.out().matches("(?s).*\nwriter\\.leaseSeconds +\\| 30 .*"), run.out());
  }

  @Test
  void versionIsTold() {
    assertTrue(CommandLineRun.of("--version").out().startsWith("gameq-writer "));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "schema",
        "schema migrat",
        "schema check --confg x",
        "dead",
        "dead show",
        "dead show x",
        "dead retry",
        "dead retry 1 --all",
        "dead discard --all --table t",
        "dead edit --set count=1",
        "dead list --limit 0",
        "config",
        "stale",
        "stale show",
        "stale discard",
        "stale discard player:1 --all"
      })
  void wrongUsageIsTwo(String line) {
    assertEquals(
        ExitCodes.COULD_NOT_RUN,
        CommandLineRun.of(line.isEmpty() ? new String[0] : line.split(" ")).exitCode());
  }

  @Test
  void anErrorIsOneLineUnlessVerbose() {
    CommandLineRun quiet = CommandLineRun.of("schema", "check", "--config", "absent.yaml");
    assertEquals(ExitCodes.COULD_NOT_RUN, quiet.exitCode());
    assertEquals(1, quiet.err().lines().count(), quiet.err());
    assertTrue(
        quiet.err().startsWith("gameq-writer schema check: there is no file absent.yaml"),
        quiet.err());
    CommandLineRun verbose =
        CommandLineRun.of("schema", "check", "--verbose", "--config", "absent.yaml");
    assertTrue(verbose.err().contains("\tat io.gameq.writer.config.ConfigReader"), verbose.err());
  }

  @Test
  void anErrorLineDoesNotRepeatItself() {
    Throwable cause = new IllegalStateException("disk\n  full");
    assertEquals(
        "could not write: disk full",
        ErrorLine.of(
            new RuntimeException(
                "could not write", new RuntimeException(cause.getMessage(), cause))));
  }
}
