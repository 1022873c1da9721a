package io.gameq.example.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.example.ExampleDay;
import io.gameq.example.ExampleGame;
import io.gameq.example.ExampleWorld;
import io.gameq.spring.GameQueueListener;
import io.gameq.spring.GameQueueProperties;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** The example game and its starter on whichever Spring Boot is there. */
class SpringGameTest {
  @TempDir static Path directory;

  private static ExampleWorld world;

  /** Not annotated, so that only those who ask for it get it. */
  static class Meters {
    @Bean
    MeterRegistry meters() {
      return new SimpleMeterRegistry();
    }
  }

  static class Opened {
    static final CountDownLatch OPENED = new CountDownLatch(1);

    @Bean
    GameQueueListener tells() {
      return queue -> OPENED.countDown();
    }
  }

  @BeforeAll
  static void start() throws Exception {
    System.out.println("Spring Boot " + SpringBootVersion.getVersion());
    String classPath = Files.readString(Path.of(System.getProperty("writer.classpath.file")));
    world = new ExampleWorld(directory, classPath.strip());
  }

  @AfterAll
  static void stop() throws Exception {
    world.close();
  }

  private static ConfigurableApplicationContext run(
      Class<?> with, Map<String, String> more, String node) {
    Map<String, Object> settings = new HashMap<>(world.settings());
    settings.put("gameq.node", node);
    settings.put("gameq.wal-directory", directory.resolve("wal").toString());
    settings.putAll(more);
    List<String> arguments = new ArrayList<>();
    settings.forEach((name, value) -> arguments.add("--" + name + "=" + value));
    return new SpringApplicationBuilder(SpringGame.class, with)
        .web(WebApplicationType.NONE)
        .run(arguments.toArray(String[]::new));
  }

  @Test
  void aDayOnTwoNodesIsInMySqlOnceTheirContextsAreClosed() throws Exception {
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    try (ConfigurableApplicationContext one = run(Meters.class, Map.of(), "node-1");
        ConfigurableApplicationContext two = run(Meters.class, Map.of(), "node-2")) {
      ExampleDay.play(
          one.getBean(ExampleGame.class), two.getBean(ExampleGame.class), new PrintStream(told));
      assertTrue(commits(one) > 0, "no commit was counted");
      assertEquals("UP", health(one));
    }
    assertTrue(told.toString(StandardCharsets.UTF_8).contains("members of the guild: 2"));
    assertEquals(ExampleWorld.day(), world.dayInMySql());
  }

  private static double commits(ConfigurableApplicationContext of) {
    return of.getBean(MeterRegistry.class)
        .get("gameq.node.commits")
        .tag("outcome", "queued")
        .functionCounter()
        .count();
  }

  /** By way of whichever type health has in this Spring Boot. */
  private static String health(ConfigurableApplicationContext of) throws Exception {
    Object indicator = of.getBean("gameQueueHealthIndicator");
    Class<?> type = Arrays.stream(indicator.getClass().getInterfaces()).findFirst().orElseThrow();
    Object health;
    try {
      health = type.getMethod("health").invoke(indicator);
    } catch (NoSuchMethodException e) {
      health = type.getMethod("getHealth", boolean.class).invoke(indicator, true);
    }
    assertNotNull(health);
    return health.getClass().getMethod("getStatus").invoke(health).toString();
  }

  @Test
  void aQueueThatCannotBeOpenedFailsTheContext() {
    Exception failure =
        assertThrows(
            Exception.class,
            () -> run(Meters.class, Map.of("gameq.mysql.url", "jdbc:mysql://127.0.0.1:1/x"), "n"));
    assertTrue(
        String.valueOf(failure.getCause()).contains("MySQL at 127.0.0.1:1"), () -> "" + failure);
  }

  @Test
  void aContextThatIsToldToStartsWithoutItsQueue() throws Exception {
    Map<String, String> away =
        Map.of("gameq.redis.uri", "redis://127.0.0.1:1", "gameq.fail-fast", "false");
    try (ConfigurableApplicationContext context = run(Meters.class, away, "node-3")) {
      GameQueue queue = context.getBean(GameQueue.class);
      assertThrows(GameQueueException.class, () -> queue.open("player:1"));
      assertEquals("DOWN", health(context));
    }
  }

  @Test
  void aQueueThatIsOpenedInTheBackgroundIsToldOf() throws Exception {
    try (ConfigurableApplicationContext context =
        run(Opened.class, Map.of("gameq.fail-fast", "false"), "node-4")) {
      assertTrue(Opened.OPENED.await(1, TimeUnit.MINUTES));
      assertTrue(context.getBean(GameQueue.class).read("player:1", "item").isEmpty());
    }
  }

  @Test
  void propertiesShowNoSecret() {
    try (ConfigurableApplicationContext context = run(Meters.class, Map.of(), "node-5")) {
      GameQueueProperties properties = context.getBean(GameQueueProperties.class);
      String shown = properties + " " + properties.redis() + " " + properties.mysql();
      assertTrue(shown.contains("node-5"), shown);
      assertFalse(shown.contains(world.settings().get("GAME_DB_PASSWORD")), shown);
    }
  }
}
