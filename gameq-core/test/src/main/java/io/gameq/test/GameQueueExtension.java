package io.gameq.test;

import static org.junit.platform.commons.support.HierarchyTraversalMode.TOP_DOWN;

import io.gameq.GameQueue;
import io.gameq.test.GameQueueTest.ManagedTable;
import io.gameq.test.GameQueueTest.OnServers;
import io.gameq.test.GameQueueTest.ServerAddresses;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Parameter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;

/** Gives tests what {@link GameQueueTest} says, from JUnit 5.13 on. Thread-safe. */
final class GameQueueExtension implements ExecutionCondition, ParameterResolver {
  private static final Namespace HERE = Namespace.create(GameQueueExtension.class);
  private static final String SERVERS = "gameq.test.servers";
  private static final String MEMORY = "memory";

  private static final Set<Class<?>> IN_MEMORY =
      Set.of(MemoryServers.class, MemoryFaults.class, TestClock.class);

  /**
   * What one test plays, in memory or else on servers. JUnit closes it, also after a test that is
   * skipped once its constructor has run.
   */
  private record TestGame(
      @Nullable MemoryServers memory, @Nullable ServersGame servers, List<GameQueue> nodes)
      implements AutoCloseable {
    GameQueue node(int number) {
      while (nodes.size() <= number) {
        String name = "node-" + (nodes.size() + 1);
        nodes.add(memory == null ? Objects.requireNonNull(servers).open(name) : memory.open(name));
      }
      return nodes.get(number);
    }

    @Override
    public void close() {
      if (servers != null) {
        servers.end(nodes);
      }
    }
  }

