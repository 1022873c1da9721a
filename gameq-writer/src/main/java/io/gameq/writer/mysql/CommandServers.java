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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Redis and MySQL of a command, whose settings agree with the database; each is connected when it
 * is first asked for. Used by one thread.
 */
public final class CommandServers implements AutoCloseable {
  private final WriterConfig settings;
  private final String purpose;
  private final RedisConnector connector;
  private final ControlConnection redis;
  private @Nullable MySql mysql;

  /**
   * Reads the settings.
   *
   * @throws io.gameq.GameQueueException as {@link AgreedConfig#readWithRedis}
   */
  public CommandServers(ConfigOption config, CommandSpec command) {
    settings = AgreedConfig.readWithRedis(config, command);
    purpose = command.name();
    connector = new RedisConnector(settings.redis());
    redis = new ControlConnection(connector);
  }

  public WriterConfig settings() {
    return settings;
  }

  public Slots slots() {
    return new Slots(settings.namespace(), settings.slots());
  }

  /** Calls throw {@link io.gameq.RedisUnavailableException} while it is away. */
  public ControlConnection redis() {
    return redis;
  }

  /**
   * MySQL over one connection.
   *
   * @throws io.gameq.GameQueueException as {@link CommandDatabase#open}; the next call tries again
   */
  public MySql mysql() {
    MySql open = mysql;
    if (open == null) {
      open = CommandDatabase.open(settings.mysql(), purpose);
      mysql = open;
    }
    return open;
  }

  @Override
  public void close() {
    if (mysql != null) {
      mysql.close();
    }
    redis.close();
    connector.close();
  }

  /** MySQL as a command reaches it: one connection, gameq's own tables checked. Stateless. */
  public static final class CommandDatabase {
    private CommandDatabase() {}

    /**
     * Connects.
     *
     * @param purpose ends the pool's name in logs
     * @throws io.gameq.GameQueueException when the server is away or refuses the login, or gameq's
     *     own tables are missing; nothing is left open then
     */
    public static MySql open(MySqlConfig config, String purpose) {
      return open(config, purpose, 1);
    }

    /** The same over several connections. */
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
  }

  /**
   * A command's configuration, compared with the servers first: with another namespace or number of
   * slots, or a Redis of another database or one that does not count, a command would look where
   * nothing is, and say that all is well. Stateless.
   */
  public static final class AgreedConfig {
    private AgreedConfig() {}

    /**
     * Reads the file. Where MySQL cannot be asked it says so and goes on: what waits in Redis is to
     * be seen then too.
     *
     * @throws GameQueueException when the database has others, or the file is wrong
     */
    public static WriterConfig read(ConfigOption option, CommandSpec command) {
      WriterConfig config = option.read();
      Database unused = compared(option, config, command);
      return config;
    }

    /**
     * The same of a command that uses Redis, which is to be the one of the database that counts.
     */
    public static WriterConfig readWithRedis(ConfigOption option, CommandSpec command) {
      WriterConfig config = option.read();
      Database database = compared(option, config, command);
      try (RedisConnector redis = new RedisConnector(config.redis())) {
        PrimaryConnector.refuseOther(redis, database.identity, database.term);
      }
      return config;
    }

    private record Database(QueueIdentity identity, Term term) {}

    private static Database compared(
        ConfigOption option, WriterConfig config, CommandSpec command) {
      String other = null;
      Database database = new Database(QueueIdentity.ANY, Term.NONE);
      try (MySql mysql = MySqlPool.open(config.mysql().withPoolSize(1), "config")) {
        if (Settings.isThere(mysql)) {
          other = difference(mysql, "namespace", config.namespace());
          if (other == null) {
            other = difference(mysql, "slots", Integer.toString(config.slots()));
          }
        }
        database = new Database(Settings.identity(mysql), new TermTable(mysql).current());
      } catch (UnspokenProtocolException e) {
        throw e;
      } catch (GameQueueException e) {
        command
            .commandLine()
            .getErr()
            .println(option.file() + " is not compared with the database: " + e.getMessage());
      }
      if (other != null) {
        throw new GameQueueException(option.file() + ": " + other);
      }
      return database;
    }

    /** Null when the database has this value, or none yet. */
    private static @Nullable String difference(MySql mysql, String name, String value) {
      String there = Settings.read(mysql, name);
      return there == null || there.equals(value)
          ? null
          : "setting '%s' is %s, but that of the database is %s: correct it, or mysql.url"
              .formatted(name, value, there);
    }
  }
}
