package io.gameq.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.config.GameQueueConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A JVM without the flags of Chronicle Queue, and servers that are not there. */
class JvmFlagsTest {
  private static final String OPENS = "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED";
  private static final String EXPORTS = "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED";
  private static final String REFS = "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED";

  /** Opens a queue on servers that are not there, and prints what is said of it. */
  static final class Opener {
    private Opener() {}

    public static void main(String[] ignored) {
      GameQueueConfig config =
          GameQueueConfig.builder()
              .redis("redis://127.0.0.1:1")
              .mysql("jdbc:mysql://127.0.0.1:1/game", "game", "secret")
              .namespace("game")
              .node("node-1")
              .walDirectory(Path.of("wal-that-is-not-made"))
              .build();
      try (GameQueue queue = GameQueue.open(config)) {
        System.out.println("opened " + queue);
      } catch (GameQueueException e) {
        System.out.println(e);
      }
    }
  }

  @Test
  void missingFlagsAreNamedBeforeAnyServerIsAsked() throws Exception {
    String nothing = open(List.of());
    assertTrue(nothing.startsWith("io.gameq.WalException: this JVM was started without"), nothing);
    assertTrue(nothing.contains(": " + OPENS + " " + EXPORTS + " " + REFS), nothing);
    assertTrue(nothing.contains("(all but the first 2 against warnings alone)"), nothing);
    assertEquals(
        Runtime.version().feature() >= 24,
        nothing.contains("--sun-misc-unsafe-memory-access=allow"),
        nothing);
  }

  @Test
  void onlyWhatIsMissingIsNamed() throws Exception {
    String withoutExports = open(List.of(OPENS, REFS));
    assertTrue(withoutExports.contains(": " + EXPORTS), withoutExports);
    assertFalse(withoutExports.contains(OPENS), withoutExports);
    assertFalse(withoutExports.contains(REFS), withoutExports);
  }

  @Test
  void withTheFlagsItIsTheServersThatAreMissed() throws Exception {
    String said = open(List.of(OPENS, EXPORTS));
    assertTrue(said.startsWith("io.gameq.MySqlUnavailableException: MySQL at 127.0.0.1:1 "), said);
  }

  private static String open(List<String> flags) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(flags);
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Opener.class.getName()));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }
}