  // --- which tests

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (context.getTestClass().isPresent() && servers(ofClass(context)) != null) {
      for (Class<?> asked : askedFor(context)) {
        if (IN_MEMORY.contains(asked)) {
          return ConditionEvaluationResult.disabled(
              "%s is to be had in memory only, and this runs on servers (%s)"
                  .formatted(asked.getSimpleName(), SERVERS));
        }
      }
    }
    return ConditionEvaluationResult.enabled("it can run here");
  }

  /**
   * By a test, and by what runs before and after it; by the constructor of a class, which runs
   * before JUnit looks whether its tests do.
   */
  private static List<Class<?>> askedFor(ExtensionContext context) {
    Class<?> of = context.getRequiredTestClass();
    List<Executable> all = new ArrayList<>();
    context.getTestMethod().ifPresentOrElse(all::add, () -> all.addAll(constructors(of)));
    all.addAll(AnnotationSupport.findAnnotatedMethods(of, BeforeEach.class, TOP_DOWN));
    all.addAll(AnnotationSupport.findAnnotatedMethods(of, AfterEach.class, TOP_DOWN));
    return all.stream().<Class<?>>flatMap(one -> Arrays.stream(one.getParameterTypes())).toList();
  }

  private static List<Constructor<?>> constructors(Class<?> of) {
    return List.of(of.getDeclaredConstructors());
  }

  // --- parameters

  /** So that what a constructor asks for is the test's. */
  @Override
  public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
    return ExtensionContextScope.TEST_METHOD;
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return context.getTestMethod().isPresent()
        && (type == GameQueue.class || type == GameTime.class || IN_MEMORY.contains(type));
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    TestGame game = game(context);
    MemoryServers memory = game.memory;
    if (type == GameQueue.class) {
      Parameter[] all = parameter.getDeclaringExecutable().getParameters();
      long before =
          Arrays.stream(all, 0, parameter.getIndex()).filter(of -> of.getType() == type).count();
      return game.node((int) before);
    }
    if (type == GameTime.class) {
      return new GameTime(memory == null ? null : memory.clock());
    }
    MemoryServers servers = Objects.requireNonNull(memory, "skipped on servers");
    return type == TestClock.class
        ? servers.clock()
        : type == MemoryFaults.class ? servers.faults() : servers;
  }

  private static TestGame game(ExtensionContext context) {
    Store store = context.getStore(HERE);
    TestGame known = store.get(TestGame.class, TestGame.class);
    if (known != null) {
      return known;
    }
    ExtensionContext ofClass = ofClass(context);
    ServersGame servers = onServers(ofClass);
    TestGame game =
        new TestGame(
            servers == null ? MemoryServers.of(schema(ofClass)) : null, servers, new ArrayList<>());
    store.put(TestGame.class, game);
    return game;
  }

  // --- what it runs on

  /** Null in memory; emptied for the test that asks. */
  private static @Nullable ServersGame onServers(ExtensionContext ofClass) {
    Supplier<ServerAddresses> where = servers(ofClass);
    if (where == null) {
      return null;
    }
    Store store = ofClass.getStore(HERE);
    ServersGame known = store.get(ServersGame.class, ServersGame.class);
    ServersGame game =
        known == null || known.isClosed() ? new ServersGame(where.get(), schema(ofClass)) : known;
    store.put(ServersGame.class, game);
    game.begin();
    return game;
  }

  /** Null in memory. */
  private static @Nullable Supplier<ServerAddresses> servers(ExtensionContext ofClass) {
    OnServers given =
        AnnotationSupport.findAnnotation(ofClass.getRequiredTestClass(), OnServers.class)
            .orElse(null);
    if (given != null) {
      return ReflectionSupport.newInstance(given.value());
    }
    String configured = ofClass.getConfigurationParameter(SERVERS).orElse(MEMORY).strip();
    if (configured.equals(MEMORY)) {
      return null;
    }
    if (configured.equals("testcontainers")) {
      return () -> {
        ReflectionSupport.tryToLoadClass("org.testcontainers.containers.GenericContainer")
            .getOrThrow(GameQueueExtension::noTestcontainers);
        return ContainerServers.get();
      };
    }
    List<String> words = List.of(configured.split("[\\s,]+"));
    if (words.size() != 2 || !words.get(1).startsWith("jdbc:mysql://")) {
      throw new ExtensionConfigurationException(
          SERVERS
              + " must be memory, testcontainers, or 'redis://host:port jdbc:mysql://host:port': "
              + configured);
    }
    return () ->
        new ServerAddresses(
            words.get(0),
            words.get(1),
            ofClass.getConfigurationParameter("gameq.test.user").orElse("root"),
            ofClass.getConfigurationParameter("gameq.test.password").orElse(""));
  }

  private static ExtensionConfigurationException noTestcontainers(Exception why) {
    return new ExtensionConfigurationException(
        SERVERS
            + "=testcontainers needs the artifact org.testcontainers:testcontainers, 2.0 or newer,"
            + " in scope test",
        why);
  }

  /** The context of the class that is annotated: a nested one has its tests in the outer one's. */
  private static ExtensionContext ofClass(ExtensionContext context) {
    for (ExtensionContext of = context; ; of = of.getParent().orElseThrow()) {
      if (of.getTestMethod().isEmpty()
          && of.getTestClass().flatMap(GameQueueExtension::find).isPresent()) {
        return of;
      }
    }
  }

  private static Optional<GameQueueTest> find(Class<?> test) {
    return AnnotationSupport.findAnnotation(test, GameQueueTest.class);
  }

  private static GameQueueTest annotation(ExtensionContext ofClass) {
    return find(ofClass.getRequiredTestClass()).orElseThrow();
  }

  private static TestSchema schema(ExtensionContext ofClass) {
    Store store = ofClass.getStore(HERE);
    TestSchema known = store.get(TestSchema.class, TestSchema.class);
    if (known != null) {
      return known;
    }
    GameQueueTest test = annotation(ofClass);
    TestSchema schema = read(ofClass.getRequiredTestClass(), test.schema());
    for (ManagedTable of : test.tables()) {
      schema = schema.table(of.name(), of.owner(), of.ownerColumn());
    }
    store.put(TestSchema.class, schema);
    return schema;
  }

  private static TestSchema read(Class<?> test, String file) {
    try (InputStream resource = test.getResourceAsStream(file)) {
      return resource == null
          ? TestSchema.of(Path.of(file))
          : TestSchema.of(new String(resource.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
