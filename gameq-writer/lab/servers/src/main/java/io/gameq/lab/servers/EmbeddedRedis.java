package io.gameq.lab.servers;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis of its own on the loopback address, without persistence; thread-safe.
 *
 * <p>Everything in it is gone when it stops, however it stops: just what gameq must survive.
 *
 * <p>Of the library embedded-redis only the program is used, not its {@code RedisServer}; {@link
 * ServerProcess} says why.
 */
public final class EmbeddedRedis implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(1);
  private static final Pattern VERSION = Pattern.compile("Redis version=([0-9.]+)");

  private final ServerProcess process;
  private final int port;
  private final String version;

  private EmbeddedRedis(ServerProcess process, int port, String version) {
    this.process = process;
    this.port = port;
    this.version = version;
  }

  /**
   * How to start.
   *
   * @param workDirectory null: a temporary one, deleted at close
   * @param port 0: any free one
   * @param settings more settings, alternately name and value, for example {@code "maxmemory",
   *     "64mb"}; they win over gameq's
   */
  public record Options(@Nullable Path workDirectory, int port, List<String> settings) {
    public Options {
      settings = List.copyOf(settings);
      if (settings.size() % 2 != 0) {
        throw new EmbeddedServerException("settings of an embedded Redis come as name, value, ...");
      }
    }

    public static Options defaults() {
      return new Options(null, 0, List.of());
    }
  }

  /** Starts in a temporary directory on a free port. */
  public static EmbeddedRedis start() {
    return start(Options.defaults());
  }

  /**
   * Starts and returns once connections are accepted.
   *
   * @throws EmbeddedServerException when the program is not on the classpath, not made for this
   *     platform or does not start; nothing is left running then
   */
  public static EmbeddedRedis start(Options options) {
    WorkDirectory directory = WorkDirectory.of(options.workDirectory(), "gameq-redis-");
    try {
      int port = options.port() == 0 ? ServerProcess.freePort() : options.port();
      java.util.ArrayList<String> command = new java.util.ArrayList<>();
      command.add(executable(directory));
      command.addAll(List.of("--port", Integer.toString(port), "--bind", "127.0.0.1"));
      command.addAll(List.of("--dir", directory.path().toString()));
      command.addAll(List.of("--save", "", "--appendonly", "no"));
      command.addAll(List.of("--maxmemory-policy", "noeviction"));
      for (int i = 0; i < options.settings().size(); i += 2) {
        command.add("--" + options.settings().get(i));
        command.add(options.settings().get(i + 1));
      }
      ServerProcess process = ServerProcess.start(directory, command);
      String log = process.awaitLine("Ready to accept connections", START_LIMIT);
      Matcher version = VERSION.matcher(log);
      return new EmbeddedRedis(process, port, version.find() ? version.group(1) : "unknown");
    } catch (IOException e) {
      directory.close();
      throw new EmbeddedServerException("cannot start an embedded Redis: " + e.getMessage(), e);
    } catch (RuntimeException | Error e) {
      directory.close();
      throw e;
    }
  }

  public static String executable(WorkDirectory directory) {
    try {
      if (ServerBinaries.platform().startsWith("windows")) {
        throw new IOException("the archive's program for Windows is Redis 5");
      }
      return ExecutableProvider.newJarResourceProvider(directory.directory("bin").toFile())
          .get()
          .getAbsolutePath();
    } catch (IOException | RuntimeException | LinkageError e) {
      throw ServerBinaries.unavailable(
          "Redis", "com.github.codemonstur:embedded-redis", "redis.uri", e);
    }
  }

  /** {@code redis://127.0.0.1:port}. */
  public String uri() {
    return "redis://127.0.0.1:" + port;
  }

  public int port() {
    return port;
  }

  /** The server's version, for example {@code 6.2.11}. */
  public String version() {
    return version;
  }

  /** The server's process id, for tests that stop it or kill it. */
  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Stops the server; again does nothing. */
  @Override
  public void close() {
    process.close();
  }
}
