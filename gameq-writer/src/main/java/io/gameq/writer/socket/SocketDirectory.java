package io.gameq.writer.socket;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Where writers listen: directories that nobody but their user, and root, may enter. A socket is
 * named after the configuration and the process. Stateless.
 */
final class SocketDirectory {
  private static final String OWNER_ONLY = "rwx------";

  /** What the unit file has systemd make: {@code RuntimeDirectory}. */
  private static final Path OF_SYSTEMD = Path.of("/run/gameq");

  private SocketDirectory() {}

  /** A path for this writer's socket, in a directory that is there. */
  static Path socket(String config) throws IOException {
    String ofSystemd = System.getenv("RUNTIME_DIRECTORY");
    Path directory = ofSystemd == null ? ofUser() : Path.of(ofSystemd);
    if (ofSystemd == null) {
      try {
        Files.createDirectory(
            directory,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY)));
      } catch (FileAlreadyExistsException e) {
        // Of an earlier writer, or of somebody else: see below.
      }
    }
    if (!isClosed(directory) || (ofSystemd == null && !isOwn(directory))) {
      throw new IOException(directory + " is not a directory of this user alone");
    }
    return directory.resolve(prefix(config) + ProcessHandle.current().pid() + ".sock");
  }

  /** Sockets of writers with this configuration, also of writers that were killed. */
  static List<Path> sockets(String config) throws IOException {
    List<Path> sockets = new ArrayList<>();
    for (Path directory : List.of(OF_SYSTEMD, ofUser())) {
      if (isClosed(directory) && (isOwn(directory) || (isRoot() && directory == OF_SYSTEMD))) {
        try (DirectoryStream<Path> found =
            Files.newDirectoryStream(directory, prefix(config) + "*.sock")) {
          found.forEach(sockets::add);
        }
      }
    }
    return sockets;
  }

  private static Path ofUser() {
    return Path.of(System.getProperty("java.io.tmpdir"), "gameq-" + user());
  }

  private static String prefix(String config) {
    CRC32 sum = new CRC32(); // paths of sockets are short
    sum.update(config.getBytes(StandardCharsets.UTF_8));
    return Long.toHexString(sum.getValue()) + "-";
  }

  private static String user() {
    return System.getProperty("user.name");
  }

  private static boolean isRoot() {
    return user().equals("root");
  }

  /** Not by way of a link, which anybody may make in a directory for temporary files. */
  private static boolean isOwn(Path directory) throws IOException {
    PosixFileAttributes of = attributes(directory, LinkOption.NOFOLLOW_LINKS);
    return of != null && of.isDirectory() && of.owner().getName().equals(user());
  }

  private static boolean isClosed(Path directory) throws IOException {
    PosixFileAttributes of = attributes(directory);
    return of != null && PosixFilePermissions.toString(of.permissions()).equals(OWNER_ONLY);
  }

  private static @Nullable PosixFileAttributes attributes(Path directory, LinkOption... links)
      throws IOException {
    return Files.exists(directory, links)
        ? Files.readAttributes(directory, PosixFileAttributes.class, links)
        : null;
  }
}
