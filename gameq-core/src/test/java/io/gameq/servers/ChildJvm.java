package io.gameq.servers;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A Java process of the campaign, on its class path, with its log in a file; thread-safe. It ends
 * by itself when its standard input does, that is with the campaign.
 */
public final class ChildJvm {
  private final Process process;
  private final BufferedReader answers;

  private ChildJvm(Process process) {
    this.process = process;
    this.answers =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
  }

  /**
   * A build whose classes run.
   *
   * @param flags of its JVM, beside those of all
   */
  public record Build(String classPath, List<String> flags) {
    /** That of this JVM. */
    public static final Build THIS = new Build(System.getProperty("java.class.path"), List.of());
  }

  public static ChildJvm start(Path log, Class<?> main, List<String> arguments) {
    return start(Build.THIS, log, main, arguments, Map.of());
  }

  /** The same of another build, with more in its environment. */
  public static ChildJvm start(
      Build build,
      Path log,
      Class<?> main,
      List<String> arguments,
      Map<String, String> environment) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"));
    // What Chronicle Queue needs of a JVM, this one was started with.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--") || flag.startsWith("-Djava.io.tmpdir"))
        .forEach(command::add);
    command.addAll(
        List.of(
            "-Dgameq.test.log=info", // with logback, as in gameq-writer
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dorg.slf4j.simpleLogger.log.io.gameq=info",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS"));
    command.addAll(build.flags());
    command.addAll(List.of("-cp", build.classPath(), main.getName()));
    command.addAll(arguments);
    try {
      File file = log.toFile();
      ProcessBuilder child =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(file));
      child.environment().putAll(environment);
      return new ChildJvm(child.start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** kill -9; returns when it is dead. */
  public void kill() {
    process.destroyForcibly();
    process.onExit().join();
    ProcessClock.forget(process.pid());
  }

  public void tell(String line) {
    try {
      OutputStream in = process.getOutputStream();
      in.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      in.flush();
    } catch (IOException e) {
      // killed meanwhile
    }
  }

  /** Waits for a line that begins with this; throws when the process ends before. */
  public String awaitLine(String beginning) {
    try {
      for (String line; (line = answers.readLine()) != null; ) {
        if (line.startsWith(beginning)) {
          return line;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new IllegalStateException("a child ended before it said '" + beginning + "'");
  }

  public boolean awaitEnd(int seconds) throws InterruptedException {
    return process.waitFor(seconds, TimeUnit.SECONDS);
  }
}
