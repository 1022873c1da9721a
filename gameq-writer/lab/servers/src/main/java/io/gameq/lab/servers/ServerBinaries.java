package io.gameq.lab.servers;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.attribute.PosixFilePermissions.asFileAttribute;
import static java.nio.file.attribute.PosixFilePermissions.fromString;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Unpacks server programs from a jar on the classpath. Stateless. */
final class ServerBinaries {
  private ServerBinaries() {}

  /** The platform in the words of the error message, for example {@code linux/amd64}. */
  static String platform() {
    return (System.getProperty("os.name") + "/" + System.getProperty("os.arch"))
        .toLowerCase(Locale.ROOT);
  }

  static boolean isLinuxX86() {
    return platform().equals("linux/amd64") || platform().equals("linux/x86_64");
  }

  /** The error for a program that this classpath or this platform does not have. */
  static EmbeddedServerException unavailable(
      String server, String artifact, String setting, Throwable cause) {
    return new EmbeddedServerException(
        ("no embedded %s on %s: it needs %s on the classpath and a platform that has it;"
                + " or run your own server and pass %s")
            .formatted(server, platform(), artifact, setting),
        cause);
  }

  /**
   * A directory of this user alone in the system's temporary one, for processes of any time; Linux.
   *
   * @throws IOException when somebody else has made it
   */
  static Path ownDirectory(String prefix) throws IOException {
    String name = prefix + "-" + System.getProperty("user.name");
    Path directory = Path.of(System.getProperty("java.io.tmpdir"), name);
    try {
      return Files.createDirectory(directory, asFileAttribute(fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      UserPrincipal owner = Files.getOwner(directory, NOFOLLOW_LINKS);
      if (!owner.equals(Files.getOwner(Path.of("/proc/self")))) {
        throw new IOException(directory + " belongs to " + owner.getName() + ": remove it", e);
      }
      return directory;
    }
  }

  /**
   * Copies the entries below {@code root} that start with one of {@code wanted} into a directory,
   * as programs. Files that are there with the right size are kept; others appear as a whole.
   *
   * @throws IOException when the classpath has no jar with {@code root/marker}
   */
  static void unpack(String root, String marker, List<String> wanted, Path into)
      throws IOException {
    URL url = ServerBinaries.class.getClassLoader().getResource(root + marker);
    if (url == null || !(url.openConnection() instanceof JarURLConnection connection)) {
      throw new IOException("no jar with " + root + marker + " on the classpath");
    }
    // Not the JVM-wide cached JarFile, which closing here would close for everybody.
    connection.setUseCaches(false);
    try (JarFile jar = connection.getJarFile()) {
      jar.stream()
          .filter(entry -> !entry.isDirectory() && entry.getName().startsWith(root))
          .filter(
              entry ->
                  wanted.stream().anyMatch(entry.getName().substring(root.length())::startsWith))
          .forEach(
              entry -> copy(jar, entry, into.resolve(entry.getName().substring(root.length()))));
    }
  }

  private static void copy(JarFile jar, JarEntry entry, Path target) {
    try {
      if (Files.exists(target) && Files.size(target) == entry.getSize()) {
        return;
      }
      Path part = target.resolveSibling(target.getFileName() + ".part");
      Files.createDirectories(target.resolveSibling("."));
      try (InputStream content = jar.getInputStream(entry)) {
        Files.copy(content, part, REPLACE_EXISTING);
      }
      Files.setPosixFilePermissions(part, fromString("rwx------"));
      Files.move(part, target, ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot unpack " + target, e);
    }
  }
}
