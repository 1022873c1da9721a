package io.gameq.writer.service;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.Password;
import io.gameq.config.WhenRedisIsAway;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.topic.TopicPlugin;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.config.WriterConfig.NodeSettings;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The game node within a writer's process, and its plug-ins. Thread-safe. A kill of the process
 * loses no message that was queued, as with any node.
 */
public final class WriterNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WriterNode.class);

  private static final Duration MOST_CALL = Duration.ofSeconds(15);

  /** Opens of owners are rare here, and each topic asks Redis alone. */
  private static final int MYSQL_CONNECTIONS = 2;

  private final GameQueue queue;
  private final @Nullable PluginJars plugins;
  private final AtomicBoolean hasFailed;

  private WriterNode(GameQueue queue, @Nullable PluginJars plugins, AtomicBoolean hasFailed) {
    this.queue = queue;
    this.plugins = plugins;
    this.hasFailed = hasFailed;
  }

  /**
   * Opens the node that the configuration describes, then starts its plug-ins.
   *
   * @throws GameQueueException naming what is missing or unfit and the remedy, such as options of
   *     the JVM, or a plug-in that did not start: nothing is left running
   */
  public static WriterNode open(WriterConfig settings) {
    NodeSettings node = Objects.requireNonNull(settings.node());
    AtomicBoolean hasFailed = new AtomicBoolean();
    GameQueue queue = GameQueue.open(config(settings, node, hasFailed));
    PluginJars plugins = null;
    try {
      plugins = node.plugins() == null ? null : new PluginJars(node.plugins());
      if (plugins != null) {
        plugins.start(queue);
      }
      LOG.info(
          "node {} runs within this writer, with {} plug-ins",
          node.name(),
          plugins == null ? 0 : plugins.count());
      return new WriterNode(queue, plugins, hasFailed);
    } catch (RuntimeException | Error e) {
      queue.close(); // before the plug-ins, as at any other end
      if (plugins != null) {
        plugins.close();
      }
      throw e;
    }
  }

  private static GameQueueConfig config(
      WriterConfig settings, NodeSettings node, AtomicBoolean hasFailed) {
    Duration half = Duration.ofSeconds(settings.writer().drainSeconds()).dividedBy(2);
    GameQueueConfigBuilder builder =
        GameQueueConfig.builder()
            .redis(settings.redis().uri())
            .mysql(settings.mysql().url(), node.mysql().user(), node.mysql().password())
            .poolSize(MYSQL_CONNECTIONS)
            .namespace(settings.namespace())
            .slots(settings.slots())
            .node(node.name())
            .walDirectory(node.walDirectory())
            .whenRedisIsAway(WhenRedisIsAway.FAIL) // who asks over HTTP is told, and tries again
            .callTimeout(half.compareTo(MOST_CALL) < 0 ? half : MOST_CALL)
            .onFailure(error -> hasFailed.set(true));
    if (node.redis().user() != null) {
      builder.redisUser(node.redis().user());
    }
    if (node.redis().password() != null) {
      builder.redisPassword(node.redis().password());
    }
    RedisLogin sentinel = settings.redis().sentinel();
    Password sentinelPassword = sentinel.password();
    if (sentinelPassword != null) {
      builder.sentinelLogin(sentinel.user(), sentinelPassword);
    }
    if (settings.redis().tls() != null) {
      builder.redisTls(settings.redis().tls());
    }
    if (settings.mysql().tls() != null) {
      builder.mysqlTls(settings.mysql().tls());
    }
    return builder.build();
  }

  /** For the door. */
  public GameQueue queue() {
    return queue;
  }

  /** Whether it can do its work; else only a restart of the process helps. */
  public boolean isAlive() {
    return !hasFailed.get();
  }

  /** Why messages are not handled now, each in one line; empty when they are. */
  public List<String> problems() {
    return isAlive() ? List.of() : List.of("the node within this writer has failed: restart it");
  }

  /** Ends subscriptions and the node within half of writer.drainSeconds, then plug-ins. */
  @Override
  public void close() {
    try {
      queue.close();
    } catch (GameQueueException e) {
      LOG.warn("the node within this writer did not close well: {}", e.getMessage());
    }
    if (plugins != null) {
      plugins.close();
    }
  }

  /** The plug-ins of a directory's jars, running. Used by one thread. */
  private static final class PluginJars implements AutoCloseable {
    private final Path directory;
    private final URLClassLoader loader;
    private final List<TopicPlugin> plugins = new ArrayList<>();

    /**
     * None is started yet.
     *
     * @throws GameQueueException when the directory cannot be read
     */
    PluginJars(Path directory) {
      this.directory = directory;
      List<URL> jars = new ArrayList<>();
      try (Stream<Path> files = Files.list(directory)) {
        for (Path jar : files.filter(of -> of.toString().endsWith(".jar")).sorted().toList()) {
          jars.add(jar.toUri().toURL());
        }
      } catch (IOException e) {
        throw new GameQueueException(
            "setting 'node.plugins': %s cannot be read".formatted(directory), e);
      }
      loader =
          new URLClassLoader(
              "plugins", jars.toArray(URL[]::new), PluginJars.class.getClassLoader());
    }

    /**
     * Starts all plug-ins.
     *
     * @throws GameQueueException naming the jar, when one cannot be loaded or started
     */
    void start(GameQueue queue) {
      List<ServiceLoader.Provider<TopicPlugin>> found;
      try {
        found = ServiceLoader.load(TopicPlugin.class, loader).stream().toList();
      } catch (ServiceConfigurationError e) {
        throw new GameQueueException(
            "a plug-in of %s cannot be loaded: %s".formatted(directory, e.getMessage()), e);
      }
      if (found.isEmpty()) {
        throw new GameQueueException(
            ("setting 'node.plugins': no jar of %s has a plug-in, which is named in its"
                    + " META-INF/services/%s")
                .formatted(directory, TopicPlugin.class.getName()));
      }
      for (ServiceLoader.Provider<TopicPlugin> one : found) {
        String what = "plug-in %s of %s".formatted(one.type().getName(), jarOf(one.type()));
        start(one, what, queue);
        LOG.info("{} runs", what);
      }
    }

    private void start(ServiceLoader.Provider<TopicPlugin> provider, String what, GameQueue queue) {
      Thread thread = Thread.currentThread();
      ClassLoader before = thread.getContextClassLoader();
      thread.setContextClassLoader(loader); // libraries of the plug-in look there
      try {
        TopicPlugin plugin = provider.get();
        plugins.add(plugin);
        plugin.start(queue);
      } catch (InterruptedException e) {
        thread.interrupt();
        throw new GameQueueException(what + " was interrupted when it started", e);
      } catch (Exception | LinkageError | ServiceConfigurationError e) {
        throw new GameQueueException("%s did not start: %s".formatted(what, e), e);
      } finally {
        thread.setContextClassLoader(before);
      }
    }

    private static String jarOf(Class<?> type) {
      return type.getProtectionDomain().getCodeSource() == null
          ? "an unknown jar"
          : Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath())
              .getFileName()
              .toString();
    }

    /** How many run. */
    int count() {
      return plugins.size();
    }

    @Override
    public void close() {
      for (TopicPlugin plugin : plugins) {
        try {
          plugin.close();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        } catch (Exception e) { // must not keep the others open
          LOG.warn("plug-in {} did not close well", plugin.getClass().getName(), e);
        }
      }
      plugins.clear();
      try {
        loader.close();
      } catch (IOException e) {
        LOG.debug("the class loader of plug-ins did not close: {}", e.toString());
      }
    }
  }
}
