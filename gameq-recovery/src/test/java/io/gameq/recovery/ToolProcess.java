package io.gameq.recovery;

import io.gameq.servers.LeastRedisUsers;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The tool in a JVM of its own, which can be killed; its output goes to a file. */
public final class ToolProcess implements AutoCloseable {
  private final Process process;
  private Duration cpu = Duration.ZERO;

  private ToolProcess(Process process) {
    this.process = process;
  }

  public static ToolProcess start(
      Path output, String mysqlPassword, List<String> jvmFlags, List<String> args)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmFlags);
    // What the WAL needs of a JVM, this one was started with.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--"))
        .forEach(command::add);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), RecoveryMain.class.getName()));
    command.addAll(args);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put(ServerOptions.MYSQL_PASSWORD, mysqlPassword);
    builder.environment().put(ServerOptions.REDIS_PASSWORD, LeastRedisUsers.PASSWORD);
    return new ToolProcess(builder.redirectOutput(output.toFile()).start());
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** kill -9; returns when it is dead. */
  public void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  /**
   * Waits for its end and returns the exit code. One that takes longer says in its output what its
   * threads do.
   */
  public int await(long seconds) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (!process.waitFor(100, TimeUnit.MILLISECONDS)) {
      process.toHandle().info().totalCpuDuration().ifPresent(used -> cpu = used);
      if (System.nanoTime() - deadline > 0) {
        dumpThreads();
        throw new IllegalStateException("the tool still runs after " + seconds + " s");
      }
    }
    return process.exitValue();
  }

  private void dumpThreads() throws InterruptedException {
    try {
      new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
      process.waitFor(2, TimeUnit.SECONDS);
    } catch (IOException e) {
      // then without
    }
  }

  /** Processor time that it took, while it was waited for. */
  Duration cpu() {
    return cpu;
  }

  @Override
  public void close() {
    kill();
  }
}
