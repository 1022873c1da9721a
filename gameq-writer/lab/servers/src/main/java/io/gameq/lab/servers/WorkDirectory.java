package io.gameq.lab.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * The directory an embedded server runs in: the caller's, which is kept, or a temporary one, which
 * {@link #close} deletes. Thread-safe: it has no state beyond the file system.
 */
public record WorkDirectory(Path path, boolean temporary) implements AutoCloseable {

  /** Set to {@code none}, nothing is started: a test that asks for a server is skipped. */
  private static final String SERVERS = "GAMEQ_TEST_SERVERS";

  /**
   * The caller's directory, created when missing; or a new one only this user can read.
   *
   * @throws EmbeddedServerException when no servers are wanted
   */
  public static WorkDirectory of(@Nullable Path given, String prefix) {
    if ("none".equals(System.getProperty(SERVERS, System.getenv(SERVERS)))) {
      throw new EmbeddedServerException(SERVERS + "=none: no server is started");
    }
    try {
      return given == null
          ? new WorkDirectory(Files.createTempDirectory(prefix), true)
          : new WorkDirectory(Files.createDirectories(given).toAbsolutePath(), false);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create a work directory for an embedded server", e);
    }
  }

  Path directory(String name) {
    try {
      return Files.createDirectories(path.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes a temporary directory; what cannot be deleted is left to the system's own cleaning. */
  @Override
  public void close() {
    if (!temporary || !Files.exists(path)) {
      return;
    }
    try {
      Files.walkFileTree(path, new Deleting());
    } catch (IOException e) {
      // A server that was killed may still be writing its last file: nothing of value is lost here.
      path.toFile().deleteOnExit();
    }
  }

  private static final class Deleting extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
        throws IOException {
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }
}
