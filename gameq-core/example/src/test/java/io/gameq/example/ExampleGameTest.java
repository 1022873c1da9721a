package io.gameq.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example as its page says: two nodes, a writer, and what is in MySQL in the evening. */
class ExampleGameTest {
  @TempDir Path directory;

  @Test
  void aDayOnTwoNodesIsInMySqlOnceTheyHaveShutDown() throws Exception {
    String classPath = System.getProperty("java.class.path");
    try (ExampleWorld world = new ExampleWorld(directory, classPath)) {
      assertEquals(
          List.of(
              "sold: Anna has 70, Bert has 50",
              "Anna to Cara: are you there?",
              "Bert to Cara: I have a sword now",
              "members of the guild: 2",
              "node-1: all of it is in MySQL",
              "node-2: all of it is in MySQL"),
          game(world, classPath));
      assertEquals(ExampleWorld.day(), world.dayInMySql());
    }
  }

  /** Runs the game as its page says, with the flags of this JVM. */
  private List<String> game(ExampleWorld world, String classPath) throws IOException {
    List<String> command = new ArrayList<>(ExampleWorld.java(classPath));
    command.addAll(List.of(GameMain.class.getName(), directory.resolve("wal").toString()));
    ProcessBuilder process = new ProcessBuilder(command);
    process.environment().putAll(world.settings());
    Process running = process.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String told = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return told.lines().toList();
  }
}
