package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.TermTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.sign.Protocol.UnspokenProtocolException;
import io.gameq.term.Term;
import io.gameq.term.Terms.QueueIdentity;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Redis and MySQL of a command or of the console; each is connected when it is first asked for, and
 * one that could not be is tried again. Thread-safe.
 */
public final class CommandServers implements AutoCloseable {
  /** A retry's transaction is open while it reads the columns of old rows. */
  private static final int CONNECTIONS = 2;

  private final WriterConfig settings;
  private final Opened<MySql> mysql;
  private final Opened<RedisConnector> connector;
  private final Opened<ControlConnection> redis;

  /** Opened by who needs it first. */
  private static final class Opened<T> {
    private final Supplier<T> open;
    private final Consumer<T> close;
    private @Nullable T opened;

    Opened(Supplier<T> open, Consumer<T> close) {
      this.open = open;
      this.close = close;
    }

    synchronized T get() {
      T now = opened == null ? open.get() : opened;
      opened = now;
      return now;
    }

    synchronized void close() {
      if (opened != null) {
        close.accept(opened);
        opened = null;
      }
    }
  }

  /**
   * Those of settings, with which nothing is compared.
   *
   * @param purpose ends the name of MySQL's pool in logs
   * @param connections to MySQL, at most
   */
  public CommandServers(WriterConfig settings, String purpose, int connections) {
    this(settings, purpose, connections, connector -> {});
  }

  private CommandServers(
      WriterConfig settings, String purpose, int connections, Consumer<RedisConnector> check) {
    this.settings = settings;
    mysql = new Opened<>(() -> open(settings.mysql(), purpose, connections), MySql::close);
    connector = new Opened<>(() -> new RedisConnector(settings.redis()), RedisConnector::close);
    redis =
        new Opened<>(
            () -> {
              check.accept(connector());
              return new ControlConnection(connector());
            },
            ControlConnection::close);
  }

  /**
   * Those of a command, compared with the database first: with another namespace or number of
   * slots, or a Redis of another database or one that does not count, a command would look where
   * nothing is, and say that all is well. Where MySQL cannot be asked it says so and goes on: what
   * waits in Redis is to be seen then too.
   *
   * @throws GameQueueException when the database has others, or the file is wrong
   */
  public static CommandServers of(ConfigOption option, CommandSpec command) {
    WriterConfig settings = option.read();
    List<String> differences = List.of();
    QueueIdentity identity = QueueIdentity.ANY;
    Term term = Term.NONE;
    try (MySql mysql = MySqlPool.open(settings.mysql().withPoolSize(1), "config")) {
      if (Settings.isThere(mysql)) {
        differences =
            Settings.differences(
                name -> Settings.read(mysql, name), settings.namespace(), settings.slots());
      }
      identity = Settings.identity(mysql);
      term = new TermTable(mysql).current();
    } catch (UnspokenProtocolException e) {
      throw e;
    } catch (GameQueueException e) {
      command
          .commandLine()
          .getErr()
          .println(option.file() + " is not compared with the database: " + e.getMessage());
    }
    if (!differences.isEmpty()) {
      throw new GameQueueException(option.file() + ": " + String.join("; ", differences));
    }
    QueueIdentity database = identity;
    Term counting = term;
    return new CommandServers(
        settings,
        command.name(),
        CONNECTIONS,
        connector -> PrimaryConnector.refuseOther(connector, database, counting));
  }

  public WriterConfig settings() {
    return settings;
  }

  public Slots slots() {
    return new Slots(settings.namespace(), settings.slots());
  }

  /** The configured Redis, whether it counts or not. */
  public RedisConnector connector() {
    return connector.get();
  }

  /**
   * Redis; calls throw {@link io.gameq.RedisUnavailableException} while it is away.
   *
   * @throws GameQueueException of a command, when it is one of another database, or does not count
   */
  public ControlConnection redis() {
    return redis.get();
  }

  /** MySQL; throws as {@link #open}. */
  public MySql mysql() {
    return mysql.get();
  }

  /**
   * Connects to MySQL.
   *
   * @throws GameQueueException when the server is away or refuses the login, or gameq's own tables
   *     are missing; nothing is left open then
   */
  public static MySql open(MySqlConfig config, String purpose, int connections) {
    MySql mysql = MySqlPool.open(config.withPoolSize(connections), purpose);
    try {
      Settings.requireSchema(mysql);
    } catch (RuntimeException e) {
      mysql.close();
      throw e;
    }
    return mysql;
  }

  @Override
  public void close() {
    List.of(mysql, redis, connector).forEach(Opened::close);
  }
}
