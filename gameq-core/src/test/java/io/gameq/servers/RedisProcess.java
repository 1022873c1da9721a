package io.gameq.servers;

import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.lab.servers.ServerProcess;
import io.gameq.lab.servers.WorkDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The embedded redis-server with a configuration file of its own, as a server or as a Sentinel;
 * thread-safe. It never outlives this JVM.
 */
public final class RedisProcess implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(20);

  private final ServerProcess process;

  private RedisProcess(ServerProcess process) {
    this.process = process;
  }

  /** Unpacks the program into a directory; its path. */
  public static String executable(Path directory) {
    return EmbeddedRedis.executable(WorkDirectory.of(directory, ""));
  }

  /**
   * Starts a server in a directory of its own; returns once it accepts connections.
   *
   * @param program {@link #executable}, perhaps behind a command that starts it
   */
  public static RedisProcess server(List<String> program, Path directory, List<String> settings) {
    return start(directory, settings, "Ready to accept connections", program, List.of());
  }

  /** Starts a Sentinel in a directory of its own; returns once it watches its primary. */
  public static RedisProcess sentinel(String executable, Path directory, List<String> settings) {
    return start(
        directory, settings, "+monitor master", List.of(executable), List.of("--sentinel"));
  }

  private static RedisProcess start(
      Path directory,
      List<String> settings,
      String ready,
      List<String> program,
      List<String> flags) {
    WorkDirectory work = WorkDirectory.of(directory, "");
    Path file = work.path().resolve("redis.conf"); // Redis and Sentinel write into it
    List<String> command = new ArrayList<>(program);
    command.add(file.toString());
    command.addAll(flags);
    try {
      Files.write(file, settings);
      ServerProcess process = ServerProcess.start(work, command);
      process.awaitLine(ready, START_LIMIT);
      return new RedisProcess(process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A port that is free at this moment. */
  public static int freePort() {
    try {
      return ServerProcess.freePort();
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

  /** kill -9, also of a stopped process; returns when it is dead. */
  @Override
  public void close() {
    ProcessHandle.of(process.pid())
        .ifPresent(
            handle -> {
              handle.destroyForcibly();
              handle.onExit().join();
            });
    process.close();
  }
}
