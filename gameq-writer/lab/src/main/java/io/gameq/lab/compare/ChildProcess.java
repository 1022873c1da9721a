package io.gameq.lab.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A {@link ContenderChild} as its parent sees it: a fresh JVM with the same flags each time. One
 * thread.
 */
final class ChildProcess implements AutoCloseable {
  /** What Chronicle Queue needs, what Hazelcast asks for, and a fixed heap. */
  static final List<String> FLAGS =
      List.of(
          "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=java.management/sun.management=ALL-UNNAMED",
          "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
          // Warns of what is wanted here: one member alone.
          "-Dorg.slf4j.simpleLogger.log.com.hazelcast=error",
          "-XX:+UseG1GC");

  private static final int FIRST_JDK_THAT_WARNS = 24;
  private static final long STOP_SECONDS = 60;

  private final Process process;
  private final BufferedReader out;
  private final Thread hook;

  ChildProcess(ChildJob job, String heap) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(flags(heap));
    if (job.mode() == ChildJob.Mode.RECOVER) { // tells of every claim of the dead process
      command.add("-Dorg.slf4j.simpleLogger.log.io.gameq=error");
    }
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), ContenderChild.class.getName()));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    hook = new Thread(process::destroyForcibly, "gameq-compare-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    out = process.inputReader(StandardCharsets.UTF_8);
    process
        .outputWriter(StandardCharsets.UTF_8)
        .append(new ObjectMapper().writeValueAsString(job))
        .append('\n')
        .flush();
  }

  /** All flags of a child. */
  static List<String> flags(String heap) {
    List<String> flags = new ArrayList<>(FLAGS);
    flags.add("-Xms" + heap);
    flags.add("-Xmx" + heap);
    if (Runtime.version().feature() >= FIRST_JDK_THAT_WARNS) {
      flags.add("--enable-native-access=ALL-UNNAMED");
      flags.add("--sun-misc-unsafe-memory-access=allow");
    }
    return flags;
  }

  /**
   * The next line that it says.
   *
   * @throws IllegalStateException when it ended instead
   */
  String line() throws IOException, InterruptedException {
    String line = out.readLine();
    if (line == null) {
      throw new IllegalStateException("a child process ended with exit code " + process.waitFor());
    }
    return line;
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Lets it end by itself, else kills it. */
  @Override
  public void close() throws IOException, InterruptedException {
    process.getOutputStream().close();
    if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
      kill();
    }
    Runtime.getRuntime().removeShutdownHook(hook);
  }
}
