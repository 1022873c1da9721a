package io.gameq.lab.scratch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The temporary directory of the nodes' WALs, gone at close and when the JVM ends, also by Ctrl-C.
 * Thread-safe.
 */
public final class ScratchDirectory implements AutoCloseable {
  private final String command;
  private final Path path;
  private final Thread hook = new Thread(this::interrupted, "gameq-scratch-stop");

  /** Makes it, for the command of this name. */
  public ScratchDirectory(String command) throws IOException {
    this.command = command;
    path = Files.createTempDirectory("gameq-" + command + "-");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  public Path path() {
    return path;
  }

  /**
   * The servers end at the same time, by their own hooks: what the nodes say of it helps nobody.
   */
  private void interrupted() {
    System.err.println();
    System.err.println(command + ": interrupted; nothing was drained or verified");
    System.err.close();
    delete();
  }

  /** A directory of this name in it, with nothing in it. */
  public Path emptied(String name) throws IOException {
    Path inner = path.resolve(name);
    if (Files.exists(inner)) {
      delete(inner);
    }
    return Files.createDirectories(inner);
  }

  private void delete() {
    try {
      delete(path);
    } catch (IOException | UncheckedIOException e) {
      // A node may still be writing its WAL; the system cleans its temporary directory.
      path.toFile().deleteOnExit();
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      List<Path> innermostFirst = all.sorted(Comparator.reverseOrder()).toList();
      for (Path file : innermostFirst) {
        Files.deleteIfExists(file);
      }
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shutdownBegan) {
      return; // the hook does it
    }
    delete();
  }
}
