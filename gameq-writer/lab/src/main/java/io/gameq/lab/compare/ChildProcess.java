package io.gameq.lab.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A {@link ContenderChild} as its parent sees it: a fresh JVM with the same flags each time. One
 * thread.
 */
final class ChildProcess implements AutoCloseable {
  private static final long STOP_SECONDS = 60;

  private final Process process;
  private final BufferedReader out;
  private final Writer in;
  private final Thread hook;
  private final ObjectMapper json = new ObjectMapper();

  ChildProcess(ChildJob job, String heap) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(ChildFlags.of(heap));
    if (job.mode() == ChildJob.Mode.TAKE_OVER) { // tells of every claim of the dead process
      command.add("-Dorg.slf4j.simpleLogger.log.io.gameq=error");
    }
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), ContenderChild.class.getName()));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    hook = new Thread(process::destroyForcibly, "gameq-compare-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    out = process.inputReader(StandardCharsets.UTF_8);
    in = process.outputWriter(StandardCharsets.UTF_8);
    tell(json.writeValueAsString(job));
  }

  /** A line to its standard input. */
  void tell(String line) throws IOException {
    in.append(line).append('\n').flush();
  }

  /** Waits until it is ready. */
  void awaitRunning() throws IOException, InterruptedException {
    String line = line();
    if (!line.equals(ContenderChild.RUNNING)) {
      throw new IllegalStateException("a child process said " + line);
    }
  }

  /**
   * The next line that it says.
   *
   * @throws IllegalStateException when it ended instead
   */
  private String line() throws IOException, InterruptedException {
    String line = out.readLine();
    if (line == null) {
      throw new IllegalStateException("a child process ended with exit code " + process.waitFor());
    }
    return line;
  }

  /** Lets one that measures begin, and waits for what it has to say. */
  ChildReport measured() throws IOException, InterruptedException {
    tell(ContenderChild.NEXT);
    return json.readValue(line(), ChildReport.class);
  }

  /** Asks a writer's process how much it did. */
  ChildReport.Written written() throws IOException, InterruptedException {
    tell(ContenderChild.NEXT);
    return json.readValue(line(), ChildReport.Written.class);
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Waits until it has ended by itself. */
  void awaitEnd() throws InterruptedException {
    if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
      kill();
    }
  }

  /** Lets it end by itself, else kills it. */
  @Override
  public void close() throws IOException, InterruptedException {
    try {
      in.close();
    } catch (IOException e) {
      // It is gone, and what was not read by it with it.
    }
    awaitEnd();
    Runtime.getRuntime().removeShutdownHook(hook);
  }
}
