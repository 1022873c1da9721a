package io.gameq.writer.terminal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gameq.writer.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code gameq-writer completion} prints, in real shells. */
class CompletionTest {
  @TempDir static Path directory = Path.of(".");

  private static Path script = Path.of(".");

  @BeforeAll
  static void print() throws IOException {
    script =
        Files.writeString(
            directory.resolve("gameq-writer-completion"), CommandLineRun.of("completion").out());
  }

  private static String shell(String shell, String commands) throws Exception {
    Path there = Path.of("/bin", shell);
    assumeTrue(Files.isExecutable(there), () -> "there is no " + there + ": left out");
    Process process =
        new ProcessBuilder(there.toString(), shell.equals("zsh") ? "-fc" : "-c", commands)
            .redirectErrorStream(true)
            .start();
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), out);
    return out.strip();
  }

  @Test
  void bashKnowsHowToCompleteTheLauncher() throws Exception {
    assertTrue(
        shell("bash", "source " + script + "; complete -p gameq-writer")
            .endsWith("-F _complete_gameq-writer gameq-writer"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dea|dead",
        "dead re|retry",
        "dead retry --dr|--dry-run",
        "dead list --state wa|waiting",
        "config check --off|--offline"
      })
  void bashCompletesCommandsOptionsAndValues(String typed, String completed) throws Exception {
    String[] words = ("gameq-writer " + typed).split(" ");
    String complete =
        "source %s; compopt() { :; }; COMP_WORDS=(%s); COMP_CWORD=%d; _complete_gameq-writer"
            .formatted(script, String.join(" ", words), words.length - 1);
    assertEquals(completed, shell("bash", complete + "; echo ${COMPREPLY[@]}"));
  }

  @Test
  void zshTakesTheSameScript() throws Exception {
    assertTrue(
        shell(
                "zsh",
                "autoload -U compinit bashcompinit; compinit -u -D; bashcompinit; source "
                    + script
                    + "; complete -p gameq-writer; print $_comps[gameq-writer]")
            .contains("gameq-writer"));
  }
}
