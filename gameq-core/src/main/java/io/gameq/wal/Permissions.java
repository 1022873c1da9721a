package io.gameq.wal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * A WAL holds players' data: only the user that runs the node may look into it. File systems that
 * know no such permissions are taken as they are. Stateless.
 */
final class Permissions {
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");

  private Permissions() {}

  static void createDirectory(Path directory) throws IOException {
    if (arePosix(directory)) {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(DIRECTORY));
    } else {
      Files.createDirectory(directory);
    }
  }

  static void createFile(Path file) throws IOException {
    if (arePosix(file)) {
      Files.createFile(file, PosixFilePermissions.asFileAttribute(FILE));
    } else {
      Files.createFile(file);
    }
  }

  static void ownerOnly(Path file) throws IOException {
    if (arePosix(file)) {
      Files.setPosixFilePermissions(file, FILE);
    }
  }

  /** Not by {@code Files.getFileStore}, which needs /proc/mounts: a service may not see it. */
  private static boolean arePosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }
}
