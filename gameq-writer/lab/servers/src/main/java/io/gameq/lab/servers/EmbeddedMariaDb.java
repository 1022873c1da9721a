package io.gameq.lab.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A MariaDB of its own on the loopback address; thread-safe.
 *
 * <p>With a work directory of the caller's its data survives close, a kill and a new start there;
 * without one they are deleted at close.
 */
public final class EmbeddedMariaDb implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(3);

  private final ServerProcess process;
  private final int port;
  private final String password;

  private EmbeddedMariaDb(ServerProcess process, int port, String password) {
    this.process = process;
    this.port = port;
    this.password = password;
  }

  /**
   * How to start.
   *
   * @param workDirectory null: a temporary one, deleted at close
   * @param port 0: any free one
   * @param flushLogAtTrxCommit 1: a commit survives a power loss; 2 or 0: no file is synced, for
   *     tests and demos
   * @param arguments more arguments of the server, for example {@code --max-connections=20}; they
   *     win over gameq's
   */
  public record Options(
      @Nullable Path workDirectory, int port, int flushLogAtTrxCommit, List<String> arguments) {
    public Options {
      arguments = List.copyOf(arguments);
    }

    public static Options defaults() {
      return new Options(null, 0, 1, List.of());
    }
  }

  /** Whether {@link #start} finds a program that runs here. */
  public static boolean isForThisPlatform() {
    return ServerBinaries.isLinuxX86();
  }

  /** Starts in a temporary directory on a free port. */
  public static EmbeddedMariaDb start() {
    return start(Options.defaults());
  }

  /**
   * Starts and returns once connections are accepted: in a second or two, where this user starts
   * the first one ever in five.
   *
   * @throws EmbeddedServerException when the program is not on the classpath, not made for this
   *     platform or does not start; nothing is left running then
   */
  public static EmbeddedMariaDb start(Options options) {
    WorkDirectory directory = WorkDirectory.of(options.workDirectory(), "gameq-mariadb-");
    try {
      MariaDbInstallation installation = MariaDbInstallation.in(directory);
      int port = options.port() == 0 ? ServerProcess.freePort() : options.port();
      String password = UUID.randomUUID().toString();
      Path init = directory.path().resolve("init.sql");
      Files.writeString(init, MariaDbInstallation.initSql(password));
      ServerProcess process =
          ServerProcess.start(directory, installation.serverCommand(options, port, init));
      process.awaitLine("ready for connections", START_LIMIT);
      // It held the password, and the server has read it.
      Files.delete(init);
      return new EmbeddedMariaDb(process, port, password);
    } catch (IOException e) {
      directory.close();
      throw new EmbeddedServerException("cannot start an embedded MariaDB: " + e.getMessage(), e);
    } catch (RuntimeException e) {
      directory.close();
      throw e;
    }
  }

  /** The server without a database: {@code jdbc:mysql://127.0.0.1:port/}. */
  public String jdbcUrl() {
    return "jdbc:mysql://127.0.0.1:" + port + "/";
  }

  /** The same with a database, which must exist when a connection is made. */
  public String jdbcUrl(String database) {
    return jdbcUrl() + database;
  }

  public String user() {
    return "root";
  }

  /** A random one, new at every start. */
  public String password() {
    return password;
  }

  public int port() {
    return port;
  }

  /** The server's version. */
  public String version() {
    return MariaDbInstallation.VERSION;
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
