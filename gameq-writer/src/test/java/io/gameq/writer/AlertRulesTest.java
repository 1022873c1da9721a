package io.gameq.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The alert rules, by Prometheus' own tool where it is installed. */
class AlertRulesTest {
  private static final String TOOL = "promtool";

  @ParameterizedTest
  @ValueSource(strings = {"check rules alerts.yaml", "test rules alerts.test.yaml"})
  void promtoolFindsNothingWrong(String command) throws Exception {
    assumeTrue(isInstalled(), "promtool is not on the PATH: the alert rules are not checked");
    Process process =
        new ProcessBuilder((TOOL + " " + command).split(" ", -1))
            .directory(new File("monitoring"))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
  }

  private static boolean isInstalled() {
    return Arrays.stream(System.getenv("PATH").split(Pattern.quote(File.pathSeparator), -1))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, TOOL)));
  }
}
