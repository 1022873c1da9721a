package io.gameq.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The time of day of one process, which may be set while the process runs: libfaketime stands
 * before its C library and reads from a file by how much the clock is wrong. Time passed (the
 * monotonic clock) stays right, as on a host whose clock is set. Used by the campaign's thread.
 */
public final class ProcessClock {
  private static final String LIBRARY = "libfaketime.so.1";

  private static final @Nullable Path INSTALLED = find();

  /** The process reads the file once a second. */
  private static final int PATIENCE_SECONDS = 20;

  /** Far less than a jump, and longer than an answer takes. */
  private static final long TOLERANCE_MILLIS = 60_000;

  private final Path file;

  /** A clock that is right until it is set. */
  public ProcessClock(Path file) {
    this.file = file;
    write(Duration.ZERO);
  }

  /** Where Debian, Fedora and its own Makefile put it. */
  private static @Nullable Path find() {
    List<Path> places = new ArrayList<>();
    try (DirectoryStream<Path> machines = Files.newDirectoryStream(Path.of("/usr/lib"))) {
      machines.forEach(machine -> places.add(machine.resolve("faketime")));
    } catch (IOException e) {
      return null; // not Linux
    }
    places.add(Path.of("/usr/lib64/faketime"));
    places.add(Path.of("/usr/local/lib/faketime"));
    return places.stream()
        .map(place -> place.resolve(LIBRARY))
        .filter(Files::isReadable)
        .findFirst()
        .orElse(null);
  }

  /** Skips a case that sets clocks where that cannot be done, and says so. */
  public static void assumeInstalled(String name) {
    if (INSTALLED == null) {
      System.out.println(name + ": skipped, needs libfaketime (Debian's package libfaketime)");
    }
    Assumptions.assumeTrue(INSTALLED != null, "skipped: needs libfaketime");
  }

  /** What the process must be started with; nothing where libfaketime is not installed. */
  public Map<String, String> environment() {
    return INSTALLED == null
        ? Map.of()
        : Map.of(
            "LD_PRELOAD", INSTALLED.toString(),
            "FAKETIME_TIMESTAMP_FILE", file.toString(),
            "FAKETIME_CACHE_DURATION", "1",
            "FAKETIME_DONT_FAKE_MONOTONIC", "1",
            // Else a JVM's timed waits end at once.
            "FAKETIME_FORCE_MONOTONIC_FIX", "0",
            // Times of files stay what they are.
            "NO_FAKE_STAT", "1");
  }

  /** The command line of a program under this clock. */
  public List<String> startOf(String executable) {
    List<String> command = new ArrayList<>(List.of("env"));
    environment().forEach((name, value) -> command.add(name + "=" + value));
    command.add(executable);
    return command;
  }

  /**
   * Sets it, and returns when the process knows.
   *
   * @param ahead of the host's clock; negative: behind
   * @param read asks the process for its time, Unix milliseconds
   */
  public void set(Duration ahead, LongSupplier read) {
    write(ahead);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (Math.abs(aheadMillis(read) - ahead.toMillis()) > TOLERANCE_MILLIS) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("no clock was set by " + file + " to " + ahead);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  private static long aheadMillis(LongSupplier read) {
    return read.getAsLong() - System.currentTimeMillis();
  }

  /** The process never reads half of it. */
  private void write(Duration ahead) {
    Path whole = file.resolveSibling(file.getFileName() + ".new");
    try {
      Files.writeString(whole, "%+d".formatted(ahead.toSeconds()));
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes what libfaketime leaves of a process that was killed: else a next one may find it. */
  public static void forget(long pid) {
    for (String name : List.of("faketime_shm_", "sem.faketime_sem_")) {
      try {
        Files.deleteIfExists(Path.of("/dev/shm", name + pid));
      } catch (IOException e) {
        // somebody else's process has that id by now
      }
    }
  }
}
