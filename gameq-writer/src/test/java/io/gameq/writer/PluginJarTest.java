package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.servers.GameDatabase;
import io.gameq.topic.TopicPlugin;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Handlers in a writer's process, from a jar that is compiled here. */
class PluginJarTest {
  private static final String COUNTER =
      """
      package shop;

      import io.gameq.GameQueue;
      import io.gameq.topic.TopicPlugin;
      import java.nio.file.Files;
      import java.nio.file.Path;

      public final class Counter implements TopicPlugin {
        @Override
        public void start(GameQueue queue) throws Exception {
          if (Files.exists(Path.of("DIRECTORY/refuse"))) {
            throw new IllegalStateException("no shop today");
          }
          queue
              .topic("sale", Sale.class)
              .subscribe(
                  delivery ->
                      Files.createFile(Path.of("DIRECTORY/sold-" + delivery.payload().item())));
        }

        @Override
        public void close() throws Exception {
          Files.createFile(Path.of("DIRECTORY/closed"));
        }

        public record Sale(int item) {}
      }
      """;

  @TempDir private Path directory = Path.of(".");

  @Test
  void aHandlerOfAJarHandlesMessagesUntilTheWriterStops() throws Exception {
    Path seen = Files.createDirectories(directory.resolve("seen"));
    try (Game game = game();
        DoorWorld writer = writer(game, jar(seen))) {
      assertEquals(200, writer.put("sale/messages/k", "{\"payload\": {\"item\": 7}}").status());
      await().atMost(LONG).until(() -> Files.exists(seen.resolve("sold-7")));
      await()
          .atMost(LONG)
          .until(() -> writer.get("sale/messages/k").status() == 404); // acknowledged
    }
    assertTrue(Files.exists(seen.resolve("closed")));
  }

  @Test
  void oneThatDoesNotStartKeepsTheWriterFromStartingAndIsNamed() throws Exception {
    Path seen = Files.createDirectories(directory.resolve("seen"));
    Files.createFile(seen.resolve("refuse"));
    try (Game game = game()) {
      Path jars = jar(seen);
      GameQueueException refused =
          assertThrows(GameQueueException.class, () -> writer(game, jars).close());
      String message = String.valueOf(refused.getMessage());
      assertTrue(message.contains("shop.Counter of shop.jar did not start"), message);
      assertTrue(message.contains("no shop today"), message);
    }
    assertTrue(Files.exists(seen.resolve("closed")));
  }

  @Test
  void aDirectoryWithoutPluginsIsRefused() throws Exception {
    Path none = Files.createDirectories(directory.resolve("none"));
    try (Game game = game()) {
      GameQueueException refused =
          assertThrows(GameQueueException.class, () -> writer(game, none).close());
      assertTrue(
          String.valueOf(refused.getMessage()).contains("has a plug-in"), refused.getMessage());
    }
  }

  private Game game() throws SQLException {
    return new Game(
        GameDatabase.create("plugin")
            .table("purse", "player", "player_id", "player_id BIGINT NOT NULL PRIMARY KEY"),
        directory);
  }

  private DoorWorld writer(Game game, Path jars) throws IOException {
    return new DoorWorld(game, directory, "plugged", "plugins: \"" + jars + "\"");
  }

  /** A directory with a jar in which the plug-in is. */
  private Path jar(Path seen) throws IOException {
    Path source = Files.createDirectories(directory.resolve("source")).resolve("Counter.java");
    Files.writeString(source, COUNTER.replace("DIRECTORY", seen.toString()));
    Path classes = Files.createDirectories(directory.resolve("classes"));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      assertTrue(
          compiler
              .getTask(
                  null,
                  files,
                  null,
                  List.of("-d", classes.toString(), "-cp", classPath()),
                  null,
                  files.getJavaFileObjects(source))
              .call());
    }
    Path jars = Files.createDirectories(directory.resolve("plugins"));
    try (OutputStream file = Files.newOutputStream(jars.resolve("shop.jar"));
        JarOutputStream jar = new JarOutputStream(file)) {
      for (String name : List.of("shop/Counter.class", "shop/Counter$Sale.class")) {
        jar.putNextEntry(new JarEntry(name));
        Files.copy(classes.resolve(name), jar);
      }
      jar.putNextEntry(new JarEntry("META-INF/services/" + TopicPlugin.class.getName()));
      jar.write("shop.Counter\n".getBytes(US_ASCII));
    }
    return jars;
  }

  /** Where gameq's API is, as for whoever writes a plug-in. */
  private static String classPath() {
    try {
      return Path.of(TopicPlugin.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
