package io.gameq.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.config.GameQueueConfig;
import io.gameq.wal.WalWriter;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** A JVM without the flags of Chronicle Queue, and servers that are not there. */
class JvmFlagsTest {
  @TempDir Path directory;

  /** Opens a queue on servers that are not there, and prints what is said of it; makes a WAL. */
  public static final class Opener {
    private Opener() {}

    public static void main(String[] args) {
      GameQueueConfig config =
          GameQueueConfig.builder()
              .redis("redis://127.0.0.1:1")
              .mysql("jdbc:mysql://127.0.0.1:1/game", "game", "secret")
              .namespace("game")
              .node("node-1")
              .walDirectory(Path.of(args[0]))
              .build();
      try (GameQueue queue = GameQueue.open(config)) {
        System.out.println("opened " + queue);
      } catch (GameQueueException e) {
        System.out.println(e);
      }
      var start =
          new WalWriter.Start(config.walDirectory(), "game", 4, "db", "node-1", "0badcafe", 0);
      try (WalWriter wal = WalWriter.create(start, config.walLimits(), List.of())) {
        System.out.println("made " + wal.id());
      } catch (GameQueueException e) {
        System.out.println(e);
      }
    }
  }

  /** The same as a plug-in of some server: with a class loader that is not the application's. */
  static final class Plugin {
    private Plugin() {}

    public static void main(String[] args) throws Exception {
      List<URL> urls = new ArrayList<>();
      StringTokenizer paths =
          new StringTokenizer(System.getProperty("java.class.path"), File.pathSeparator);
      while (paths.hasMoreTokens()) {
        urls.add(Path.of(paths.nextToken()).toUri().toURL());
      }
      ClassLoader loader =
          new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
      Thread.currentThread().setContextClassLoader(loader);
      Class.forName(Opener.class.getName(), true, loader)
          .getMethod("main", String[].class)
          .invoke(null, (Object) args);
    }
  }

  @Test
  void withoutFlagsItIsTheServersThatAreMissed() throws Exception {
    assertWorks(run(Opener.class, List.of()));
  }

  @Test
  void soItIsInAnotherClassLoader() throws Exception {
    assertWorks(run(Plugin.class, List.of()));
  }

  private static void assertWorks(String said) {
    assertTrue(said.startsWith("io.gameq.MySqlUnavailableException: MySQL at 127.0.0.1:1 "), said);
    assertTrue(said.contains("made node-1-"), said);
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_24)
  void flagsAreNamedWhereTheJvmLetsNothingBeOpened() throws Exception {
    String said = run(Opener.class, List.of("--sun-misc-unsafe-memory-access=deny"));
    String flags =
        "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED"
            + " --add-exports=java.base/sun.nio.ch=ALL-UNNAMED"
            + " --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED"
            + " --sun-misc-unsafe-memory-access=allow";
    assertTrue(said.startsWith("io.gameq.WalException: this JVM does not let gameq open"), said);
    assertEquals(flags, said.lines().findFirst().orElse("").replaceAll(".*OPTIONS: ", ""));
  }

  private String run(Class<?> main, List<String> flags) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(flags);
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.add(directory.toString());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }
}
