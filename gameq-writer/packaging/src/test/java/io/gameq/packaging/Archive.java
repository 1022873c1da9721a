package io.gameq.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The archive that the build made, unpacked. Immutable. */
record Archive(Path home) {
  /** What a command line printed, both streams, and its exit code. */
  record Ended(int exitCode, String said) {}

  static Archive unpackedIn(Path directory) throws Exception {
    String archive = Objects.requireNonNull(System.getProperty("gameq.archive"));
    Ended tar = run(Map.of(), List.of("tar", "-xzf", archive, "-C", directory.toString()));
    assertEquals(0, tar.exitCode(), tar::said);
    try (Stream<Path> entries = Files.list(directory)) {
      List<Path> homes = entries.toList();
      assertEquals(1, homes.size(), homes::toString);
      return new Archive(homes.get(0));
    }
  }

  String launcher(String program) {
    return home.resolve("bin").resolve(program).toString();
  }

  /** Runs {@code bin/<program>} until it ends. */
  Ended run(String program, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(launcher(program)));
    command.addAll(List.of(arguments));
    return run(environment, command);
  }

  static Ended run(Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), said);
  }

  static boolean isInstalled(String tool) {
    return Arrays.stream(System.getenv("PATH").split(Pattern.quote(File.pathSeparator), -1))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, tool)));
  }
}
