package io.gameq.packaging;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive, from unpacking it to a writer that is at work. */
class ArchiveTest {
  private static final List<String> PROGRAMS = List.of("gameq-writer", "gameq-recovery");
  private static final int ENDED_BY_SIGTERM = 143;

  @TempDir static Path directory;
  private static Archive archive;

  @BeforeAll
  static void unpack() throws Exception {
    archive = Archive.unpackedIn(Files.createDirectory(directory.resolve("opt")));
  }

  /** The two programs share one folder of libraries: both must have been built with the same. */
  @Test
  void theManifestsNameEachLibraryAndNoOther() throws IOException {
    Set<String> named = new TreeSet<>();
    for (String program : PROGRAMS) {
      try (JarFile jar = new JarFile(archive.home().resolve(program + ".jar").toFile())) {
        Attributes manifest = jar.getManifest().getMainAttributes();
        named.addAll(List.of(manifest.getValue(Attributes.Name.CLASS_PATH).split(" ")));
      }
    }
    Set<String> there = new TreeSet<>();
    try (Stream<Path> libraries = Files.list(archive.home().resolve("lib"))) {
      libraries.forEach(file -> there.add("lib/" + file.getFileName()));
    }
    assertTrue(there.size() > 50, there::toString);
    Set<String> missing = new TreeSet<>(named);
    missing.removeAll(there);
    there.removeAll(named);
    assertEquals("missing [], unused []", "missing %s, unused %s".formatted(missing, there));
    assertTrue(Files.readString(archive.home().resolve("THIRD-PARTY.txt")).contains("lettuce"));
  }

  @Test
  void launchersStartTheirPrograms() throws Exception {
    Path link = Files.createSymbolicLink(directory.resolve("linked"), archive.home());
    for (String program : PROGRAMS) {
      Archive.Ended version =
          Archive.run(
              Map.of("JAVA_OPTS", "-Xmx64m -XX:+UseSerialGC"),
              List.of(link + "/bin/" + program, "--version"));
      assertEquals(0, version.exitCode(), version::said);
      assertTrue(
          version.said().matches("(?s)" + program + " \\d+\\.\\d+\\.\\d+\\s.*"), version::said);
    }
  }

  @Test
  void launcherNamesTheJavaThatItCannotUse() throws Exception {
    Archive.Ended none = archive.run("gameq-writer", Map.of("JAVA_HOME", "/nowhere"), "--version");
    assertEquals(2, none.exitCode(), none::said);
    assertTrue(none.said().contains("JAVA_HOME is /nowhere"), none::said);
    Path old = Files.createDirectories(directory.resolve("java-11"));
    Path java = Files.createFile(Files.createDirectory(old.resolve("bin")).resolve("java"));
    assertTrue(java.toFile().setExecutable(true));
    Files.writeString(old.resolve("release"), "JAVA_VERSION=\"11.0.2\"\n");
    Archive.Ended tooOld =
        archive.run("gameq-writer", Map.of("JAVA_HOME", old.toString()), "--version");
    assertEquals(2, tooOld.exitCode(), tooOld::said);
    assertTrue(tooOld.said().contains("is Java 11.0.2: 17 or newer is needed"), tooOld::said);
  }

  @Test
  void launcherIsPlainShell() throws Exception {
    assumeTrue(Archive.isInstalled("shellcheck"), "shellcheck is not on the PATH");
    Archive.Ended check =
        Archive.run(Map.of(), List.of("shellcheck", archive.launcher("gameq-writer")));
    assertEquals(0, check.exitCode(), check::said);
  }

  @Test
  void aWriterComesToWorkAndEndsAtSigterm() throws Exception {
    MySqlServer mysql = TestServers.mysql().freshDatabase("archive");
    mysql.execute("CREATE TABLE item (id BIGINT PRIMARY KEY, player_id BIGINT NOT NULL)");
    int port = freePort();
    Path config = config(mysql, port);
    Archive.Ended migrated =
        archive.run("gameq-writer", Map.of(), "schema", "migrate", "--config", config.toString());
    assertEquals(0, migrated.exitCode(), migrated::said);

    Path cache = archive.home().resolve("cache");
    Path log = directory.resolve("writer.log");
    ProcessBuilder run =
        new ProcessBuilder(archive.launcher("gameq-writer"), "run", "--config", config.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    run.environment().put("JAVA_OPTS", "-XX:TieredStopAtLevel=1");
    Process writer = run.start();
    try {
      await().atMost(LONG).until(() -> !writer.isAlive() || isReady(port));
      writer.destroy(); // SIGTERM to the launcher, which the JVM has replaced
      assertTrue(writer.waitFor(LONG.toSeconds(), TimeUnit.SECONDS));
      assertEquals(ENDED_BY_SIGTERM, writer.exitValue(), () -> read(log));
    } finally {
      writer.destroyForcibly();
    }
    assertTrue(read(log).contains(" stopped: "), () -> read(log));
    assertFalse(read(log).contains("[cds]"), () -> read(log)); // what cannot be kept is no news

    // Refuses to start where what was left behind cannot be used.
    Archive.Ended next =
        archive.run(
            "gameq-writer",
            Map.of("GAMEQ_CACHE_DIR", cache.toString(), "JAVA_OPTS", "-Xshare:on"),
            "--version");
    assertEquals(0, next.exitCode(), next::said);
    assertEquals(1, shared(cache).size(), () -> shared(cache).toString());
  }

  private static Path config(MySqlServer mysql, int port) throws IOException {
    return Files.writeString(
        directory.resolve("gameq.yaml"),
        """
        namespace: archive
        slots: 4
        redis: { uri: "%s" }
        mysql: { url: "%s", user: "%s", password: "%s" }
        http: { port: %d }
        tables:
          - { name: item, owner: player, ownerColumn: player_id }
        """
            .formatted(
                TestServers.redisUri(), mysql.jdbcUrl(), mysql.user(), mysql.password(), port));
  }

  private static boolean isReady(int port) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/ready")).build();
    try {
      return HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode()
          == 200;
    } catch (IOException e) {
      return false; // it does not listen yet
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static List<Path> shared(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".jsa")).toList();
    } catch (IOException e) {
      return List.of();
    }
  }
}
