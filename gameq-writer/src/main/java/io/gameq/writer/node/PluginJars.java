package io.gameq.writer.node;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.TopicPlugin;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The plug-ins of a directory's jars, running. Used by one thread. */
final class PluginJars implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PluginJars.class);

  private final URLClassLoader loader;
  private final List<TopicPlugin> plugins = new ArrayList<>();

  private PluginJars(URLClassLoader loader) {
    this.loader = loader;
  }

  /**
   * Starts all plug-ins of a directory.
   *
   * @throws GameQueueException naming the jar, when one cannot be loaded or started; the node is
   *     closed then, and so are the plug-ins before it
   */
  static PluginJars start(Path directory, GameQueue queue) {
    List<URL> jars = jars(directory);
    PluginJars started =
        new PluginJars(
            new URLClassLoader(
                "plugins", jars.toArray(URL[]::new), PluginJars.class.getClassLoader()));
    try {
      started.startAll(directory, queue);
      return started;
    } catch (RuntimeException | Error e) {
      queue.close(); // before them, as at any other end
      started.close();
      throw e;
    }
  }

  private static List<URL> jars(Path directory) {
    List<Path> jars = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.jar")) {
      files.forEach(jars::add);
      jars.sort(null);
      List<URL> urls = new ArrayList<>();
      for (Path jar : jars) {
        urls.add(jar.toUri().toURL());
      }
      return urls;
    } catch (IOException e) {
      throw new GameQueueException(
          "setting 'node.plugins': %s cannot be read".formatted(directory), e);
    }
  }

  private void startAll(Path directory, GameQueue queue) {
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
